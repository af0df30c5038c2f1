# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The manual page, docs/tool.md and the completions have the commands, options and output of the tool."""

import re
import shutil
import subprocess

import pytest

from litepcie_soc.board.identity  import IDS
from litepcie_soc.soc.link        import PCI_ID
from test.software.user.conftest  import ROOT, USER, compiled, framed, of_build, unwrapped, write
from tools                        import library_page

MANUAL = USER / "litepcie_util.1"
PAGE   = ROOT / "docs" / "tool.md"


def commands(card):
    """name -> summary"""
    text = card("help").out.split("commands:\n")[1].split("\n\n")[0]
    return dict(re.findall(r"^  (\w+) +(.+)$", text, re.M))


def options(text):
    """Long options of a help text -> letter or None"""
    found = re.findall(r"^  (?:-(\w),|   ) --([a-z-]+)", text, re.M)
    return {name: letter or None for letter, name in found}


def test_the_page_shows_cards_of_this_project():
    """Vendor, device and class are those of gateware/board/identity.py."""
    text  = PAGE.read_text()
    cards = [*IDS.values(), (PCI_ID["vendor_id"], PCI_ID["device_id"])]
    shown = [(int(vendor, 16), int(device, 16)) for vendor, device in [
        *re.findall(r"\[(\w{4}):(\w{4})\]\s+\(rev", text),
        *re.findall(r"0x(\w{4}) +Vendor ID\n +0x002 +0x(\w{4}) +Device ID", text)]]
    assert len(shown) == 2 and set(shown) <= set(cards)
    assert re.findall(r"controller \[(\w{4})\]", text) == [f"{PCI_ID['class_code'] >> 8:04x}"]


@pytest.mark.parametrize("shell, name", [("zsh", "_litepcie_util"), ("fish", "litepcie_util.fish")])
def test_shell_accepts_its_completion(shell, name):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    assert subprocess.run([shell, "-n", USER / name], capture_output=True).stderr == b""


def test_the_page_of_the_library_has_every_call():
    """Of the header as it is now, and of the exported symbols."""
    text    = library_page.PAGE.read_text()
    exports = set(re.findall(r"^\tlitepcie_\w+", (USER / "lib" / "liblitepcie.map").read_text(), re.M))
    shown   = ", ".join(re.findall(r"^\.SS (.+)", text, re.M)).split(", ")
    assert len(shown) == len(exports)
    assert {f"\t{name.removesuffix('()')}" for name in shown} == exports
    site = ", ".join(re.findall(r"^### (.+)", library_page.markdown().replace("\\", ""), re.M)).split(", ")
    assert [f"{name}()" for name in site] == shown


def test_examples_of_the_manual(card, tmp_path):
    """At least eight; each command runs on a card of 64 KiB, with what the example pipes into left out."""
    lines = re.findall(r"^((?:sudo )?litepcie_util .*)$", MANUAL.read_text().partition(".SH EXAMPLES")[2], re.M)
    assert len(lines) >= 8
    (tmp_path / "in").write_bytes(framed([b"12345"]))
    (tmp_path / "samples.bin").write_bytes(b"samples")
    # Shorter, and without the commands that a card on a file has not, or that have tests of their own.
    less = {"--time 30 --interval 2": "--time 0.1", "--length 1M": "", "--time 10": "--packets 1",
        "top -b": "top -b -n 1 -i 10", "bench": "bench --time-ms 1"}
    for line in lines:
        line = line.replace("\\-", "-").removeprefix("sudo ").partition(" | ")[0].partition(" > ")[0]
        for long, short in less.items():
            line = line.replace(long, short)
        for command in line.split(" && "):
            words = command.split()[1:]
            if words[0] not in ("list", "report"):
                words = [str(tmp_path / word) if re.search(r"\.(csv|bin)$", word) else word for word in words]
                result = card(*words, memory=65536, aio=1, stream_in=tmp_path / "in")
                assert (result.code, result.err.replace("ring: 67108864 bytes, 33.6 ms of a full link (Gen2 x4)\n", "")
                    ) == (0, ""), command


def test_the_example_of_the_library_runs(card, build, tmp_path):
    """Compiled from the page."""
    text = library_page.PAGE.read_text()
    code = text[text.index(".EX\n", text.index(".SH EXAMPLE")) + 4:text.index("\n.EE", text.index(".SH EXAMPLE"))]
    program = compiled(tmp_path, code.replace("\\-", "-").replace("\\e", "\\") + "\n", *of_build(build))
    assert subprocess.check_output([program], env=card.environment(), text=True) == "equal\n"


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
@pytest.mark.parametrize("page", [MANUAL, library_page.PAGE], ids=lambda page: page.name)
def test_manual_is_formatted_without_a_warning(page):
    result = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", str(page)], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    # man runs the preprocessors that a first line beginning with '\\" names.
    assert not page.read_text().startswith("'")


def words(text):
    """The text without numbers, which differ from card to card, and without the lines that name the card or its slot.

    test/guest/test_transcripts.py compares those too."""
    lines = [line for line in unwrapped(text).splitlines()
        if not re.match(r"(device|PCI ids|slot|interrupt|gateware|engines|host) ", line)]
    return [re.sub(r" \([0-9.]+ MiB\)|\b(yes|no)\b|[0-9.]+", " ", line).split() for line in lines]


@pytest.mark.parametrize("command", ["info", "scratch_test", "dma_test", "calc", "version"])
def test_the_page_has_the_output_of_the_tool(card, tmp_path, command):
    """The page shows a simulated card: dma_test finds that out by the PCI ids."""
    write(tmp_path / "bus" / "pci" / "devices" / "0000:01:00.0", {"vendor": "0x1234", "device": "0x1ce0"})
    settings = {"sysfs": tmp_path} if command == "dma_test" else {}
    shown = re.search(rf"^    \$ litepcie_util {command}\n((?:    .*\n|\n)*)", PAGE.read_text(), re.M)[1]
    assert words(re.sub(r"^    ", "", shown, flags=re.M).strip()) == words(card(command, **settings).out.strip())


def test_the_page_has_every_command_and_option(card):
    text = PAGE.read_text()
    for command in set(commands(card)) - {"help"}:
        assert f"\n## {command}\n" in text
    for option in options(card("help", "dma_test").out):
        assert f"`--{option}" in text, option


COMPLETE = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_litepcie_util
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
@pytest.mark.parametrize("words, expected", [
    ([""], {"list", "info", "config", "bus", "link", "mem", "scratch_test", "dma_test", "bench", "pio_test", "stream",
        "top", "report", "reset", "load", "flash", "calc", "help", "version"}),
    (["s"],                            {"scratch_test", "stream"}),
    (["help", "d"],                    {"dma_test"}),
    (["--js"],                         {"--json"}),
    (["info", "--"],                   {"--device", "--card", "--json", "--version", "--help"}),
    (["dma_test", "--le"],             {"--length"}),
    (["dma_test", "--sequence", "read"], {"read", "read-then-write", "read-and-write"}),
    (["dma_test", "-s", "write-"],     {"write-then-read"}),
    (["dma_test", "--header", ""],     {"12", "16"}),
    (["dma_test", "--length", ""],     {""}),
    (["stream", "-f", ""],             {"a capture", "b"}),
    (["bench", "--csv", "a"],          {"a capture"}),
])
def test_completion(build, words, expected, tmp_path):
    for name in ("a capture", "b"):
        (tmp_path / name).touch()
    result = subprocess.run(["bash", "-c", COMPLETE, "complete", str(USER / "litepcie_util.bash"),
        str(build / "litepcie_util"), *words], capture_output=True, text=True, cwd=tmp_path)
    assert result.stderr == ""
    assert set(result.stdout.rstrip("\n").split("\n")) == expected
