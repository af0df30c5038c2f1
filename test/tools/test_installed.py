# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The wheel and the source distribution, installed into an empty environment outside the tree. The quick tests take the
requirements from build/venv and need no network. The project is not importable from there: only build/venv reads its
.pth file."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import textwrap
import venv

import pytest

from litepcie_soc import __version__
from tools import tracked
from tools.tracked import ROOT


def run(command, folder, status=0):
    """Runs a program without the environment of the tree, and returns its output."""
    environ = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    result  = subprocess.run([str(part) for part in command], cwd=folder, env=environ, capture_output=True, text=True)
    assert result.returncode == status, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout + result.stderr


def listed(*arguments, cwd=ROOT):
    return subprocess.check_output(["git", "ls-files", *arguments], cwd=cwd, text=True).splitlines()


def build(tree, folder, kind):
    """Builds ``kind``, wheel or sdist, as pip does, with the build tools of build/venv. Returns its path."""
    code = f"from setuptools import build_meta as b; print('made', b.build_{kind}({str(folder)!r}))"
    return folder / re.search(r"^made (.*)$", run([sys.executable, "-c", code], tree), re.MULTILINE)[1]


def environment(folder, wheel):
    """Makes an environment with nothing but the wheel and the requirements of build/venv. Returns its bin/."""
    venv.create(folder, with_pip=False)
    run([sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "-q", "--no-deps", "--no-index",
        wheel], folder)
    site = next((folder / "lib").glob("python*/site-packages"))
    (site / "requirements.pth").write_text(f"{next(p for p in sys.path if p.endswith('site-packages'))}\n")
    return folder / "bin"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The files of the commit and changed ones: a build in the tree itself would take what lies in build/."""
    folder = tmp_path_factory.mktemp("tree")
    for name in tracked.files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def installed(tree, tmp_path_factory):
    """bin/ of an environment with the wheel."""
    wheel = build(tree, tmp_path_factory.mktemp("wheel"), "wheel")
    return environment(tmp_path_factory.mktemp("environment"), wheel)


def check_core(installed, folder):
    (folder / "core.yml").write_text("name: my_core\n")
    run([installed / "litepcie_soc_gen", "core.yml"], folder)
    header = ROOT / "software" / "kernel" / "litepcie_regs.h"
    assert (folder / "my_core" / "litepcie_regs.h").read_text() == header.read_text()
    assert "module my_core" in (folder / "my_core" / "my_core.v").read_text()


@pytest.mark.full
def test_the_generator_works(installed, tmp_path):
    check_core(installed, tmp_path)


def test_the_sources_of_driver_and_tool_travel_with_the_package(installed, tmp_path):
    names   = listed("software", "targets")
    package = next((installed.parent / "lib").glob("python*/site-packages/litepcie_soc"))
    assert not [name for name in names if not (package / name).is_file()]
    # A target that does not exist.
    text = run([installed / "litepcie_soc_target", "kc706"], tmp_path, status=2)
    assert text.startswith("litepcie_soc_target: 'kc706' is no board; choose ") and text.count("\n") == 1


@pytest.mark.full
def test_a_target_lays_out_driver_and_tool(installed, tmp_path):
    run([installed / "litepcie_soc_target", "xilinx_kc705", "--build", "--no-compile", "--driver"], tmp_path)
    driver = next((tmp_path / "build").glob("*/driver"))
    assert not [name for name in listed("kernel", "user", cwd=ROOT / "software") if not (driver / name).is_file()]
    run(["make", "-C", driver / "user", f"BUILD={tmp_path}/user"], tmp_path)
    assert __version__ in run([tmp_path / "user" / "litepcie_util", "version"], tmp_path)


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_a_new_project_passes_its_tests(installed, tmp_path):
    """Outside the tree: the simulator, the driver, the library and the guest come from the package."""
    run([installed / "litepcie_soc_new", "mine"], tmp_path)
    assert "Ran 2 tests" in run([installed / "python", "test.py"], tmp_path / "mine")


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_the_tests_of_a_users_card(installed, tmp_path):
    """Those of docs/your-card.md."""
    page  = (ROOT / "docs" / "your-card.md").read_text()
    block = textwrap.dedent(page.partition("    # conftest.py\n")[2].partition("\nThe tests")[0])
    first, second = block.split("# test_card.py\n")
    (tmp_path / "conftest.py").write_text(first)
    (tmp_path / "test_card.py").write_text(second)
    assert "2 passed" in run([installed / "python", "-m", "pytest", "-q"], tmp_path)


@pytest.mark.full
def test_the_source_distribution_makes_the_same_wheel(tree, installed, tmp_path):
    sdist = build(tree, tmp_path, "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    wheel = build(tmp_path / "source" / f"litepcie_soc-{__version__}", tmp_path, "wheel")
    again = environment(tmp_path / "environment", wheel)

    def names(folder):
        site = next((folder.parent / "lib").glob("python*/site-packages"))
        return {str(path.relative_to(site)) for path in site.rglob("*") if "__pycache__" not in path.parts}
    assert names(again) == names(installed)


@pytest.mark.full
def test_pip_installs_the_project_with_its_requirements(tree, tmp_path):
    venv.create(tmp_path / "environment", with_pip=True)
    binaries = tmp_path / "environment" / "bin"
    run([binaries / "pip", "install", "-q", tree], tmp_path)
    check_core(binaries, tmp_path)
