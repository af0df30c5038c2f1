#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""LiteScope probes on the signals that show the use of the link (``--with-litescope``).

The probes record every cycle of the streams between transaction layer and PHY, and the activity or wait of each engine
as its counters see it. They are read through JTAG or a serial port, not by programs of the host: docs/probes.md.
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
    """Returns the PHY streams by name, as the transaction layer sees them: ``tx*`` to the host, ``rx*`` from it."""
    phy, shape = soc.pcie_phy, soc.tlp.shape
    tx, rx     = SPLIT_STREAMS if shape.split else SHARED_STREAMS
    # LitePCIe's PHYs do not drive ``first``; the shape reconstructs it.
    received = {name: getattr(shape, attribute) for name, attribute in rx.items()} if shape.split else {
        "rx": shape.demux.sink}
    return {**{name: getattr(phy, attribute) for name, attribute in tx.items()}, **received}


def activity(engine):
    """Returns an engine's activity by name. In each ``active`` cycle exactly one of the others is high."""
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
    """Returns the expressions of all probes by name, one bit each, in ``sys``, in the order of a sample from bit 0."""
    found = {f"{name}_{field}": getattr(endpoint, field)
        for name, endpoint in streams(soc).items() for field in HANDSHAKE}
    found["link_up"] = soc.tlp.shape.link_up
    for n, engine in enumerate(soc.engines):
        found |= {f"{engine.direction}{n // 2}_{name}": value for name, value in activity(engine).items()}
    return found

# Analyzer -----------------------------------------------------------------------------------------


class Analyzer(LiteScopeAnalyzer):
    """LiteScope analyzer whose probes have the names of ``signals`` on every target.

    Parameters
    ----------
    probes   : {name: expression}, one bit each, in ``sys``.
    depth    : number of samples, one per cycle.
    clk_freq : frequency of ``sys`` in Hz.

    Registers
    ---------
    Those of LiteScope, after the pinned banks.
    """
    def __init__(self, probes, depth, clk_freq):
        self.named = [(name, Signal()) for name in probes]
        LiteScopeAnalyzer.__init__(self, [signal for _, signal in self.named], depth,
            samplerate = clk_freq,
            register   = True,  # A register keeps probes from lengthening paths of the design.
            csr_csv    = None,
        )

        # # #

        self.comb += [signal.eq(probes[name]) for name, signal in self.named]

    def get_name(self, signal):
        return next(name for name, other in self.named if other is signal)

# SoC ----------------------------------------------------------------------------------------------

DEPTH      = 4096  # Samples. About 24 probes need 3 block RAMs of 36 kbit; 33 us at 125 MHz.
MAX_DEPTH  = 65536
BAUDRATE   = 115200
JTAG_HZ    = 20e6  # Fastest cable clock that the constraints allow.

# Devices with a single die, whose user register litex_server can address through OpenOCD. Devices with several dies in
# one JTAG chain (VU9P, U200) use the serial port.
JTAG_DEVICES = ("xc7", "xcku040")


def bridge_of(platform):
    """Returns "jtag" or "serial": the connection of LiteScope's host side to a board."""
    return "jtag" if platform.device.startswith(JTAG_DEVICES) else "serial"


def add_probes(soc, depth=DEPTH, bridge=None):
    """Adds the analyzer and its connection to a ``LitePCIeSoC``, after ``add_litepcie``.

    Parameters
    ----------
    soc    : the SoC; with JTAG it needs ``crg.cd_sys``.
    depth  : number of samples, one per cycle of ``sys``.
    bridge : "jtag" or "serial", a master of the SoC's bus. None: the one that fits the device.

    Raises ``ValueError`` if an argument is not supported.
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
    """Writes the files that ``litescope_cli`` needs: ``analyzer.csv`` (probes) and ``csr.csv`` (registers).

    The SoC must be finalised.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    soc.analyzer.export_csv(soc.analyzer, str(folder / "analyzer.csv"))
    write_if_changed(folder / "csr.csv", reproducible(get_csr_csv(soc.csr.regions, soc.constants, soc.mem_regions)))
