# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The Python package as files: structures as the C compiler lays them out, the wheel, and the way to try it."""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest

from test.software.user.conftest import ROOT, SANITIZE
from tools import check_version, make_wheel, mock_card

PACKAGE = ROOT / "software" / "python"

STRUCTURES = {"Info": "info", "Counters": "counters", "Errors": "errors", "Setup": "stream_setup", "Done": "done",
    "StreamInfo": "stream_info", "Link": "link", "Rates": "rates"}

LAYOUT = f"""
import ctypes
from liblitepcie import _library
for name, c in {STRUCTURES}.items():
    kind = getattr(_library, "C" + name)
    print(f"sizeof(struct litepcie_{{c}}) == {{ctypes.sizeof(kind)}}")
    for field, *_ in kind._fields_:
        print(f"offsetof(struct litepcie_{{c}}, {{field}}) == {{getattr(kind, field).offset}}")
"""


def python(code, path, folder=None):
    """What a program says that finds the package below `path`."""
    return subprocess.check_output([sys.executable, "-c", code], cwd=folder, text=True,
        env=os.environ | {"PYTHONPATH": str(path)})


def test_structures_are_those_of_the_headers(tmp_path):
    lines = python(LAYOUT, PACKAGE).splitlines()
    assert len(lines) > 80
    (tmp_path / "check.c").write_text("#include <stddef.h>\n#include <liblitepcie.h>\n" +
        "".join(f'_Static_assert({line}, "{line}");\n' for line in lines))
    subprocess.run(["cc", "-fsyntax-only", f"-I{ROOT}/software/user/lib",
        f"-I{ROOT}/software/kernel/include/uapi", tmp_path / "check.c"], check=True)


def test_wheel(tmp_path):
    """All modules and the mark of a typed package, nothing compiled, and the version of the project."""
    version = check_version.version()
    before  = set(PACKAGE.iterdir())
    wheel   = make_wheel.make(tmp_path)
    assert wheel.name == f"liblitepcie-{version}-py3-none-any.whl"
    names = set(zipfile.ZipFile(wheel).namelist())
    files = {str(path.relative_to(PACKAGE)) for path in (PACKAGE / "liblitepcie").rglob("*")
        if path.suffix in (".py", ".typed")}
    assert names - files == {f"liblitepcie-{version}.dist-info/{name}" for name in ("METADATA", "WHEEL", "RECORD",
        "top_level.txt")} and files <= names
    assert before == set(PACKAGE.iterdir())
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    said = python("import liblitepcie; print(liblitepcie.__version__)", tmp_path / "installed", tmp_path)
    assert said == f"{version}\n"


@pytest.mark.full
def test_pip_installs_the_folder(tmp_path):
    """As docs/python.md says, with the packages of build/venv instead of those of the network."""
    shutil.copytree(PACKAGE, tmp_path / "python", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index",
        "--no-deps", "--no-build-isolation", "--target", tmp_path / "installed", tmp_path / "python"], check=True)
    said = python("import liblitepcie, liblitepcie.capture.block; print(liblitepcie.__file__, liblitepcie.__version__)",
        tmp_path / "installed", tmp_path)
    assert said == f"{tmp_path}/installed/liblitepcie/__init__.py {check_version.version()}\n"


@pytest.mark.skipif(SANITIZE != "", reason="the mock card for users has no sanitizers")
def test_a_program_without_a_card(build, tmp_path, monkeypatch):
    """As docs/python.md says: a capture of a stream without an end, and memory that stays for the next command."""
    done = []
    monkeypatch.setattr(mock_card, "BUILD", build)
    monkeypatch.setattr(mock_card, "CARD", tmp_path / "card")
    monkeypatch.setattr(os, "execvpe", lambda _, command, environment: done.append(subprocess.run(command,
        env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60)))
    for line in ("litepcie_util mem write --value 7", "litepcie_util mem read --length 1",
            "python3 -m liblitepcie.capture record python --packets 65",
            "litepcie_util stream record --file c --packets 65"):
        mock_card.main(line.split())
    assert [run.returncode for run in done] == [0, 0, 0, 0], done
    assert done[1].stdout.startswith("0x00000000: 07")
    samples = (tmp_path / "python").read_bytes()
    assert len(samples) == 65*mock_card.PACKET and samples[:mock_card.PACKET] == samples[-mock_card.PACKET:]
    assert (tmp_path / "c").read_bytes() == samples


def test_the_mock_card_runs_a_command(capsys):
    assert mock_card.main([]) == 2 and "tools.mock_card python3" in capsys.readouterr().err
