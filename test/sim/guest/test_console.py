#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Tests of the protocol between runner and guest: where output ends and a status begins."""

import base64
import random

import pytest

from litepcie_sim.guest.console import Reply

TOKEN = "0123456789abcdef0123456789abcdef"


def feed(reply, data, sizes):
    """Returns all output of `reply` when `data` arrives in pieces of `sizes`."""
    output, at = b"", 0
    for size in sizes:
        output += reply.feed(data[at:at + size])
        at     += size
    return output + reply.feed(data[at:])


def test_request_is_one_line_whatever_the_command():
    line = Reply(TOKEN).request("run", "echo 'a\nb' \\ $x \xe4")
    token, mode, code = line.decode().rstrip("\n").split(" ")
    assert (token, mode) == (TOKEN, "run")
    assert base64.b64decode(code).decode() == "echo 'a\nb' \\ $x \xe4"
    assert line.count(b"\n") == 1


@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 1000])
def test_any_split(size):
    reply, status = Reply(TOKEN), 124
    data  = b"no newline at the end" + f"{TOKEN} {status}\n".encode()
    assert feed(reply, data, [size] * (len(data) // size)) == b"no newline at the end"
    assert reply.status == status


def test_output_that_looks_like_an_end():
    """Other tokens, beginnings of the right token, and statuses alone do not end a command."""
    token  = TOKEN.encode()
    tricky = b"f" * 32 + b" 0\n" + token[:31] + b" 0\n" + token[:5] * 9 + b"\0\r\n"
    for seed in range(50):
        rng   = random.Random(seed)
        reply = Reply(TOKEN)
        data  = tricky + f"{TOKEN} 3\n".encode()
        sizes = [rng.randint(1, 40) for _ in range(rng.randint(0, 20))]
        assert feed(reply, data, sizes) == tricky, f"seed {seed}"
        assert reply.status == 3
