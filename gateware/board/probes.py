#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Probes: LiteScope on the signals that say how the link is used (``--with-litescope``).

The streams between transaction layer and PHY, cycle by cycle, and what each engine does or waits for, as
its counters count it. Read through JTAG or a serial port, never by a program of the host: docs/probes.md.
"""

from pathlib import Path

from migen import *

from litex.gen import *

from litex.soc.integration.export import get_csr_csv

from litescope import LiteScopeAnalyzer

from litepcie_soc.phy.sim import SHARED_STREAMS, SPLIT_STREAMS
from litepcie_soc.soc.export import reproducible, write_if_changed

# Signals ------------------------------------------------------------------------------------------

HANDSHAKE = ("valid", "ready", "first", "last")


def streams(soc):
    """Name to stream of the PHY, to the host (``tx*``) and from it (``rx*``), as the transaction layer sees them."""
    phy, shape = soc.pcie_phy, soc.tlp.shape
    tx, rx     = SPLIT_STREAMS if shape.split else SHARED_STREAMS
    # LitePCIe's PHYs have no ``first`` of their own: the shape finds it.
    received = {name: getattr(shape, attribute) for name, attribute in rx.items()} if shape.split else {
        "rx": shape.demux.sink}
    return {**{name: getattr(phy, attribute) for name, attribute in tx.items()}, **received}


def activity(engine):
    """Name to expression of what an engine does: ``active``, of which each cycle is one of the others."""
    counters = engine.counters
    waits    = {
        "wait_tag":  counters.wait_tag_now,
        "wait_link": counters.wait_link_now,
        "wait_data": counters.wait_data_now,
    }
    found = {"active": counters.run, "moved": counters.run & counters.moved}
    found |= {name: counters.run & ~counters.moved & wait for name, wait in waits.items()}
    found["wait_descriptor"] = counters.run & ~counters.moved & ~Reduce("OR", list(waits.values()))
    return found


def signals(soc):
    """Name to expression of every probe, one bit each, sys; their order is that of a sample from bit 0."""
    found = {f"{name}_{field}": getattr(endpoint, field)
        for name, endpoint in streams(soc).items() for field in HANDSHAKE}
    found["link_up"] = soc.tlp.shape.link_up
    for n, engine in enumerate(soc.engines):
        found |= {f"{engine.direction}{n // 2}_{name}": value for name, value in activity(engine).items()}
    return found

# Analyzer -----------------------------------------------------------------------------------------


class Analyzer(LiteScopeAnalyzer):
    """LiteScope's, whose probes have the names of ``signals`` on every target.

    Parameters
    ----------
    probes   : name to expression, one bit each, sys.
    depth    : samples, one a cycle.
    clk_freq : Hz of ``sys``.

    Registers: LiteScope's, behind the pinned banks.
    """
    def __init__(self, probes, depth, clk_freq):
        self.named = [(name, Signal()) for name in probes]
        LiteScopeAnalyzer.__init__(self, [signal for _, signal in self.named], depth,
            samplerate = clk_freq,
            register   = True,  # A probe must not lengthen a path of what it looks at.
            csr_csv    = None,
        )

        # # #

        self.comb += [signal.eq(probes[name]) for name, signal in self.named]

    def get_name(self, signal):
        return next(name for name, other in self.named if other is signal)

# SoC ----------------------------------------------------------------------------------------------

DEPTH      = 4096  # Samples: 3 block RAMs of 36 kbit for each 24 probes or so, 33 us at 125 MHz.
MAX_DEPTH  = 65536
BAUDRATE   = 115200
JTAG_HZ    = 20e6  # Fastest clock of the cable that the constraints allow.

# Devices of one die whose user register litex_server can address through OpenOCD. The others are several dies in
# one chain (VU9P, U200): there the serial port is the way.
JTAG_DEVICES = ("xc7", "xcku040")


def bridge_of(platform):
    """"jtag" or "serial": how LiteScope's host side reaches a board."""
    return "jtag" if platform.device.startswith(JTAG_DEVICES) else "serial"


def add_probes(soc, depth=DEPTH, bridge=None):
    """Adds the analyzer to a ``LitePCIeSoC``, behind ``add_litepcie``, and the way to it.

    Parameters
    ----------
    soc    : with ``crg.cd_sys`` where the way is JTAG.
    depth  : samples, one a cycle of sys.
    bridge : "jtag" or "serial", a second master of the register bus; what fits the device if None.

    Raises ``ValueError`` on what cannot be.
    """
    if not 16 <= depth <= MAX_DEPTH:
        raise ValueError(f"depth of the probes must be 16..{MAX_DEPTH} samples, not {depth!r}")
    bridge = bridge or bridge_of(soc.platform)
    if bridge not in ("jtag", "serial"):
        raise ValueError(f'bridge of the probes must be "jtag" or "serial", not {bridge!r}')
    soc.analyzer = Analyzer(signals(soc), depth, soc.sys_clk_freq)
    if bridge == "jtag":
        soc.add_jtagbone()
        jtag = soc.jtagbone_phy.cd_jtag.clk
        soc.platform.add_period_constraint(jtag, 1e9/JTAG_HZ)
        soc.platform.add_false_path_constraints(jtag, soc.crg.cd_sys.clk)
    else:
        soc.add_uartbone(baudrate=BAUDRATE)


def export_probes(soc, folder):
    """Writes what ``litescope_cli`` asks for into ``folder``: ``analyzer.csv`` (the probes), ``csr.csv`` (registers).

    Of a finalised SoC.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    soc.analyzer.export_csv(soc.analyzer, str(folder / "analyzer.csv"))
    write_if_changed(folder / "csr.csv", reproducible(get_csr_csv(soc.csr.regions, soc.constants, soc.mem_regions)))
