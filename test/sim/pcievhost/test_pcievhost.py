# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""`make -C sim pcievhost`: its errors, its monitor of symbols, and the run, for who has a checkout."""

import csv
import os
import re
import subprocess
import zlib

import pytest

from test.conftest import ROOT

ROOM     = ROOT / "sim" / "pcievhost"
TRACE    = ROOT / "test" / "gateware" / "endpoint" / "x1-symbols.csv"
CHECKOUT = os.environ.get("LITEPCIE_PCIEVHOST")
COM, STP, SDP, END, SKP = 0x1bc, 0x1fb, 0x15c, 0x1fd, 0x11c
# Symbols of the recorded link before its first training set, and after its last one.
BEGIN, TRAINED = 2, 960


def make(*words):
    return subprocess.run(["make", "-s", "-C", ROOT / "sim", "pcievhost", *words], capture_output=True, text=True,
        env={name: value for name, value in os.environ.items() if name != "MAKEFLAGS"})


@pytest.mark.parametrize("words, message", [
    ((), "pcievhost: give PCIEVHOST=PATH, a checkout of https://github.com/wyvernSemi/pcievhost"),
    ((f"PCIEVHOST={ROOT}",), f"pcievhost: {ROOT} is no checkout of pcievhost, which has src/codec.c; get one from ")])
def test_a_missing_checkout_is_one_line(words, message):
    result = make(*words)
    said   = [line for line in result.stderr.splitlines() if not re.match(r"make(\[\d+\])?: ", line)]
    assert result.returncode == 2 and len(said) == 1 and message in said[0], result.stderr


@pytest.mark.full
@pytest.mark.skipif(not CHECKOUT, reason="LITEPCIE_PCIEVHOST does not name a checkout of pcievhost")
def test_all_cases_pass():
    result = make(f"PCIEVHOST={CHECKOUT}")
    cases  = [line for line in result.stdout.splitlines() if " symbols " in line or "FAIL" in line]
    assert result.returncode == 0 and len(cases) == 18 and all(" pass " in line for line in cases), result.stdout


# Monitor ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    """Function from the endpoint's and the host's symbols, before the scrambler, to what the monitor says."""
    program = tmp_path_factory.mktemp("monitor") / "monitor"
    subprocess.run(["g++", "-std=c++17", "-O1", "-I", ROOM, "-o", program, ROOM / "monitor.cpp",
        ROOT / "test" / "sim" / "pcievhost" / "monitor_bench.cpp"], check=True)

    def run(up, down):
        lines = "\n".join(f"{a:x} {b:x}" for a, b in zip(scrambled(up), scrambled(down)))
        return subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout.strip()
    return run


@pytest.fixture(scope="module")
def link():
    """Both directions of a link of another implementation, and idle symbols after it."""
    with open(TRACE, encoding="ascii") as file:
        rows = list(csv.DictReader(file))[BEGIN:]
    return [[int(row[name], 16) for row in rows] + [0]*300 for name in ("up", "down")]


def scrambled(symbols):
    state, out = 0xffff, []
    for at, symbol in enumerate(symbols):
        key = 0
        if symbol != SKP:
            for bit in range(8):
                top   = state >> 15
                key  |= top << bit
                state = (state << 1 & 0xffff) ^ (0x39 if top else 0)
        state = 0xffff if symbol == COM else state
        out.append(symbol ^ (0 if symbol & 0x100 or at < TRAINED else key))
    return out


def nth(symbols, begin, n):
    first = [at for at, symbol in enumerate(symbols) if symbol == begin][n] + 1
    return slice(first, symbols.index(END, first))


def changed(begin, n, index, value):
    def change(up):
        where = nth(up, begin, n)
        up[(where.stop if index < 0 else where.start) + index] ^= value
        if begin == STP and index >= 0:
            up[where.stop - 4:where.stop] = zlib.crc32(bytes(up[where.start:where.stop - 4])).to_bytes(4, "little")
    return change


def without_last_ack(up):
    first = [at for at, symbol in enumerate(up) if symbol == SDP and up[at + 1] == 0][-1]
    up[first:first + 8] = [0]*8


def put(at, *symbols):
    def change(up):
        place = at(up)
        up[place:place + len(symbols)] = symbols
    return change


def then(count, idle):
    return lambda up: up.extend(([0]*idle + [COM, SKP, SKP, SKP])*count)


def test_a_link_of_others_breaks_no_rule(judge, link):
    up, down = link
    assert judge(up, down) == judge(down, up) == "25 35 13 13"


@pytest.mark.parametrize("fault, rule", [
    (changed(STP, 3, -1, 1),         "a TLP with a wrong LCRC"),
    (changed(STP, 3, 1, 4),          "a TLP with a wrong sequence number"),
    (changed(STP, 3, 1, 2),          "a replay that differs from the TLP"),
    (changed(STP, 3, 0, 0x10),       "a TLP whose reserved bits are set"),
    (changed(STP, 3, 5, 1),          "a TLP whose length is not that of its header"),
    (changed(SDP, 9, 5, 1),          "a DLLP with a wrong CRC"),
    (without_last_ack,               "no ACK after 237 symbols"),
    (put(lambda up: nth(up, STP, 5).start + 6, COM, SKP, SKP, SKP), "an ordered set inside of a packet"),
    (put(lambda up: nth(up, STP, 5).start + 6, SDP), "a symbol that is not allowed in its place"),
    (put(lambda up: len(up) - 5, 1), "data between packets that are not logical idle"),
    (put(lambda up: 16*5 + 9, 0x45), "a training set with mixed identifiers"),
    (then(1, 1800),                  "SKP ordered sets too far apart"),
    (then(12, 1190),                 "no UpdateFC for 45 us"),
    (then(9, 0),                     "too many SKP ordered sets")])
def test_a_broken_rule_is_named(judge, link, fault, rule):
    up, down = (list(symbols) for symbols in link)
    fault(up)
    down += [0]*(len(up) - len(down))
    assert rule in judge(up, down)
