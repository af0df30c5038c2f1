# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The packages of `make deb`, installed by dpkg in a Debian root with DKMS, and used in a guest with that kernel.

The root has no running kernel, so that the test calls DKMS for the guest's kernel; DKMS is Debian's.
"""

import os
import shutil
import subprocess

import pytest

from litepcie_sim.guest import DEFAULT_KERNEL, KERNELS, Guest, chroot
from litepcie_sim.guest.kernels import Kernel
from litepcie_sim.guest.packages import Recipe
from litepcie_sim.guest.packages import root as fetched

from tools import check_version, make_deb

VERSION = check_version.version()
DKMS    = Recipe("dkms", "DKMS of Debian", KERNELS[DEFAULT_KERNEL], ("dkms", "passwd"), "usr/sbin/dkms",
    keep = r"(dkms|kmod|libkmod2|libzstd1|liblzma5|libssl3|lsb-release|passwd|libaudit|libcap-ng|libselinux1|"
        r"libsemanage|libsepol|libbz2|libpam|libcrypt1|patch|debianutils|libpcre2|zlib1g|libxxhash)")

pytestmark = [pytest.mark.full, pytest.mark.timeout(1200)]


class Root:
    """A Debian root with compiler, headers and DKMS. Its programs run inside it."""
    def __init__(self, folder, kernel):
        compiler, self.headers = kernel.compiler()
        self.folder = folder
        for part in (compiler, fetched(DKMS)):
            subprocess.run(["cp", "-a", f"{part}/.", folder], check=True)
        # Unpacked packages are not known to dpkg, and groupadd needs files that their scripts would make.
        for name, text in (("var/lib/dpkg/status", ""), ("etc/passwd", "root:x:0:0::/root:/bin/sh\n"),
                ("etc/group", "root:x:0:\n"), ("etc/gshadow", "root:*::\n")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        for name in ("info", "updates"):
            (folder / "var/lib/dpkg" / name).mkdir(exist_ok=True)
        (folder / "tmp").mkdir(exist_ok=True)
        self.way = chroot.way(folder)
        assert self.way, "this machine allows neither chroot nor user namespaces"

    def run(self, *command, status=0):
        result = subprocess.run([*self.way, *command], capture_output=True, text=True,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/root"})
        assert result.returncode == status, result.stdout[-3000:] + result.stderr[-3000:]
        return result.stdout + result.stderr


@pytest.fixture(scope="module")
def kernel():
    return Kernel(DEFAULT_KERNEL)


@pytest.fixture(scope="module")
def root(kernel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("root")
    root   = Root(folder, kernel)
    for path in make_deb.make(tmp_path_factory.mktemp("packages")):
        shutil.copy(path, folder / "tmp")
    root.run("sh", "-c", "dpkg --force-depends -i /tmp/*.deb")
    yield root
    shutil.rmtree(folder, ignore_errors=True)


def test_dpkg_has_installed_all(root):
    said = root.run("dpkg-query", "-W", "-f", "${Package} ${Status} ${Version}\n")
    assert sorted(said.splitlines()) == [f"{name} install ok installed {VERSION}" for name in sorted(make_deb.PACKAGES)]
    assert "litepcie:" in (root.folder / "etc/group").read_text()
    assert VERSION in root.run("litepcie_util", "version")


def test_what_dkms_builds_and_what_is_installed_work_in_the_guest(root, kernel, board, tmp_path):
    release = root.headers.name.removeprefix("linux-headers-")
    assert "litepcie" in root.run("dkms", "status")
    root.run("dkms", "install", "-m", "litepcie", "-v", VERSION, "-k", release)
    assert f"litepcie/{VERSION}, {release}" in root.run("dkms", "status")
    module, = (root.folder / "lib/modules" / release / "updates").rglob("litepcie.ko*")
    if module.suffix == ".xz":
        module = tmp_path / "litepcie.ko"
        module.write_bytes(subprocess.run(["xz", "-dc", next((root.folder / "lib/modules" / release / "updates").rglob(
            "litepcie.ko.xz"))], check=True, capture_output=True).stdout)
    # The tool with the libraries of the root, at the places where it looks for them.
    wanted = ["/usr/bin/litepcie_util", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/liblitepcie.so.0",
        *[line.split("=>")[1].split()[0] for line in root.run("ldd", "/usr/bin/litepcie_util").splitlines()
            if "=> /" in line]]
    files  = {name: os.path.realpath(f"{root.folder}{name}") for name in wanted}
    files  = [(path, "/opt/litepcie_util" if "util" in name else name) for name, path in files.items()]
    with Guest(board, load=False, files=[*files, (module, "/opt/litepcie.ko")]) as guest:
        result = guest.run("insmod /opt/litepcie.ko && chmod +x /opt/* /lib64/* && "
            "LD_LIBRARY_PATH=/usr/lib:/lib/x86_64-linux-gnu /opt/litepcie_util dma_test --iterations 2")
        assert result.status == 0, result.output


def test_removal_leaves_no_module(root):
    root.run("dpkg", "--force-depends", "-r", *sorted(make_deb.PACKAGES))
    assert "litepcie" not in root.run("dkms", "status")
    assert not (root.folder / "usr/bin/litepcie_util").exists()
