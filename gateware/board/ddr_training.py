#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Brings up DDR3 without a CPU: the chips' initialisation, then where each byte of the bus is written and read."""

from migen import *

from litex.gen import *

from litedram.init import get_sdram_phy_init_sequence
from litedram.phy import dfi

# Constants ----------------------------------------------------------------------------------------

# JESD79-3, 3.3.1: power to reset's end, reset's end to CKE, CKE to the first command; seconds.
RESET_S, CKE_S, COMMAND_S = 200e-6, 500e-6, 1e-6

# Cycles of the controller behind any command: of four of the chips', so that tDLLK and tZQinit (512 of theirs) and
# all shorter ones are kept.
GAP = 160

BITSLIPS       = 8   # Of reads, a beat each.
WRITE_BITSLIPS = 4   # Of writes, two beats each: a cycle of the chips.
DELAYS         = 32  # Taps of a read.

# Two bursts of eight beats, on every byte of the bus. Each is in the chips when the other is written: a write that did
# not arrive is seen. No beat equals its neighbours, or the one of the other burst at any shift of two.
PATTERNS = (
    (0x1e, 0xa5, 0x7c, 0xd2, 0x09, 0xf3, 0x68, 0xb7),
    (0xc4, 0x3b, 0x95, 0x0e, 0xe1, 0x5a, 0x86, 0x4d),
)

# Bits of a command.
CS, WE, CAS, RAS = (1 << n for n in range(4))

ACTIVATE, PRECHARGE, WRITE, READ = RAS | CS, RAS | WE | CS, CAS | WE | CS, CAS | CS


def initialisation(settings, timings, clk_freq):
    """LiteDRAM's sequence as (control, command, address, bank, cycles behind it); control is ODT, CKE and RESET#."""
    sequence, _ = get_sdram_phy_init_sequence(settings, timings)
    control     = ("DFII_CONTROL_ODT", "DFII_CONTROL_CKE", "DFII_CONTROL_RESET_N")
    commands    = {"DFII_COMMAND_CS": CS, "DFII_COMMAND_WE": WE, "DFII_COMMAND_CAS": CAS, "DFII_COMMAND_RAS": RAS}
    state, steps = 0, [(0, 0, 0, 0, int(RESET_S*clk_freq))]
    for _, address, bank, what, _ in sequence:
        words = what.split("|")
        if words[0] in control:
            state   = sum(1 << n for n, name in enumerate(control) if name in words)
            seconds = COMMAND_S if "DFII_CONTROL_CKE" in words else CKE_S
            steps.append((state, 0, 0, 0, int(seconds*clk_freq) + GAP))
        else:
            steps.append((state, sum(commands[word] for word in words), address, bank, GAP))
    return steps

# Training -----------------------------------------------------------------------------------------


class DRAMTraining(LiteXModule):
    """Initialises DDR3 chips, then tries every setting of a PHY without output delays and takes the best of each byte.

    A setting is a write bitslip, a read bitslip and a delay of reads; it passes when two bursts come back as they
    were written. Each byte of the bus gets the middle of its widest run of delays.

    Parameters
    ----------
    settings, timings : LiteDRAM's, of PHY and chips; DDR3, four phases.
    addressbits, bankbits : of the DFI.
    clk_freq : Hz of ``sys``, the PHY's controller side.

    Attributes
    ----------
    dfi     : DFI, **out**, sys; the chips' while not done.
    select  : one a byte, **out**: whom the pulses below are for.
    read_delay_rst, read_delay_inc, read_slip_rst, read_slip, write_slip_rst, write_slip : 1, **out**, pulses.
    done    : 1, **out**: the memory is the controller's.
    failed  : one a byte, **out**, with done: no setting passed.
    """
    def __init__(self, settings, timings, addressbits, bankbits, clk_freq):
        lanes    = settings.strobes
        self.dfi = dfi.Interface(addressbits, bankbits, settings.nranks, settings.dfi_databits, settings.nphases)
        self.select         = Signal(lanes)
        self.read_delay_rst = Signal()
        self.read_delay_inc = Signal()
        self.read_slip_rst  = Signal()
        self.read_slip      = Signal()
        self.write_slip_rst = Signal()
        self.write_slip     = Signal()
        self.done           = Signal()
        self.failed         = Signal(lanes)

        # # #

        self.settings = settings
        self.steps    = initialisation(settings, timings, clk_freq)
        self.control  = Signal(3)
        self.command  = Signal(4)
        self.address  = Signal(addressbits)
        self.bank     = Signal(bankbits)
        self.pattern  = Signal()
        self.passed   = Signal(lanes)
        self.count    = Signal(max=max(step[-1] for step in self.steps) + 1)
        self.add_commands()
        self.add_compare(lanes)
        self.add_search(lanes)
        self.add_sequence(lanes)

    def add_commands(self):
        """Commands on phase 0, data commands on the phases the PHY says."""
        cas = self.command[2] & ~self.command[3]
        for n, phase in enumerate(self.dfi.phases):
            mine = Signal()
            self.comb += [
                mine.eq(n == 0),
                If(cas & self.command[1], mine.eq(self.settings.wrphase == n)),
                If(cas & ~self.command[1], mine.eq(self.settings.rdphase == n)),
                phase.cs_n.eq(~Replicate(self.command[0] & mine, len(phase.cs_n))),
                phase.we_n.eq(~(self.command[1] & mine)),
                phase.cas_n.eq(~(self.command[2] & mine)),
                phase.ras_n.eq(~(self.command[3] & mine)),
                phase.act_n.eq(1),
                phase.wrdata_en.eq(cas & self.command[1] & mine),
                phase.rddata_en.eq(cas & ~self.command[1] & mine),
                phase.address.eq(self.address),
                phase.bank.eq(self.bank),
                phase.odt.eq(Replicate(self.control[0], len(phase.odt))),
                phase.cke.eq(Replicate(self.control[1], len(phase.cke))),
                phase.reset_n.eq(self.control[2]),
            ]

    def add_compare(self, lanes):
        """``passed`` of a byte falls when a beat of it is not the pattern's."""
        for n, phase in enumerate(self.dfi.phases):
            words  = [Cat(*[Replicate(Constant(pattern[2*n + beat], 8), lanes) for beat in range(2)])
                for pattern in PATTERNS]
            self.comb += phase.wrdata.eq(Mux(self.pattern, words[1], words[0]))
            for lane in range(lanes):
                wrong = [phase.rddata[place:place + 8] != phase.wrdata[place:place + 8]
                    for place in (8*lane, 8*(lanes + lane))]
                self.sync += If(phase.rddata_valid & Reduce("OR", wrong), self.passed[lane].eq(0))

    def add_search(self, lanes):
        """The widest run of delays of each byte: its length, last delay and bitslips."""
        self.delay = Signal(max=DELAYS)
        self.rslip = Signal(max=BITSLIPS)
        self.wslip = Signal(max=WRITE_BITSLIPS)
        self.judge = Signal()
        self.best  = []
        for lane in range(lanes):
            run   = Signal(max=DELAYS + 1)
            grown = Signal(max=DELAYS + 1)
            best  = Record([("length", 6), ("end", len(self.delay)), ("rslip", len(self.rslip)),
                ("wslip", len(self.wslip))])
            self.best.append(best)
            self.comb += [
                grown.eq(Mux(self.delay == 0, 0, run) + 1),
                self.failed[lane].eq(self.done & (best.length == 0)),
            ]
            self.sync += If(self.judge,
                run.eq(0),
                If(self.passed[lane],
                    run.eq(grown),
                    If(grown > best.length,
                        best.length.eq(grown),
                        best.end.eq(self.delay),
                        best.rslip.eq(self.rslip),
                        best.wslip.eq(self.wslip),
                    ),
                ),
            )

    def add_sequence(self, lanes):
        self.fsm = fsm = FSM(reset_state="INITIALISE")
        self.add_initialisation(fsm)
        self.add_trial(fsm)
        self.add_choice(fsm, lanes)
        fsm.act("DONE", self.done.eq(1))
        self.comb += If(fsm.ongoing("CHOOSE"), self.select.eq(1 << self.lane)).Else(self.select.eq(2**lanes - 1))

    def add_initialisation(self, fsm):
        step = Signal(max=len(self.steps) + 1)
        self.sync += If(self.count != 0, self.count.eq(self.count - 1))
        fsm.act("INITIALISE",
            If(self.count == 0,
                If(step == len(self.steps),
                    NextState("FIRST"),
                ).Else(
                    Case(step, {n: [
                        NextValue(self.control, control),
                        self.command.eq(command),
                        self.address.eq(address),
                        self.bank.eq(bank),
                        NextValue(self.count, cycles),
                    ] for n, (control, command, address, bank, cycles) in enumerate(self.steps)}),
                    NextValue(step, step + 1),
                ),
            ),
        )

    def command_state(self, fsm, name, command, then, *also):
        """Issues a command to row, bank and column 0 and keeps the gap behind it."""
        fsm.act(name, self.command.eq(command), NextValue(self.count, GAP), *also, NextState(f"{name}-GAP"))
        fsm.act(f"{name}-GAP", If(self.count == 0, NextState(then)))

    def add_trial(self, fsm):
        """Both patterns with a setting, then the next: delays, in each read bitslip, in each write bitslip."""
        fsm.act("FIRST",
            self.read_delay_rst.eq(1),
            self.read_slip_rst.eq(1),
            self.write_slip_rst.eq(1),
            NextState("SETTLE"),
        )
        fsm.act("SETTLE", NextValue(self.passed, 2**len(self.passed) - 1), NextValue(self.count, GAP),
            NextState("SETTLE-GAP"))
        fsm.act("SETTLE-GAP", If(self.count == 0, NextState("ACTIVATE")))
        self.command_state(fsm, "ACTIVATE",  ACTIVATE,  "WRITE")
        self.command_state(fsm, "WRITE",     WRITE,     "READ")
        self.command_state(fsm, "READ",      READ,      "PRECHARGE")
        self.command_state(fsm, "PRECHARGE", PRECHARGE, "AGAIN")
        fsm.act("AGAIN",
            NextValue(self.pattern, ~self.pattern),
            If(self.pattern, NextState("JUDGE")).Else(NextState("ACTIVATE")),
        )
        fsm.act("JUDGE", self.judge.eq(1), NextState("NEXT"))
        second = Signal()  # Of the two write bitslips.
        fsm.act("NEXT",
            NextValue(self.delay, self.delay + 1),
            NextState("SETTLE"),
            If(self.delay != DELAYS - 1,
                self.read_delay_inc.eq(1),
            ).Else(
                self.read_delay_rst.eq(1),
                NextValue(self.rslip, self.rslip + 1),
                If(self.rslip != BITSLIPS - 1,
                    self.read_slip.eq(1),
                ).Else(
                    self.read_slip_rst.eq(1),
                    NextValue(self.wslip, self.wslip + 1),
                    NextState("NEXT-WRITE"),
                    If(self.wslip == WRITE_BITSLIPS - 1, NextState("RESET")),
                ),
            ),
        )
        fsm.act("NEXT-WRITE",
            self.write_slip.eq(1),
            NextValue(second, ~second),
            If(second, NextState("SETTLE")),
        )

    def add_choice(self, fsm, lanes):
        """Each byte's best, pulse by pulse."""
        self.lane = lane = Signal(max=max(lanes, 2))
        chosen    = Record(self.best[0].layout)
        delays    = Signal(max=DELAYS)
        rslips    = Signal(max=BITSLIPS)
        wslips    = Signal(max=2*WRITE_BITSLIPS)
        self.comb += Case(lane, {n: [getattr(chosen, name).eq(getattr(best, name)) for name, _ in best.layout]
            for n, best in enumerate(self.best)})
        fsm.act("RESET",
            self.read_delay_rst.eq(1),
            self.read_slip_rst.eq(1),
            self.write_slip_rst.eq(1),
            NextState("CHOSEN"),
        )
        fsm.act("CHOSEN",
            NextValue(delays, chosen.end - chosen.length[1:]),
            NextValue(rslips, chosen.rslip),
            NextValue(wslips, Cat(0, chosen.wslip)),
            NextState("CHOOSE"),
        )
        fsm.act("CHOOSE",
            self.read_delay_inc.eq(delays != 0),
            self.read_slip.eq(rslips != 0),
            self.write_slip.eq(wslips != 0),
            If(delays != 0, NextValue(delays, delays - 1)),
            If(rslips != 0, NextValue(rslips, rslips - 1)),
            If(wslips != 0, NextValue(wslips, wslips - 1)),
            If((delays == 0) & (rslips == 0) & (wslips == 0),
                NextValue(lane, lane + 1),
                NextState("CHOSEN"),
                If(lane == lanes - 1, NextState("DONE")),
            ),
        )
