# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The packages of `make deb`, unpacked by dpkg into an empty root."""

import os
import re
import subprocess

from pathlib import Path

import pytest

from tools import check_version, make_deb, tracked

VERSION = check_version.version()


def run(*command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """{name: path} of the packages."""
    return {path.name.split("_")[0]: path for path in make_deb.make(tmp_path_factory.mktemp("packages"))}


@pytest.fixture(scope="module")
def root(packages, tmp_path_factory):
    """An empty root into which dpkg unpacked the packages; it does not run their scripts there."""
    root = tmp_path_factory.mktemp("root")
    for name in ("info", "updates"):
        (root / "var" / "lib" / "dpkg" / name).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    run("dpkg", f"--root={root}", "--force-not-root", "--force-depends", "--log=/dev/null", "--no-triggers", "--unpack",
        *packages.values(), env=dict(os.environ, PATH="/usr/sbin:/usr/bin:/sbin:/bin"))
    return root


def owned(packages, name):
    """Names of the files of a package, from the root."""
    lines = [line.split() for line in run("dpkg-deb", "-c", packages[name]).splitlines()]
    return {line[5].removeprefix(".") for line in lines if line[0][0] != "d"}


@pytest.mark.full
def test_files_belong_to_root_and_to_one_package(packages):
    """No file is writable for others, none is in /usr/local, and each package has its licences."""
    seen = set()
    for name, path in packages.items():
        for line in run("dpkg-deb", "-c", path).splitlines():
            assert re.match(r"[-dl][rwx-]{4}[-x]?", line) and line.split()[1] == "root/root", line
            assert line[0] == "l" or line[5] == "-" == line[8], line
        files = owned(packages, name)
        assert {f"/usr/share/doc/{name}/copyright", f"/usr/share/doc/{name}/changelog.gz"} <= files
        assert not seen & files and not any("/local/" in file for file in files)
        seen |= files


SELECT = f"-m litepcie -v {VERSION}"


@pytest.mark.full
@pytest.mark.parametrize("name, script, argument, calls", [
    ("litepcie-dkms",  "postinst", "configure", [f"dkms remove {SELECT} --all", f"dkms add {SELECT}",
        "dkms autoinstall"]),
    ("litepcie-dkms",  "postinst", "abort-upgrade", []),
    ("litepcie-dkms",  "prerm",    "remove",    [f"dkms remove {SELECT} --all"]),
    ("litepcie-utils", "postinst", "configure", ["getent group litepcie", "groupadd --system litepcie",
        "udevadm control --reload"]),
])
def test_what_the_scripts_call(packages, tmp_path, name, script, argument, calls):
    """With programs that fail, except `dkms add` and `groupadd`: the package is installed nevertheless."""
    run("dpkg-deb", "-e", packages[name], tmp_path / "control")
    (tmp_path / "bin").mkdir()
    for program in ("dkms", "getent", "groupadd", "udevadm"):
        path = tmp_path / "bin" / program
        path.write_text(f'#!/bin/sh\necho "{program} $*" >> {tmp_path}/calls\n'
            f'[ "$1" = add ] || [ {program} = groupadd ]\n')
        path.chmod(0o755)
    (tmp_path / "calls").touch()
    run(tmp_path / "control" / script, argument, env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"})
    assert (tmp_path / "calls").read_text().splitlines() == calls


@pytest.mark.full
def test_dkms_finds_all_sources(root):
    """In /usr/src/NAME-VERSION, as in dkms.conf, is each file of the driver and no other one."""
    folder = root / "usr" / "src" / f"litepcie-{VERSION}"
    tree   = {path.removeprefix("software/kernel/"): (tracked.ROOT / path).read_bytes() for path in tracked.files()
        if path.startswith("software/kernel/")}
    assert {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()} == tree
    assert f'PACKAGE_NAME="litepcie"\nPACKAGE_VERSION="{VERSION}"\n' in (folder / "dkms.conf").read_text()


@pytest.mark.full
def test_the_tool_runs_and_its_files_are_there(root):
    assert VERSION in run(root / "usr/bin/litepcie_util", "version")
    for name in ("lib/udev/rules.d/60-litepcie.rules", "share/man/man1/litepcie_util.1.gz", "bin/litepcie_rescan",
            "share/bash-completion/completions/litepcie_util"):
        assert (root / "usr" / name).is_file(), name


@pytest.mark.full
def test_a_program_is_built_with_the_packages(root, tmp_path):
    """Against the shared library, by the flags that the file for pkg-config has."""
    text  = (root / "usr/lib/pkgconfig/liblitepcie.pc").read_text()
    assert f"Version: {VERSION}\n" in text and "prefix=/usr\n" in text
    source = Path(tracked.ROOT) / "examples" / "c" / "rate.c"
    run("cc", "-o", tmp_path / "rate", source, f"-I{root}/usr/include", f"-L{root}/usr/lib", "-llitepcie")
    result = subprocess.run([tmp_path / "rate"], env={"LD_LIBRARY_PATH": f"{root}/usr/lib"}, capture_output=True,
        text=True)
    needed = run("readelf", "-d", tmp_path / "rate")
    assert "[liblitepcie.so.0]" in needed and result.returncode in (0, 1) and "loading shared" not in result.stderr


@pytest.mark.full
def test_equal_sources_give_equal_packages(packages, tmp_path):
    for path in make_deb.make(tmp_path):
        assert path.read_bytes() == packages[path.name.split("_")[0]].read_bytes(), path.name


def test_a_step_that_fails_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(make_deb, "make", lambda: make_deb.run("dpkg-deb", "--no-such-option"))
    assert make_deb.main() == 1
    said = capsys.readouterr().err
    assert said.startswith("make_deb: dpkg-deb --no-such-option: ") and said.count("\n") == 1
