# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests that a small module is built for each guest kernel, in every way, and loaded."""

import shutil

import pytest

from litepcie_sim.guest         import cache, chroot
from litepcie_sim.guest         import module as build
from litepcie_sim.guest.errors  import GuestError
from litepcie_sim.guest.kernels import Kernel

MODULE = """// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
static int __init hello_init(void)
{
	pr_info("hello from %s\\n", UTS_RELEASE_TEXT);
	return 0;
}
static void __exit hello_exit(void) { }
module_init(hello_init);
module_exit(hello_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("test");
"""

# Like the driver's Makefile: it gets KDIR and O, and leaves the module in O.
MAKEFILE = """
ifneq ($(KERNELRELEASE),)
obj-m := hello.o
ccflags-y += -DUTS_RELEASE_TEXT='"$(KERNELRELEASE)"'
else
# Kbuild would use O itself.
MAKEOVERRIDES := $(filter-out O=%,$(MAKEOVERRIDES))
unexport O
all:
	mkdir -p $(O) && cp Makefile hello.c $(O)
	$(MAKE) -C $(KDIR) M=$(O) modules
endif
"""


@pytest.fixture(autouse=True)
def no_leftovers():
    """Removes what a test built from the user's cache."""
    before = set(cache.folder().glob("module-*"))
    yield
    for path in set(cache.folder().glob("module-*")) - before:
        if (path / "hello.ko").exists():
            shutil.rmtree(path)


@pytest.fixture
def sources(tmp_path):
    """Folder with the sources of a module that is not in the cache, as they contain the folder's path."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "hello.c").write_text(f"{MODULE}/* {tmp_path} */\n")
    (folder / "Makefile").write_text(MAKEFILE)
    return folder


def test_sources_are_what_was_written_by_hand(sources):
    for name in ("hello.mod.c", "hello.o", "hello.ko", "modules.order", ".hello.o.cmd"):
        (sources / name).write_text("x")
    (sources / "include").mkdir()
    (sources / "include" / "hello.h").write_text("y")
    assert list(build.sources(sources)) == ["Makefile", "hello.c", "include/hello.h"]


def load(boot, kernel, path):
    """Returns the module's line in the kernel log of a guest that loads it."""
    guest  = boot(None, kernel=kernel.name, files=[(path, "/root/hello.ko")])
    result = guest.run("insmod hello.ko && dmesg | grep 'hello from'; rmmod hello")
    assert result.status == 0, result.output
    return result.output.strip()


@pytest.mark.full
def test_builds_and_loads(boot, sources):
    kernel = Kernel("6.12")
    path   = build.module(kernel, sources)
    assert load(boot, kernel, path).endswith(f"hello from {kernel.release}")
    assert build.module(kernel, sources) == path  # From the cache.
    (sources / "hello.c").write_text(MODULE + f"/* {sources} again */\n")
    assert build.module(kernel, sources) != path


@pytest.mark.guest
@pytest.mark.parametrize("number", range(len(chroot._WAYS)))
def test_every_way_into_a_root(monkeypatch, sources, number):
    monkeypatch.setattr(chroot, "_WAYS", [chroot._WAYS[number]])
    kernel = Kernel("6.1")
    if chroot.way(kernel.compiler()[0]) is None:
        pytest.skip("this machine does not allow that way")
    assert build.module(kernel, sources).stat().st_size > 1000


@pytest.mark.full
def test_without_a_way_by_the_machines_compiler(boot, monkeypatch, sources):
    kernel        = Kernel("6.1")
    root, headers = kernel.compiler()
    if not build._machine_will_do(root / headers.relative_to("/")):
        pytest.skip("this machine is older than the kernel's headers")
    monkeypatch.setattr(chroot, "_WAYS", [])
    assert load(boot, kernel, build.module(kernel, sources)).endswith(kernel.release)


@pytest.mark.guest
def test_no_way_at_all(monkeypatch, sources):
    monkeypatch.setattr(chroot, "_WAYS", [])
    monkeypatch.setattr(build, "_machine_will_do", lambda headers: False)
    with pytest.raises(GuestError, match="needs user namespaces, which this machine does not allow; type: sudo "):
        build.module(Kernel("6.1"), sources)


@pytest.mark.guest
def test_errors_of_the_compiler_are_shown(sources):
    (sources / "hello.c").write_text(MODULE + f"int {'x' * 8} = nothing; /* {sources} */\n")
    with pytest.raises(GuestError, match=r"does not compile: .*hello\.c:\d+:\d+: error: "):
        build.module(Kernel("6.1"), sources)
