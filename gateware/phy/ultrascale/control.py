#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Control interfaces of UltraScale's hard blocks: MSI, configuration space, function-level reset.

All modules are written in `sys`; the PHY moves them to `pcie`, the clock of the hard block, with ClockDomainsRenamer.
"""

from migen import *

from litex.gen import *
from litex.gen.genlib.misc import WaitTimer

from litex.soc.interconnect import stream

# MSI ----------------------------------------------------------------------------------------------

class MSIPort(LiteXModule):
    """Sends one MSI at a time, and repeats an MSI that the block failed to send.

    It pulses the bit of the vector, then waits until the block asserts `sent` or `failed`. Source: PG156, PG213, "MSI
    Interrupt Interface".

    Attributes
    ----------
    sink      : stream of `dat[8]` (vector, 0 to 31), **in**, `pcie`; accepted when the block sent the MSI.
    interrupt : Signal(32), **out**, `pcie`, cfg_interrupt_msi_int.
    sent      : Signal(), **in**, `pcie`, cfg_interrupt_msi_sent.
    failed    : Signal(), **in**, `pcie`, cfg_interrupt_msi_fail.
    """
    def __init__(self):
        self.sink      = sink = stream.Endpoint([("dat", 8)])
        self.interrupt = Signal(32)
        self.sent      = Signal()
        self.failed    = Signal()

        # # #

        waiting = Signal()
        self.comb += sink.ready.eq(waiting & self.sent)
        self.sync += [
            self.interrupt.eq(0),
            If(~waiting,
                waiting.eq(sink.valid),
                If(sink.valid, self.interrupt.eq(1 << sink.dat[:5])),
            ).Elif(self.sent | self.failed,
                waiting.eq(0),
            ),
        ]

# Configuration Space ------------------------------------------------------------------------------

DEVICE_CONTROL = 0x08   # Offset in the PCI Express capability; Device Control is in bits 15:0 (PCIe 4.0 7.5.3.4).
EXTENDED_TAG   = 8      # Bit of Device Control: Extended Tag Field Enable.

READ_INTERVAL = 256     # Cycles between two reads of Device Control.


class DeviceControl(LiteXModule):
    """Reads Device Control periodically, because the block has no port for Extended Tag Field Enable.

    Source: PG156, PG213, "Configuration Management Interface".

    Parameters
    ----------
    capability : int, byte address of the PCI Express capability.

    Attributes
    ----------
    address : Constant(10), **out**, cfg_mgmt_addr, address in dwords.
    read    : Signal(), **out**, `pcie`, cfg_mgmt_read; stays asserted until `done`.
    done    : Signal(), **in**, `pcie`, cfg_mgmt_read_write_done: `data` is valid.
    data    : Signal(32), **in**, `pcie`, cfg_mgmt_read_data.
    value   : Signal(16), **out**, `pcie`, Device Control; 0 before the first read.
    """
    def __init__(self, capability):
        self.address = Constant((capability + DEVICE_CONTROL)//4, 10)
        self.read    = Signal()
        self.done    = Signal()
        self.data    = Signal(32)
        self.value   = Signal(16)

        # # #

        self.pause = pause = WaitTimer(READ_INTERVAL)
        self.comb += pause.wait.eq(~self.read)
        self.sync += [
            If(pause.done, self.read.eq(1)),
            If(self.read & self.done, self.read.eq(0), self.value.eq(self.data)),
        ]

# Function Level Reset -----------------------------------------------------------------------------

class FunctionLevelReset(LiteXModule):
    """Acknowledges each function-level reset at once, with one pulse.

    No logic of ours has to be waited for: the reset clears Bus Master Enable, which stops the engines. Source: PG156,
    PG213, "Configuration Control Interface".

    Attributes
    ----------
    in_process : Signal(4), **in**, `pcie`, cfg_flr_in_process, one bit per function.
    done       : Signal(4), **out**, `pcie`, cfg_flr_done, one bit per function.
    """
    def __init__(self):
        self.in_process = Signal(4)
        self.done       = Signal(4)

        # # #

        previous = Signal(4)
        self.sync += [
            previous.eq(self.in_process),
            self.done.eq(self.in_process & ~previous),
        ]
