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
BARS         = 6
BAR_SIZES    = tuple(1 << n for n in range(7, 31))
MSIX_VECTORS = 256


class CardError(Exception):
    """The card cannot be built; the text says why."""


@dataclass(frozen=True)
class Card:
    """The card below its ports: link, identity, BARs, interrupts.

    Parameters
    ----------
    gen, lanes   : link.
    data_width   : bits of each TLP stream: 64, 128, 256 or 512.
    clock_hz     : clock of all streams.
    bars         : {number: bytes} of the BARs, of 32 bits and not prefetchable; powers of two.
    vendor_id, device_id, subsystem_vendor_id, subsystem_device_id, class_code : identity.
    msi_vectors  : that the card asks for: 1, 2, 4, 8, 16 or 32; 0: it has no MSI.
    msix_vectors : entries of its MSI-X table; 0: it has no MSI-X.
    msix_table, msix_pending : (int, int), BAR and offset of the table and of the Pending Bit Array.
    split        : requests and completions have streams of their own.
    endianness   : "big" or "little", byte order of payload dwords at the PHY.
    completion_space : (int, int), completions and bytes of their data that the hard block holds; the run ends if the
        card requests more. None: 512 completions, 32 KiB.
    """
    gen                 : int
    lanes               : int
    data_width          : int
    clock_hz            : int
    bars                : dict
    vendor_id           : int
    device_id           : int
    subsystem_vendor_id : int = 0
    subsystem_device_id : int = 0
    class_code          : int = 0x058000
    msi_vectors         : int = 1
    msix_vectors        : int = 0
    msix_table          : tuple = (0, 0)
    msix_pending        : tuple = (0, 0)
    split               : bool = False
    endianness          : str = "big"
    completion_space    : tuple = None

    def __post_init__(self):
        check_data_width(self.data_width)
        for name, allowed in {"gen": (1, 2, 3, 4), "lanes": LANES, "msi_vectors": (0, 1, 2, 4, 8, 16, 32),
            "endianness": ("big", "little")}.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} {getattr(self, name)!r} is not supported; choose one of {allowed}")
        if not isinstance(self.bars, dict):
            raise ValueError(f"bars {self.bars!r} is not supported; give the bytes of each, such as {{0: 0x10000}}")
        for number, size in self.bars.items():
            if number not in range(BARS) or size not in BAR_SIZES:
                raise ValueError(f"BAR {number} of {size} bytes is not supported; choose a number from 0 to "
                    f"{BARS - 1}, and a power of two from {BAR_SIZES[0]} to {BAR_SIZES[-1]}")
        if self.msix_vectors not in range(MSIX_VECTORS + 1):
            raise ValueError(f"msix_vectors {self.msix_vectors} is not supported; choose at most {MSIX_VECTORS}")
        for name, size in {"msix_table": 16*self.msix_vectors, "msix_pending": 8*(-self.msix_vectors//-64)}.items():
            try:
                bar, offset = map(int, getattr(self, name))
            except (TypeError, ValueError):
                raise ValueError(f"{name} {getattr(self, name)!r} is not supported; give BAR and offset, such as "
                    "[0, 0x8000]") from None
            if self.msix_vectors and (offset % 8 or offset + size > self.bars.get(bar, 0)):
                raise ValueError(f"{name} of {size} bytes at {offset:#x} is not inside BAR {bar}, or not at a multiple "
                    "of 8")

    def header(self):
        """Returns the text of the soc.h that the simulator is built with."""
        space  = {} if self.completion_space is None else dict(zip(("completion_headers", "completion_data"),
            self.completion_space))
        table, pending = (offset | bar for bar, offset in (self.msix_table, self.msix_pending))
        values = {"foreign": 1, "gen": self.gen, "lanes": self.lanes, "data_width": self.data_width,
            "bar_port": int(len(self.bars) > 1), "vendor_id": self.vendor_id, "device_id": self.device_id,
            "subsystem_vendor_id": self.subsystem_vendor_id, "subsystem_device_id": self.subsystem_device_id,
            "class_code": self.class_code, "msi_vectors": self.msi_vectors, "msix_vectors": self.msix_vectors,
            "msix_table": table, "msix_pending": pending, "tags": 256, "phy_split": int(self.split),
            "endianness_little": int(self.endianness == "little"), **space}
        lines  = [f"#define CONFIG_PCIE_{name.upper()} {value:#x}" for name, value in values.items()]
        bars   = ", ".join(hex(self.bars.get(number, 0)) for number in range(BARS))
        return "\n".join([*lines, f"#define CONFIG_PCIE_BARS {{{bars}}}",
            f"#define CONFIG_CLOCK_FREQUENCY {int(self.clock_hz)}", "#define CONFIG_MEMORY_SIZE 0", ""])


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
