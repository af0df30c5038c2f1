# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""From `list` to a plotted sweep with three commands, on the mock card; and what is not a sweep."""

import os
import re
import subprocess
import sys

import pytest

from test.software.user.conftest import ROOT


def plot(*arguments, prepare=""):
    return subprocess.run([sys.executable, "-c", f"{prepare}\nimport runpy\nrunpy.run_module('liblitepcie.plot', "
        "run_name='__main__')", *map(str, arguments)], env=os.environ | {"PYTHONPATH": str(ROOT / "software/python")},
        capture_output=True, text=True, timeout=60)


def test_three_commands(card, tmp_path):
    """Each command is in the help of the one before."""
    sweep = tmp_path / "sweep.csv"
    assert "  list " in card("--help").out and "  bench " in card("--help").out
    assert card("list").code == 4  # The mock is not in sysfs.
    assert "\npython3 -m liblitepcie.plot FILE\n" in card("bench", "--help").out
    assert card("bench", "--max", "4K", "--depth", 2, "-t", 1, "--csv", sweep).code == 0
    told = plot(sweep, "--title", "a card & its rates")
    assert (told.returncode, told.stdout, told.stderr) == (0, f"{tmp_path}/sweep.svg\n", "")
    picture = (tmp_path / "sweep.svg").read_text()
    # Matplotlib writes each text as a comment before its glyphs.
    texts = re.findall(r"<!-- (.*?) -->", picture)
    assert {"read", "write", "1 in flight", "2 in flight", "bytes of a transfer", "a card &amp; its rates"} <= {
        text.replace("a card & its rates", "a card &amp; its rates") for text in texts}


HEAD = "direction,in_flight,length_bytes,bytes_per_second,counter_bytes_per_second\n"


@pytest.mark.parametrize("text, said", [
    ("", "the column direction is missing; give a file of litepcie_util bench --csv"), (HEAD, "no points"),
    (f"{HEAD}read,1,64\n", "line 2 is not complete, or has no numbers")])
def test_what_is_no_sweep(tmp_path, text, said):
    file = tmp_path / "sweep.csv"
    file.write_text(text)
    told = plot(file)
    assert (told.returncode, told.stdout, told.stderr) == (1, "", f"liblitepcie.plot: {file}: {said}\n")
    assert not (tmp_path / "sweep.svg").exists()


def test_errors_are_one_line(tmp_path):
    assert plot(tmp_path / "nothing.csv").stderr == \
        f"liblitepcie.plot: [Errno 2] No such file or directory: '{tmp_path}/nothing.csv'\n"
    assert "--output sweep.gif is not supported; choose a name that ends in .png, .svg, .pdf" in \
        plot("x.csv", "-o", "sweep.gif").stderr
    file = tmp_path / "sweep.csv"
    file.write_text(f"{HEAD}read,1,64,1,1\n")
    assert plot(file, prepare="import sys\nsys.modules['matplotlib'] = None").stderr == \
        "liblitepcie.plot: Matplotlib is missing; run: pip install 'liblitepcie[plot]'\n"
