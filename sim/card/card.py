#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the simulator and the guest must know of somebody's card, and the build of its simulator."""

import json
import shutil
import subprocess

from dataclasses import dataclass
from pathlib import Path

from litepcie_soc.common import places
from litepcie_soc.common.pcie import check_data_width
from litepcie_soc.soc.export import write_if_changed
from litepcie_soc.soc.link import LANES

# The top module that sim/Makefile compiles.
TOP = "litepcie_soc_sim"
# In the build folder: what goes into the guest.
GUEST_FILE = "card.json"


class CardError(Exception):
    """The card cannot be built; the text says why."""


@dataclass(frozen=True)
class Card:
    """The card below its ports: link, identity, BAR0.

    Parameters
    ----------
    gen, lanes   : link.
    data_width   : bits of both TLP streams: 64, 128, 256 or 512.
    clock_hz     : clock of both streams.
    bar0_size    : bytes of BAR0, 32 bits and not prefetchable; a power of two.
    vendor_id, device_id, subsystem_vendor_id, subsystem_device_id, class_code : identity.
    msi_vectors  : that the card asks for: 1, 2, 4, 8, 16 or 32.
    endianness   : "big" or "little", byte order of payload dwords at the PHY.
    completion_space : (int, int), completions and bytes of their data that the hard block holds; the run ends if the
        card requests more. None: more than any card can request.
    """
    gen                 : int
    lanes               : int
    data_width          : int
    clock_hz            : int
    bar0_size           : int
    vendor_id           : int
    device_id           : int
    subsystem_vendor_id : int = 0
    subsystem_device_id : int = 0
    class_code          : int = 0x058000
    msi_vectors         : int = 1
    endianness          : str = "big"
    completion_space    : tuple = None

    def __post_init__(self):
        check_data_width(self.data_width)
        for name, allowed in {"gen": (1, 2, 3, 4), "lanes": LANES, "msi_vectors": (1, 2, 4, 8, 16, 32),
            "endianness": ("big", "little"), "bar0_size": tuple(1 << n for n in range(7, 31))}.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} {getattr(self, name)!r} is not supported; choose one of {allowed}")

    def header(self):
        """Returns the text of the soc.h that the simulator is built with."""
        space  = {} if self.completion_space is None else dict(zip(("completion_headers", "completion_data"),
            self.completion_space))
        values = {"foreign": 1, "gen": self.gen, "lanes": self.lanes, "data_width": self.data_width,
            "bar0_size": self.bar0_size, "vendor_id": self.vendor_id, "device_id": self.device_id,
            "subsystem_vendor_id": self.subsystem_vendor_id, "subsystem_device_id": self.subsystem_device_id,
            "class_code": self.class_code, "msi_vectors": self.msi_vectors, "tags": 256,
            "endianness_little": int(self.endianness == "little"), **space}
        lines  = [f"#define CONFIG_PCIE_{name.upper()} {value:#x}" for name, value in values.items()]
        return "\n".join([*lines, f"#define CONFIG_CLOCK_FREQUENCY {int(self.clock_hz)}",
            "#define CONFIG_MEMORY_SIZE 0", ""])


@dataclass(frozen=True)
class Software:
    """What goes into the guest.

    driver  : folder with the sources of the kernel modules and a Makefile for ``make -C KERNEL M=FOLDER modules``.
    modules : names of the modules that are loaded, in this order ("litepcie.ko").
    files   : (path on the machine, path in the guest) of programs and other files.
    """
    driver  : Path  = None
    modules : tuple = ()
    files   : tuple = ()


def write_guest(folder, software):
    """Writes what goes into the guest, for `litepcie_sim.guest`."""
    text = {"driver": software.driver and str(Path(software.driver).resolve()), "modules": list(software.modules),
        "files": [[str(Path(host).resolve()), guest] for host, guest in software.files]}
    write_if_changed(folder / GUEST_FILE, json.dumps(text, indent=2) + "\n")


def compile_simulator(card, folder):
    """Builds the simulator of a card whose Verilog is in ``folder``. Raises ``CardError``; make printed the reason."""
    if missing := [program for program in ("make", "g++", "verilator") if shutil.which(program) is None]:
        raise CardError(f"{' and '.join(missing)} is not installed; type: apt install {' '.join(missing)}")
    write_if_changed(folder / "software" / "include" / "generated" / "soc.h", card.header())
    make = ["make", "--no-print-directory", "-C", str(places.SIM), f"BOARD={folder.resolve()}",
        "PROGRAMS=litepcie_simulator"]
    if places.INSTALLED:
        make += [f"SOFTWARE={places.SOFTWARE}", f"MODEL={places.BUILD / 'sim_model'}"]
    if subprocess.run(make).returncode:
        raise CardError(f"the simulator of {folder} does not build")
