#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Lays out what the machine with the board needs: driver, library, tool, and a build's headers."""

import shutil

SOURCES = ("kernel", "user")


def lay_out_driver(root, headers, folder):
    """Makes ``folder`` anew: kernel/, user/ and generated/; returns what to type, in two lines.

    root    : of the project.
    headers : folder of the build's headers.

    The driver is the same for every build; the headers are for programs that know this one.
    """
    shutil.rmtree(folder, ignore_errors=True)
    for name in SOURCES:
        shutil.copytree(root / "software" / name, folder / name)
    shutil.copytree(headers, folder / "generated")
    return (f"make -C {folder}/kernel O={folder}/build/kernel && sudo insmod {folder}/build/kernel/litepcie.ko\n"
            f"make -C {folder}/user BUILD={folder}/build/user && {folder}/build/user/litepcie_util info")
