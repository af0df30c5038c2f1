#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Lays out the software for the machine with the board: driver, library, tool and the headers of a build."""

import shutil

from litepcie_soc import __version__
from litepcie_soc.common.places import SOFTWARE
from litepcie_soc.soc.export import write_if_changed

SOURCES = ("kernel", "user")

MAKEFILE = """\
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
#
# Driver and tool for the machine with the board, laid out by the target that built the bitstream. Copy it there.
#
#   make            builds driver and tool into build/
#   make load       loads the driver into the running kernel (as root)
#
# generated/ has the headers of this bitstream, for programs made for it. The driver serves every bitstream.

HERE := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

.PHONY: all load
all:
	$(MAKE) -C $(HERE)/kernel O=$(HERE)/build/kernel
	$(MAKE) -C $(HERE)/user BUILD=$(HERE)/build/user

load:
	insmod $(HERE)/build/kernel/litepcie.ko
"""


def lay_out_driver(headers, folder):
    """Writes kernel/, user/, generated/ and a Makefile into ``folder``, replacing those of an earlier run.

    headers : folder with the headers of the build.

    Returns the commands to type.
    """
    makefile = folder / "Makefile"
    sources  = {**{name: SOFTWARE / name for name in SOURCES}, "generated": headers}
    if makefile.is_file() and makefile.read_text(encoding="utf-8") == MAKEFILE:
        for name in sources:
            shutil.rmtree(folder / name, ignore_errors=True)
    for name, source in sources.items():
        shutil.copytree(source, folder / name, dirs_exist_ok=True)
    # The tool's Makefile reads the version from here, because setup.py is not in the folder.
    write_if_changed(folder / "user" / "version.mk", f"VERSION := {__version__}\n")
    write_if_changed(makefile, MAKEFILE)
    return f"make -C {folder}\nsudo make -C {folder} load"
