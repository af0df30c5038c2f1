# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""What the documents show in the guest of `targets/sim.py --load`, typed there."""

import re
import subprocess
import sys
import tempfile

from pathlib import Path

import pytest

from test.guest.conftest import ROOT

pytestmark = [pytest.mark.full, pytest.mark.guest]

# Needs /dev/udmabuf of another kernel.
ABSENT = r"dmabuf_copy"


def shown(document, prompt, begin="", end="\n## "):
    """(command, lines of its output) of a document."""
    text  = (ROOT / document).read_text(encoding="utf-8")
    text  = text[text.index(begin):]
    found = re.findall(rf"^    {re.escape(prompt)} (.*)\n((?:\n?    (?!\$ |# ).*\n)*)", text[:text.find(end)], re.M)
    return [(command, [line[4:] for line in output.splitlines() if line]) for command, output in found
        if not re.match(ABSENT, command)]


def shell_of_start():
    """The commands of the page for beginners, which have no prompt."""
    text = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    text = text[text.index("gives a shell with the module loaded"):]
    return [(command, []) for command in re.findall(r"^    (.*)$", text[:text.index("    exit")], re.M)]


DOCUMENTS = [
    *shell_of_start(),
    *shown("examples/README.md", "$", "Commands and output", "`gateware/` has"),
    *shown("docs/from-xdma.md", "#", "## A program ported", "The tests"),
    *shown("docs/from-litepcie.md", "#", "## A program ported", "`stream_ring.c`"),
    *shown("docs/python.md", "#", "Or in the guest"),
]

# Typed on the machine, each with a board of its own or none.
ON_THE_MACHINE = shown("examples/README.md", "$", "`gateware/` has", "The script for block designs")

# What docs/tool.md shows, but for what asks a serial port, a programmer, jq or logic that sends by itself, or takes two
# minutes on a simulated card (report).
ELSEWHERE = r"--serial|\bload [a-z]|\bjq\b|stream record|\breport\b"


def of_the_tool():
    """`top` is ended; `list`, `bus` and `config` show other cards than the guest has."""
    for command, lines in shown("docs/tool.md", "$", end="No such text"):
        if not re.search(ELSEWHERE, command):
            other = command.endswith(("list", "--cards", "config"))
            yield (re.sub(r"^sudo ", "", re.sub(r"top$", "top -n 1", command)),
                [] if other else [line for line in lines if "used by" not in line])


TOOL = list(of_the_tool())

# Programs that a page names with the command that boots their guest.
NAMED = [match for page in ("user-interrupts.md", "own-logic.md")
    for match in re.findall(r"`\./targets/sim\.py --build (--user-core) --load`, then\s+`(\w+)`\s+in\s+the\s+guest",
        (ROOT / "docs" / page).read_text(encoding="utf-8"))]


def without_times(line):
    return re.sub(r"[0-9.]+", "N", line) if " cycles of " in line else line


def without_numbers(lines):
    """One line: numbers and their lengths, and so the places where lines are cut, differ from run to run."""
    return " ".join(re.sub(r"[0-9][0-9.]*", "N", " ".join(lines)).split())


def lines_of(board, options, commands, last="true"):
    """Types commands in the guest of `sim.py --load`, each with status 0; returns the lines of the terminal."""
    typed = "".join(f"{command}\necho status $?\n" for command in commands)
    with tempfile.TemporaryFile("w+") as keys:  # Not a pipe: a user may give the commands as a file, too.
        keys.write(f"{typed}{last}\nexit\n")
        keys.seek(0)
        shell = subprocess.run([sys.executable, ROOT / "targets" / "sim.py", "--load", "--output-dir", board, *options],
            stdin=keys, capture_output=True, timeout=900)
    # Of a line of progress, what stays on the terminal.
    lines = [re.sub(r".*(\r|\x1b\[[HJK])", "", line.rstrip("\r")) for line in shell.stdout.decode().split("\n")]
    assert shell.returncode == 0, shell.stderr.decode()
    assert lines.count("status 0") == len(commands), "\n".join(lines)
    return lines


@pytest.mark.timeout(1200)
def test_the_documents_can_be_typed(build_board, tmp_path):
    """Each command prints what the document says; --file copies a folder, and what is in --share stays."""
    assert len(DOCUMENTS) >= 23
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "deep" / "note").write_text("from the machine\n")
    (tmp_path / "share").mkdir()
    said = lines_of(build_board(streams=1), ["--streams", "1", "--python", "--share", f"{tmp_path}/share",
        "--file", f"{tmp_path}/data:/root/data"], [command for command, _ in DOCUMENTS], "cat /root/data/deep/note")
    assert (tmp_path / "share" / "samples").stat().st_size == 5*65536
    said = [without_times(line) for line in said]
    at   = 0
    for command, lines in [*DOCUMENTS, ("cat", ["from the machine"])]:
        for line in map(without_times, lines):
            assert line in said[at:], f"{command}: {line!r} did not come\n" + "\n".join(said)
            at = said.index(line, at) + 1


@pytest.mark.timeout(1200)
def test_the_page_of_the_tool_can_be_typed(build_board):
    """Each command prints the words of the page, in their order."""
    assert len(TOOL) >= 15
    said = lines_of(build_board(streams=1), ["--streams", "1"], ["head -c 5000 /dev/urandom > samples.bin",
        *[command for command, _ in TOOL]])
    said = without_numbers(said)
    at   = 0
    for command, lines in TOOL:
        words = without_numbers(lines)
        assert words in said[at:], f"{command}: {words!r} did not come\n{said}"
        at = said.index(words, at) + len(words)


def test_the_programs_that_pages_name_can_be_typed(build_board):
    assert [program for _, program in NAMED] == ["timer_interrupt", "host_buffers"]
    lines_of(build_board(user_core=True), ["--user-core"], [program for _, program in NAMED])


@pytest.mark.timeout(600)
@pytest.mark.parametrize("command, lines", ON_THE_MACHINE, ids=[one.split()[1] for one, _ in ON_THE_MACHINE])
def test_the_examples_of_gateware_can_be_typed(command, lines, tmp_path):
    for name in ("examples", "build"):
        (tmp_path / name).symlink_to(ROOT / name)
    command = command.replace("build/venv/bin", str(Path(sys.executable).parent))
    typed = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert typed.returncode == 0 and without_numbers(lines), typed.stdout + typed.stderr
    assert without_numbers(lines) in without_numbers(typed.stdout.splitlines()), typed.stdout
