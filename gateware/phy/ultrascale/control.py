#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What UltraScale's hard blocks want of their user beside TLPs: MSI, configuration space, function level reset."""

from migen import *

from litex.gen import *
from litex.gen.genlib.misc import WaitTimer

from litex.soc.interconnect import stream

# MSI ----------------------------------------------------------------------------------------------

class MSIPort(LiteXModule):
    """One MSI at a time: a pulse on the bit of its vector, then the block says sent or failed, and that is repeated.

    PG156, PG213: "MSI Interrupt Interface". All in the clock of the hard block.

    Attributes
    ----------
    sink      : stream of `dat[8]` (vector, 0 to 31), **in**; taken when sent.
    interrupt : Signal(32), **out**, cfg_interrupt_msi_int.
    sent, failed : Signal(), **in**.
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

DEVICE_CONTROL = 0x08   # In the PCI Express capability: Device Control in bits 15:0 (PCIe 4.0 7.5.3.4).
EXTENDED_TAG   = 8      # Its bit Extended Tag Field Enable.

READ_INTERVAL = 256     # Cycles between two looks at it.


class DeviceControl(LiteXModule):
    """Reads Device Control over and over: the block has no port for Extended Tag Field Enable.

    PG156, PG213: "Configuration Management Interface". All in the clock of the hard block.

    Parameters
    ----------
    capability : int, address of the PCI Express capability, bytes.

    Attributes
    ----------
    address : Constant, cfg_mgmt_addr, dwords.
    read    : Signal(), **out**, stays until
    done    : Signal(), **in**, when `data` is valid.
    data    : Signal(32), **in**.
    value   : Signal(16), **out**, Device Control; 0 until it was read.
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
    """Says that a function level reset is done: nothing here has to be waited for, the engines stop by Bus Master.

    PG156, PG213: "Configuration Control Interface", a pulse per reset. All in the clock of the hard block.

    Attributes
    ----------
    in_process : Signal(4), **in**, a bit a function.
    done       : Signal(4), **out**.
    """
    def __init__(self):
        self.in_process = Signal(4)
        self.done       = Signal(4)

        # # #

        seen = Signal(4)
        self.sync += [
            seen.eq(self.in_process),
            self.done.eq(self.in_process & ~seen),
        ]
