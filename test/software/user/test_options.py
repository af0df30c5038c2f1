# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The command line: valid options are accepted; all others end with one line and exit code 2."""

import json
import subprocess

import pytest

SEE    = "see litepcie_util help"
SIZE   = "is not a size; give bytes, such as 4096, 0x1000, 4K, 4KiB or 64M (K, M, G: powers of 1024)"
NUMBER = "is not a number; give a decimal number, or hexadecimal digits after 0x"
TIME   = "is not a time; give seconds, such as 10 or 0.5"
CARDS  = "is not a list of cards; give up to 16 different numbers, such as 0,1"
FIT    = "does not fit in the card's memory of 1048576 bytes"

REFUSED = {
    ""                           : f"give a command; {SEE}",
    "bogus"                      : f"unknown command 'bogus'; {SEE}",
    "dmatest"                    : "unknown command 'dmatest'; did you mean dma_test? See litepcie_util help",
    "help bogus"                 : f"unknown command 'bogus'; {SEE}",
    "--bogus info"               : f"unknown option --bogus; {SEE}",
    "-x info"                    : f"unknown option -x; {SEE}",
    "info --length 5"            : f"unknown option --length; {SEE}",
    "info -l5"                   : f"unknown option -l; {SEE}",
    "dma_test --lenght 5"        : "unknown option --lenght; did you mean --length? See litepcie_util help",
    "dma_test --h 5"             : "option --h can be --host-offset or --header; give more of its name",
    "info more"                  : f"info: unexpected argument 'more'; {SEE} info",
    "help info more"             : f"help: unexpected argument 'more'; {SEE} help",
    "info --device"              : "--device needs a value (DEVICE)",
    "info --json=yes"            : "--json takes no value",
    "info -d /dev/x -c 1"        : "give --device or --card, not both",
    **{f"info -d {name}"         : f"--device: '{name}' is not a device; give a number, a path such as /dev/litepcie0, "
        "or a PCI address such as 0000:01:00.0" for name in ("foo", "01:20.0")},
    **{f"info -c {text}"         : f"--card: '{text}' {NUMBER}" for text in ("two", "1K")},
    "info -c 5000"               : "--card: 5000 is too large; the most is 4095",
    "dma_test --length 0"        : "--length: 0 is too small; the least is 1",
    **{f"dma_test --length={text}" : f"--length: '{text}' {SIZE}" for text in ("-1", "1T", "4KB", "4Ki", "4KiBs", "",
        "0x", "99999999999999999999T")},
    **{f"dma_test --length {text}" : f"--length: {text} is too large; the most is 1099511627776" for text in ("2000G",
        "17179869185G", "99999999999999999999", "99999999999999999999K")},
    "dma_test --len -1"          : f"--length: '-1' {SIZE}",
    "dma_test --time 0"          : "--time: 0 is too small; the least is 0.001",
    **{f"dma_test --time {text}" : f"--time: '{text}' {TIME}" for text in ("1m", "1e3", ".")},
    "dma_test --time 31536000.1" : "--time: 31536000.1 is too large; the most is 31536000",
    "dma_test --interval 0"      : "--interval: 0 is too small; the least is 0.001",
    "dma_test --iterations 0"    : "--iterations: 0 is too small; the least is 1",
    "dma_test --iterations 1.5"  : f"--iterations: '1.5' {NUMBER}",
    "dma_test --host-offset 4K"  : "--host-offset: 4K is too large; the most is 4095",
    "dma_test --seed 99999999999999999999" : "--seed: 99999999999999999999 is too large; the most is "
        "18446744073709551615",
    "dma_test --sequence both"   : "--sequence: 'both' is not supported; choose one of write, read, read-then-write, "
        "write-then-read, read-and-write",
    "dma_test --pattern zeros"   : "--pattern: 'zeros' is not supported; choose one of prbs, counter, constant, file",
    "dma_test --value 1"         : "--value is for --pattern counter and --pattern constant",
    "dma_test -p counter --value 0x100000000" : "--value: 0x100000000 is too large; the most is 4294967295",
    "dma_test -p file"           : "--pattern file: give the file with --file",
    "dma_test -f x"              : "--file is for --pattern file",
    "dma_test --depth 0"         : "--depth: 0 is too small; the least is 1",
    "dma_test --depth 257"       : "--depth: 257 is too large; the most is 256",
    **{f"dma_test --cards {text}" : f"--cards: '{text}' {CARDS}" for text in ("0,x", "1,1", "0,")},
    "dma_test -c 0 --cards 0,1"  : "give --cards, or --device or --card, not both",
    "dma_test --header 20"       : "--header: '20' is not supported; choose one of 12, 16",
    "dma_test --offset 1M"       : "--offset: 1048576 is past the end of the card's memory; the most is 1048575",
    "dma_test -l 100000 -o 1000000": f"--length: 100000 is too large at offset 1000000: the area {FIT}",
    "dma_test --length 2M"       : f"--length: 2097152 is too large at offset 0: the area {FIT}",
    "dma_test -s read-and-write -l 600K" : "--length: 614400 is too large at offset 0: the two areas of read-and-write "
        "do not fit in the card's memory of 1048576 bytes",
}


@pytest.mark.parametrize("line", REFUSED)
def test_refused(card, line):
    assert card(*line.split()) == (2, "", f"litepcie_util: {REFUSED[line]}\n")


def dma_test(card, *arguments):
    result = card("dma_test", "--json", "-n", 1, *arguments)
    assert (result.code, result.err) == (0, "")
    return json.loads(result.out)


@pytest.mark.parametrize("text, size", [("1", 1), ("4KiB", 4096), ("4 KiB", 4096), ("4kib", 4096), ("0x4K", 4096),
    ("4K", 4096), ("4k", 4096), ("0x1000", 4096), ("0X10", 16), ("1M", 1 << 20), ("007", 7)])
def test_sizes(card, text, size):
    assert dma_test(card, "--length", text)["transfer_bytes"] == size


@pytest.mark.parametrize("line", ["--length 77", "--length=77", "-l 77", "-l77", "--len 77", "--le=77"])
def test_ways_to_give_a_value(card, line):
    assert dma_test(card, *line.split())["transfer_bytes"] == 77


def test_defaults(card):
    """AN 456's transfers: 100000 bytes, 20 times."""
    result = json.loads(card("dma_test", "--json").out)
    assert (result["sequence"], result["transfer_bytes"], result["iterations"]) == ("read-then-write", 100000, 20)


def test_global_options_on_both_sides(card):
    before = card("--json", "--device", "/dev/litepcie0", "version")
    after  = card("version", "--json", "-c", "0")
    assert before == after and before.code == 0
    assert before == card("--version", "--json") == card("info", "-V", "--json")


def test_help_is_the_same_everywhere(card):
    assert card("help", "dma_test").code == 0
    assert card("help", "dma_test") == card("dma_test", "--help") == card("--help", "dma_test")
    assert card("help") == card("--help") == card("-h")


def test_double_dash_ends_options(card):
    assert card("help", "--", "info") == card("help", "info")
    assert card("help", "--", "--json").err == f"litepcie_util: unknown command '--json'; {SEE}\n"


def test_help_fits_80_columns(card):
    """Of the program and of each command, with the text that the tables have."""
    tables = json.loads(card("help", "--json").out)
    for name in ("", *(one["name"] for one in tables["commands"])):
        shown = card("help", *([name] if name else [])).out
        assert max(map(len, shown.splitlines())) <= 80, (name, max(shown.splitlines(), key=len))
        words = " ".join(shown.split())
        for one in tables["commands"]:
            if one["name"] == name:
                assert all(" ".join(option["help"].split()) in words for option in one["options"]), name
                assert " ".join(one["details"].split()) in words


def test_output_follows_the_terminal(card):
    """COLUMNS wins over the terminal; less than 80 is 80."""
    def widest(columns):
        environment = card.environment(tags=62) | {"COLUMNS": columns}
        return max(map(len, subprocess.check_output([card.build / "litepcie_util", "help", "dma_test"],
            env=environment, text=True).splitlines()))
    assert 100 < widest("120") <= 120 and 70 < widest("40") <= 80 and widest("x") <= 80


def test_decimals_of_seconds(card):
    result = json.loads(card("dma_test", "--json", "-t", "0.05").out)
    assert result["time_limit_seconds"] == 0.05 and result["elapsed_seconds"] >= 0.05
    assert ", 100000 bytes for 0.05 s after" in " ".join(card("dma_test", "-t", "0.05").out.split())


@pytest.mark.parametrize("command", ["info", "dma_test -n 2", "dma_test -s read-and-write --depth 8 -n 2",
    "bench --time-ms 1 --max 4K", "version", "calc --gen 3 --mps 4K --length 1G --tags 1024 --latency-ns 1000000000",
    "pio_test -n 10", "mem read --width 8 -l 64", "top -n 1 --interval-ms 10",
    "stream loopback -n 3"])
def test_output_fits_80_columns(card, command):
    shown = card(*command.split(), aio=1)
    assert shown.code == 0 and max(map(len, shown.out.splitlines())) <= 80, max(shown.out.splitlines(), key=len)
