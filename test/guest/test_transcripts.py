# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""What the documents show in the guest of `targets/sim.py --load`, typed there."""

import re
import subprocess
import sys

import pytest

from test.guest.conftest import ROOT

pytestmark = [pytest.mark.full, pytest.mark.guest]

# Without Python, and without /dev/udmabuf of another kernel.
ABSENT = r"\w+\.py\b|dmabuf_copy"


def shown(document, prompt, begin="", end="\n## "):
    """(command, lines of its output) of a document."""
    text  = (ROOT / document).read_text(encoding="utf-8")
    text  = text[text.index(begin):]
    found = re.findall(rf"^    {re.escape(prompt)} (.*)\n((?:    (?!\$ |# ).*\n)*)", text[:text.find(end)], re.M)
    return [(command, [line[4:] for line in output.splitlines()]) for command, output in found
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
]


def without_times(line):
    return re.sub(r"[0-9.]+", "N", line) if " cycles of " in line else line


def test_the_documents_can_be_typed(build_board, tmp_path):
    """Each command ends with status 0 and prints what the document says; --file copies a folder."""
    assert len(DOCUMENTS) >= 18
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "deep" / "note").write_text("from the machine\n")
    typed = "".join(f"{command}\necho status $?\n" for command, _ in DOCUMENTS)
    board = build_board(streams=1)
    shell = subprocess.run([sys.executable, ROOT / "targets" / "sim.py", "--load", "--streams", "1",
        "--output-dir", board, "--file", f"{tmp_path}/data:/root/data"],
        input=f"{typed}cat /root/data/deep/note\nexit\n", capture_output=True, text=True, timeout=600)
    said  = [without_times(line) for line in shell.stdout.replace("\r", "").splitlines()]
    assert shell.returncode == 0, shell.stderr
    assert said.count("status 0") == len(DOCUMENTS), shell.stdout
    at = 0
    for command, lines in [*DOCUMENTS, ("cat", ["from the machine"])]:
        for line in map(without_times, lines):
            assert line in said[at:], f"{command}: {line!r} did not come\n{shell.stdout}"
            at = said.index(line, at) + 1
