#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Lays out what the machine with the board needs: driver, library, tool, and a build's headers."""

import shutil

from litepcie_soc.soc.export import write_if_changed

SOURCES = ("kernel", "user")

MAKEFILE = """\
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
#
# What a machine with the board needs; laid out by the target that built its bitstream. May be copied as it is.
#
#   make            builds driver and tool into build/
#   make load       puts the driver into the running kernel (as root)
#
# generated/ are the headers of this bitstream, for programs that know it; the driver is the same for every one.

HERE := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

.PHONY: all load
all:
	$(MAKE) -C $(HERE)/kernel O=$(HERE)/build/kernel
	$(MAKE) -C $(HERE)/user BUILD=$(HERE)/build/user

load:
	insmod $(HERE)/build/kernel/litepcie.ko
"""


def lay_out_driver(root, headers, folder):
    """Makes ``folder``, or what is ours in it anew: kernel/, user/, generated/, Makefile. Returns what to type.

    root    : of the project.
    headers : folder of the build's headers.
    """
    makefile = folder / "Makefile"
    sources  = {**{name: root / "software" / name for name in SOURCES}, "generated": headers}
    if makefile.is_file() and makefile.read_text(encoding="utf-8") == MAKEFILE:
        for name in sources:
            shutil.rmtree(folder / name, ignore_errors=True)
    for name, source in sources.items():
        shutil.copytree(source, folder / name, dirs_exist_ok=True)
    write_if_changed(makefile, MAKEFILE)
    return f"make -C {folder}\nsudo make -C {folder} load"
