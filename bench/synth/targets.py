#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Area of the boards: each target with its defaults, and with its DDR.

Keys of a record: ``design``, ``part`` ("board"), ``target``, ``build`` (name), ``verilog`` (digest of its sources),
``device``, ``family``, ``gates``, ``carries``, ``registers``, ``ram_luts``, ``brams``, ``dsps`` (see ``gates.py``),
``tools`` (versions). A mapped board also has ``luts``, ``luts_as_carry``, ``luts_as_memory``, ``ffs``, ``levels`` ({net
of a clock: record of ``Depth``}), and of its device ``device_luts``, ``device_ffs``, ``device_brams``, ``device_dsps``.
"""

from dataclasses import dataclass

from litepcie_bench.synth import elaborate, gates, project, tools
from litepcie_bench.synth.count import area
from litepcie_bench.synth.designs import OURS
from litepcie_bench.synth.devices import HARD_BLOCKS, device_of
from litepcie_soc.build.targets import PATHS, boards, load

# Boards that Vivado builds. `bitstreams.py` builds the others.
NAMES = tuple(board.name for board in boards() if board.toolchain == "vivado")


@dataclass(frozen=True)
class Target:
    """A build of the target ``name``."""
    name:     str
    with_ddr: bool = False

    @property
    def build(self):
        board = load(self.name).BOARD
        return board.configure(with_ddr=self.with_ddr).name(board)

    def project(self):
        return project.emit(PATHS[self.name], ["--with-ddr"] * self.with_ddr)

    def __str__(self):
        return self.build


def targets(names=None):
    """Returns every ``Target``, or those with the given names."""
    found = []
    for name in names or NAMES:
        found.append(Target(name))
        if load(name).BOARD.memory.ddr:
            found.append(Target(name, with_ddr=True))
    return found

# Measuring ----------------------------------------------------------------------------------------


def elaborated(target):
    """Elaborates a ``Target`` and checks it. Raises ``ToolError``."""
    emitted   = target.project()
    _, device = device_of(emitted.part)
    elaborate.elaborate(emitted, HARD_BLOCKS[device.family])


def _counted(target, emitted):
    name, device = device_of(emitted.part)
    found        = gates.count(emitted, device.family, HARD_BLOCKS[device.family])
    return {"design": OURS, "part": "board", "target": target.name, "build": emitted.name, "verilog": emitted.digest,
        "device": name, "family": device.family, **found.record(), "tools": tools.versions()}


def counted(target):
    """Elaborates and checks a ``Target`` and returns its record, counted before mapping. Raises ``ToolError``."""
    return _counted(target, target.project())


def record(target):
    """Elaborates, checks and maps a ``Target`` and returns its record. Raises ``ToolError``."""
    emitted   = target.project()
    _, device = device_of(emitted.part)
    block     = HARD_BLOCKS[device.family]
    cells, levels = elaborate.synthesise(emitted, device.family, block)
    found     = area(cells, device.family, [block])
    return {**_counted(target, emitted), **found.record(), "levels": levels,
        **{f"device_{key}": getattr(device, key) for key in ("luts", "ffs", "brams", "dsps")}}


def measure(chosen, step, work=record):
    """Returns ``work(target)`` for each target. They run one after the other: a board takes a gigabyte of memory."""
    found = []
    for target in chosen:
        found.append(work(target))
        step(str(target))
    return found
