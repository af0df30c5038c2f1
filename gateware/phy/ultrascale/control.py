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

from litepcie_soc.phy.gate import MSIGate

# MSI ----------------------------------------------------------------------------------------------

# Cycles after which an MSI that the block did not answer is sent again; about 1 ms.
ANSWER_CYCLES = 2**18
# Cycles between the failure of an MSI and its repetition; 16 us or more.
REPEAT_CYCLES = 2**12


class MSIPort(LiteXModule):
    """Sends one MSI at a time, and repeats an MSI that the block failed to send.

    It pulses the bit of the vector, then waits until the block asserts `sent` or `failed`, at most ANSWER_CYCLES. It
    waits REPEAT_CYCLES after a failure. No MSI is sent while `MSIGate` does not pass it. Source: PG156, PG213, "MSI
    Interrupt Interface". The guides do not say whether the block answers an MSI that Bus Master Enable forbids.

    Attributes
    ----------
    sink      : stream of `dat[8]` (vector, 0 to 31), **in**, `pcie`; accepted when the block sent the MSI.
    enable    : Signal(), **in**, `pcie`, MSI Enable.
    master    : Signal(), **in**, `pcie`, Bus Master Enable.
    interrupt : Signal(32), **out**, `pcie`, cfg_interrupt_msi_int.
    sent      : Signal(), **in**, `pcie`, cfg_interrupt_msi_sent.
    failed    : Signal(), **in**, `pcie`, cfg_interrupt_msi_fail.
    """
    def __init__(self):
        self.gate      = gate = MSIGate()
        self.sink      = gate.sink
        self.enable    = gate.enable
        self.master    = gate.master
        self.interrupt = Signal(32)
        self.sent      = Signal()
        self.failed    = Signal()

        # # #

        request = gate.source
        waiting = Signal()  # An MSI was sent, or the pause after a failure lasts.
        paused  = Signal()
        left    = Signal(max=max(ANSWER_CYCLES, REPEAT_CYCLES))
        self.comb += request.ready.eq(waiting & ~paused & self.sent)
        self.sync += [
            self.interrupt.eq(0),
            left.eq(left - 1),
            If(~waiting,
                left.eq(ANSWER_CYCLES - 1),
                waiting.eq(request.valid),
                If(request.valid, self.interrupt.eq(1 << request.dat[:5])),
            ).Elif((self.sent & ~paused) | (left == 0),
                waiting.eq(0),
                paused.eq(0),
            ).Elif(self.failed & ~paused,
                paused.eq(1),
                left.eq(REPEAT_CYCLES - 1),
            ),
        ]

# Configuration Space ------------------------------------------------------------------------------

DEVICE_CONTROL = 0x08   # Offset in the PCI Express capability; Device Control is in bits 15:0 (PCIe 4.0 7.5.3.4).
# Bits of Device Control.
RELAXED_ORDERING = 4    # Enable Relaxed Ordering.
EXTENDED_TAG     = 8    # Extended Tag Field Enable.
NO_SNOOP         = 11   # Enable No Snoop.

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
    """Acknowledges a function level reset of function 0 when the logic in `sys` has reset the function.

    The block holds `in_process` until it sees `done`, and accepts no configuration request meanwhile. `waiting` and
    `reset` cross the clocks as levels, and each changes only after the other did, so that neither clock may miss one.
    A reset of another function, which has no logic of ours, is acknowledged at once. Source: PG156, PG213,
    "Configuration Control Interface".

    Attributes
    ----------
    in_process : Signal(4), **in**, `pcie`, cfg_flr_in_process, one bit per function.
    done       : Signal(4), **out**, `pcie`, cfg_flr_done, one bit per function; asserted for one cycle.
    waiting    : Signal(), **out**, `pcie`, function 0 has to be reset; until `reset`.
    reset      : Signal(), **in**, `pcie`, function 0 is reset; until `waiting` is deasserted.
    """
    def __init__(self):
        self.in_process = Signal(4)
        self.done       = Signal(4)
        self.waiting    = Signal()
        self.reset      = Signal()

        # # #

        previous = Signal(4)
        told     = Signal()     # The block was told; `in_process` is still asserted.
        self.sync += [
            previous.eq(self.in_process),
            self.done.eq(self.in_process & ~previous & 0b1110),
            If(self.waiting,
                If(self.reset, self.waiting.eq(0), told.eq(1), self.done[0].eq(1))
            ).Elif(~self.in_process[0],
                told.eq(0)
            ).Elif(~told & ~self.reset,
                self.waiting.eq(1)
            ),
        ]


class FunctionResetEnd(LiteXModule):
    """Holds the end of a function level reset until `FunctionLevelReset` has seen it.

    Attributes
    ----------
    function_reset : Signal(), **in**, `FunctionLevelReset.waiting`, as seen in `sys`.
    done           : Signal(), **in**, one cycle: the function is reset.
    reset          : Signal(), **out**, to `FunctionLevelReset.reset`.
    """
    def __init__(self):
        self.function_reset = Signal()
        self.done           = Signal()
        self.reset          = Signal()

        # # #

        self.sync += If(~self.function_reset, self.reset.eq(0)).Elif(self.done, self.reset.eq(1))
