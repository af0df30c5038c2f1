# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The packages of `make deb`: unpacked by dpkg into an empty root; installed in a Debian root with DKMS, where the test
calls DKMS for the kernel of a guest, and used in this guest. Both roots have no running kernel."""

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata

from litepcie_sim.guest import chroot, DEFAULT_KERNEL, Guest, KERNELS
from litepcie_sim.guest.kernels import Kernel
from litepcie_sim.guest.packages import Recipe, root as fetched
from tools import check_version, make_deb, make_wheel, tracked

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
def test_the_tool_runs_and_a_program_is_built_with_the_packages(root, tmp_path):
    """Against the shared library, by the flags that the file for pkg-config has."""
    assert VERSION in run(root / "usr/bin/litepcie_util", "version")
    for name in ("lib/udev/rules.d/60-litepcie.rules", "share/man/man1/litepcie_util.1.gz", "bin/litepcie_rescan",
            "share/bash-completion/completions/litepcie_util"):
        assert (root / "usr" / name).is_file(), name
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


DKMS = Recipe("dkms", "DKMS of Debian", KERNELS[DEFAULT_KERNEL], ("dkms", "passwd"), "usr/sbin/dkms",
    keep=r"(dkms|kmod|libkmod2|libzstd1|liblzma5|libssl3|lsb-release|passwd|libaudit|libcap-ng|libselinux1|"
        r"libsemanage|libsepol|libbz2|libpam|libcrypt1|patch|debianutils|libpcre2|zlib1g|libxxhash)")


@pytest.fixture
def debian(tmp_path_factory):
    """(a Debian root with compiler and DKMS, the release of its headers, a function that runs a program inside it)."""
    folder = tmp_path_factory.mktemp("debian")
    compiler, headers = Kernel(DEFAULT_KERNEL).compiler()
    for part in (compiler, fetched(DKMS)):
        subprocess.run(["cp", "-a", f"{part}/.", folder], check=True)
    # Unpacked packages are not known to dpkg, and groupadd needs files that their scripts would make.
    for name, text in (("var/lib/dpkg/status", ""), ("etc/passwd", "root:x:0:0::/root:/bin/sh\n"),
            ("etc/group", "root:x:0:\n"), ("etc/gshadow", "root:*::\n")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "tmp"):
        (folder / name).mkdir(exist_ok=True)
    assert (way := chroot.way(folder)), "this machine allows neither chroot nor user namespaces"
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/root"}
    yield folder, headers.name.removeprefix("linux-headers-"), lambda *command: run(*way, *command, env=environment)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_dpkg_installs_all_dkms_builds_the_guest_uses_and_removal_leaves_no_module(packages, debian, board, tmp_path):
    """The root has no running kernel, so the test calls DKMS for the guest's kernel."""
    folder, release, inside = debian
    for path in packages.values():
        shutil.copy(path, folder / "tmp")
    inside("sh", "-c", "dpkg --force-depends -i /tmp/*.deb")
    said = inside("dpkg-query", "-W", "-f", "${Package} ${Status} ${Version}\n")
    assert sorted(said.splitlines()) == [f"{name} install ok installed {VERSION}" for name in sorted(make_deb.PACKAGES)]
    assert "litepcie:" in (folder / "etc/group").read_text() and VERSION in inside("litepcie_util", "version")
    assert "litepcie" in inside("dkms", "status")
    inside("dkms", "install", "-m", "litepcie", "-v", VERSION, "-k", release)
    assert f"litepcie/{VERSION}, {release}" in inside("dkms", "status")
    module, = (folder / "lib/modules" / release / "updates").rglob("litepcie.ko*")
    plain   = tmp_path / "litepcie.ko"
    plain.write_bytes(subprocess.check_output(["xz", "-dc", module]) if module.suffix == ".xz" else module.read_bytes())
    # The tool with the libraries of the root, at the places where it looks for them.
    wanted = ["/usr/bin/litepcie_util", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/liblitepcie.so.0",
        *[line.split("=>")[1].split()[0] for line in inside("ldd", "/usr/bin/litepcie_util").splitlines()
            if "=> /" in line]]
    files  = [(os.path.realpath(f"{folder}{name}"), "/opt/litepcie_util" if "util" in name else name)
        for name in wanted]
    with Guest(board, load=False, files=[*files, (plain, "/opt/litepcie.ko")]) as guest:
        result = guest.run("insmod /opt/litepcie.ko && chmod +x /opt/* /lib64/* && "
            "LD_LIBRARY_PATH=/usr/lib:/lib/x86_64-linux-gnu /opt/litepcie_util dma_test --iterations 2")
        assert result.status == 0, result.output
    inside("dpkg", "--force-depends", "-r", *sorted(make_deb.PACKAGES))
    assert "litepcie" not in inside("dkms", "status") and not (folder / "usr/bin/litepcie_util").exists()


@pytest.mark.full
@pytest.mark.parametrize("name", make_wheel.PROJECTS)
def test_equal_sources_give_equal_wheels(tmp_path, monkeypatch, name):
    """For a user with another umask, in another zone of time; and no file has the time of the build."""
    first  = make_wheel.make(tmp_path / "first", name)
    before = os.umask(0o77)
    try:
        monkeypatch.setenv("TZ", "Asia/Tokyo")
        second = make_wheel.make(tmp_path / "second", name)
    finally:
        os.umask(before)
    assert first.name == second.name and first.read_bytes() == second.read_bytes()
    archive  = zipfile.ZipFile(first)
    metadata = Metadata.from_email(archive.read(f"{first.name.removesuffix('-py3-none-any.whl')}.dist-info/METADATA"))
    assert str(metadata.version) == check_version.version() and metadata.description and metadata.author
    assert {entry.date_time for entry in archive.infolist()} == {(2025, 1, 1, 0, 0, 0)}
