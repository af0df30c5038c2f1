#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Initialises and trains DDR without a CPU."""

import copy
import math

from litedram.init import cmds, get_sdram_phy_init_sequence
from litedram.phy import dfi

from migen import *

from litex.gen import *

# Commands -----------------------------------------------------------------------------------------
# Commands of DDR3 and DDR4 chips, and their initialisation sequence.

# Seconds from power-up to the end of reset, from there to CKE, and from CKE to the first command (JESD79-3 3.3.1,
# JESD79-4 3.3.1).
RESET_S, CKE_S, COMMAND_S = 200e-6, 500e-6, 1e-6

# Controller cycles after every command. Each is four cycles of the chips: enough for tDLLK (512 chip cycles, DDR4 597),
# tZQinit (512, DDR4 1024) and everything shorter.
GAP = 260

# Seconds after a command to an RCD, a DIMM's register of addresses and commands, until its clocks and outputs are
# stable again (JESD82-31, tSTAB).
REGISTER_S = 100e-6

# Bits of a command: a set bit asserts the pin.
CS, WE, CAS, RAS = (1 << n for n in range(4))

ACTIVATE, PRECHARGE, WRITE, READ = RAS | CS, RAS | WE | CS, CAS | WE | CS, CAS | CS

MODE = RAS | CAS | WE | CS

# Mode registers of DDR4. Number 7 selects the RCD's control words.
MR5, MR6, RCD = 5, 6, 7

MR5_DM = 1 << 10  # Enables data masks.

# DDR4 has no reference voltage for DQ until one is written (JESD79-4, DQ Vref training). We choose the middle of the
# signal: high is VDDQ; low is where the FPGA's 40 ohm driver pulls against the chip's 120 ohm termination (RTT_WR).
# That is 62.6 % of VDDQ: step 4 of range 1, which begins at 60 % and has steps of 0.65 %.
MR6_VREF_TRAINING, MR6_VREF = 1 << 7, 4

# Bits that an RCD inverts on its B side: A3 to A9, A11, A13; BA and BG (JESD82-31, output inversion).
B_SIDE_ADDRESS, B_SIDE_BANK = 0x2bf8, 0xf

T_WR_S = 15e-9  # Write recovery of DDR4, the same in all speed bins.


def initialisation(settings, timings, clk_freq, masks=True):
    """LiteDRAM's sequence as a list of (control, command, address, bank, cycles to wait after it).

    The bits of control are ODT, CKE and RESET#. ODT stays low until the end of the sequence, as mode register 1
    enables a termination (JESD79-3 3.3.1, JESD79-4 3.3.1).

    Parameters
    ----------
    settings : LiteDRAM's PHY settings.
    timings  : LiteDRAM's timings of the chips.
    clk_freq : Hz of the controller.
    masks    : whether the chips have data masks (DDR4 only).
    """
    control      = ("ODT", "DFII_CONTROL_CKE", "DFII_CONTROL_RESET_N")
    commands     = {"DFII_COMMAND_CS": CS, "DFII_COMMAND_WE": WE, "DFII_COMMAND_CAS": CAS, "DFII_COMMAND_RAS": RAS}
    state, steps = 0, [(0, 0, 0, 0, int(RESET_S*clk_freq))]
    for address, bank, what in sequence(settings, timings, clk_freq, masks):
        words = what.split("|")
        if "DFII_CONTROL_RESET_N" in words:
            state   = sum(1 << n for n, name in enumerate(control) if name in words)
            seconds = COMMAND_S if "DFII_CONTROL_CKE" in words else CKE_S
            steps.append((state, 0, 0, 0, int(seconds*clk_freq) + GAP))
        else:
            command = sum(commands[word] for word in words)
            seconds = REGISTER_S if (command, bank) == (MODE, RCD) else 0
            steps.append((state, command, address, bank, int(seconds*clk_freq) + GAP))
    return [*steps, (state | 1 << control.index("ODT"), 0, 0, 0, GAP)]


def sequence(settings, timings, clk_freq, masks):
    """LiteDRAM's sequence with the steps it leaves out, as a list of (address, bank, command or control signals)."""
    ddr4         = settings.memtype == "DDR4"
    timings      = copy.copy(timings)
    timings.tWTR = (write_recovery(clk_freq*settings.nphases)/settings.nphases) if ddr4 else timings.tWR
    found        = [step[1:4] for step in get_sdram_phy_init_sequence(settings, timings)[0]]
    if ddr4 and not masks:
        found = [(address & ~MR5_DM if bank == MR5 else address, bank, what) for address, bank, what in found]
    if ddr4:
        mr6    = next(address for address, bank, _ in found if bank == MR6) | MR6_VREF
        found += [(value, MR6, cmds["MODE_REGISTER"])
            for value in (mr6 | MR6_VREF_TRAINING, mr6 | MR6_VREF_TRAINING, mr6)]
    if settings.is_rdimm:
        found = [side for step in found for side in both_sides(*step)]
    return found


def write_recovery(frequency):
    """Write recovery of DDR4 for mode register 0, in chip cycles of ``frequency``: the smallest allowed value.

    It is the time from a write until its row may be closed. The register also sets the time from a read until its row
    may be closed (half as many cycles), for which LiteDRAM's controller has no timing of its own.
    """
    return max(10, 2*math.ceil(T_WR_S*frequency/2))


def both_sides(address, bank, what):
    """Yields the step, and for a mode register of an RDIMM a second one for the RCD's B side, with its inverted bits.

    Each side ignores the command of the other.
    """
    yield address, bank, what
    if what == cmds["MODE_REGISTER"] and bank != RCD:
        yield address ^ B_SIDE_ADDRESS, bank ^ B_SIDE_BANK, what

# Search -------------------------------------------------------------------------------------------
# Search for the widest run of passing settings.


class WidestRun(LiteXModule):
    """Finds the longest run of consecutive positions that passed, and its middle.

    Positions are judged in increasing order, in one or more rows; a run never extends from one row to the next.

    Parameters
    ----------
    positions : most positions in a row.

    Attributes
    ----------
    judge    : 1, **in**, ``passed``, ``first`` and ``position`` are valid.
    passed   : 1, **in**, this position passed.
    first    : 1, **in**, this position begins a row.
    position : log2(positions), **in**, one more than the previous one, except at the beginning of a row.
    wider    : 1, **out**, with ``judge``: this position makes its run the longest so far.
    length   : log2(positions + 1), **out**, length of the longest run; 0 when nothing passed.
    middle   : log2(positions), **out**, its middle; the lower one of two.
    """
    def __init__(self, positions):
        self.judge    = Signal()
        self.passed   = Signal()
        self.first    = Signal()
        self.position = Signal(max=max(positions, 2))
        self.wider    = Signal()
        self.length   = Signal(max=positions + 1)
        self.middle   = Signal(max=max(positions, 2))

        # # #

        run   = Signal(max=positions + 1)
        grown = Signal(max=positions + 2)
        self.comb += [
            grown.eq(Mux(self.first, 0, run) + 1),
            self.wider.eq(self.judge & self.passed & (grown > self.length)),
        ]
        self.sync += [
            If(self.judge, run.eq(Mux(self.passed, grown, 0))),
            If(self.wider, self.length.eq(grown), self.middle.eq(self.position - grown[1:])),
        ]

# Training -----------------------------------------------------------------------------------------

# Controller cycles after a command and after a change of the setting. tRC, write recovery (50 ns, at any clock up to
# 200 MHz) and the return of read data take less.
PAUSE = 32

BEATS = 8  # Number of bitslip positions, of reads and of writes.

# Bitslip pulses of ``DRAMTraining``, and the registers of LiteDRAM's PHYs that each of them strobes.
SLIPS = {
    "read_slip_rst":  ("_rdly_dq_bitslip_rst",),
    "read_slip":      ("_rdly_dq_bitslip",),
    "write_slip_rst": ("_wdly_dq_bitslip_rst",),
    "write_slip":     ("_wdly_dq_bitslip",),
}

# Two bursts of eight beats, sent on every byte of the bus. When one is written, the chips still hold the other, so
# a write that did not arrive is detected. All beats differ, so a beat in a wrong place is detected too.
PATTERNS = (
    (0x1e, 0xa5, 0x7c, 0xd2, 0x09, 0xf3, 0x68, 0xb7),
    (0xc4, 0x3b, 0x95, 0x0e, 0xe1, 0x5a, 0x86, 0x4d),
)


class DRAMTraining(LiteXModule):
    """Initialises DDR3 or DDR4 chips, then finds the best setting of the PHY for each byte of the bus.

    A setting says when a byte is written and when it is read. It passes if two bursts are read back as they were
    written. Writes can be delayed by beats (bitslips; a beat is half a cycle of the chips). With output delays
    they can also be delayed by positions within a beat, DQS and data together; all these form one row from the earliest
    to the latest. Reads can be delayed by beats and taps.

    1. All settings of reads are tried, with a write every half beat. Each byte takes the middle of its widest run of
       passing read delays.
    2. With these, all settings of writes are tried. In the middle of the widest run, DQS is aligned to the clock at the
       chip, whatever the clock's flight time, as the tolerance of DQS is symmetric (JESD79-3, JESD79-4, tDQSS).
       Without output delays, the positions within a beat are phases of DQS, and a byte takes the beat of the middle.
    3. The chosen settings are tried once more.

    After the chips' initialisation this takes at most ``cycles``. At 125 MHz with the delays of series 7 that is 11 ms
    with output delays; without, a model of the Acorn took 11 ms too. At 156.25 MHz with the delays of UltraScale it is
    46 ms (18 ms with 5 ps taps).

    Parameters
    ----------
    settings, timings     : LiteDRAM's settings of the PHY and timings of the chips; DDR3 or DDR4, four phases.
    addressbits, bankbits : widths of the DFI.
    clk_freq : Hz of ``sys``, the clock of the PHY's controller side.
    delays   : delays of the PHY, as ``ResettableDelays``; becomes a submodule. With ``PhaseDelays``, writes are delayed
        by whole beats, and DQS is aligned to the chips' clock within a quarter of its cycle.
    masks    : whether the chips have data masks (DDR4 only).

    Attributes
    ----------
    dfi     : DFI, **out**, drives the chips until ``done``.
    select  : one bit per byte, **out**, the bytes that the pulses below, and those of ``delays``, apply to.
    read_slip_rst, read_slip, write_slip_rst, write_slip : 1, **out**, bitslip pulses. The first slip of a write delays
        it by seven beats; each further one makes it a beat earlier.
    moving  : 1, **out**, the training moves delays; set long before the first and until the last movement.
    done    : 1, **out**, the controller may use the memory.
    failed  : one bit per byte, **out**, with ``done``: no setting passed, or the chosen one failed the last trial.
    """
    def __init__(self, settings, timings, addressbits, bankbits, clk_freq, delays, masks=True):
        lanes    = settings.strobes
        self.dfi = dfi.Interface(addressbits, bankbits, settings.nranks, settings.dfi_databits, settings.nphases)
        self.select          = Signal(lanes)
        self.read_slip_rst   = Signal()
        self.read_slip       = Signal()
        self.write_slip_rst  = Signal()
        self.write_slip      = Signal()
        self.moving          = Signal()
        self.done            = Signal()
        self.failed          = Signal(lanes)

        # # #

        self.settings   = settings
        self.delays     = delays
        self.reads      = delays.read_positions
        self.writes     = delays.write_positions
        self.steps      = initialisation(settings, timings, clk_freq, masks)
        self.control    = Signal(3)
        self.command    = Signal(4)
        self.address    = Signal(addressbits)
        self.bank       = Signal(bankbits)
        self.pattern    = Signal()
        self.last       = Signal()
        self.passed     = Signal(lanes)
        self.count      = Signal(max=max(step[-1] for step in self.steps) + 1)
        self.add_commands()
        self.add_data(lanes)
        self.add_search(lanes)
        self.fsm = fsm = FSM(reset_state="INITIALISE")
        self.add_initialisation(fsm)
        self.add_setting(fsm)
        self.add_trial(fsm)
        self.add_sweep(fsm)
        fsm.act("DONE", self.done.eq(1))

    @property
    def cycles(self):
        """The most cycles of ``sys`` that the training takes after the initialisation."""
        settings = BEATS*self.reads
        rows     = BEATS*self.writes
        setting  = max(self.delays.cycles, BEATS) + 3
        trial    = setting + 9*(PAUSE + 2) + 5
        return (BEATS*min(self.writes, 2)*settings + rows + 1)*trial + (settings + rows)*setting

    def add_commands(self):
        """Sends commands on phase 0, and READ and WRITE on the phases that the PHY's settings give."""
        cas = self.command[2] & ~self.command[3]
        self.write = Signal()
        self.comb += self.write.eq(cas & self.command[1])
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

    def add_data(self, lanes):
        """Drives the patterns and checks the read data; a wrong beat clears ``passed`` of its byte.

        Like the controller, it drives a burst for one cycle only: a setting that writes a whole burst too late fails.
        """
        now = self.write
        for _ in range(self.settings.write_latency):
            before, now = now, Signal()
            self.sync  += now.eq(before)
        for n, phase in enumerate(self.dfi.phases):
            words    = [Cat(*[Replicate(Constant(pattern[2*n + beat], 8), lanes) for beat in range(2)])
                for pattern in PATTERNS]
            expected = Signal(len(phase.wrdata))
            self.comb += [
                expected.eq(Mux(self.pattern, words[1], words[0])),
                phase.wrdata.eq(Mux(now, expected, ~expected)),
            ]
            for lane in range(lanes):
                wrong = [phase.rddata[place:place + 8] != expected[place:place + 8]
                    for place in (8*lane, 8*(lanes + lane))]
                self.sync += If(phase.rddata_valid & Reduce("OR", wrong), self.passed[lane].eq(0))

    def add_search(self, lanes):
        """Finds the best settings of each byte. While choosing, selects the bytes that take the present setting."""
        self.writing, self.choosing, self.judge = Signal(), Signal(), Signal()
        self.read_tap   = Signal(max=self.reads)
        self.read_beat  = Signal(max=BEATS)
        self.write_tap  = Signal(max=max(self.writes, 2))
        self.write_beat = Signal(max=BEATS)
        rows            = BEATS*self.writes
        self.write_row  = Signal(max=rows)
        # Choosing sweeps all settings again: all bytes move to the first one, then each one moves to its best.
        first           = Signal()
        self.comb += first.eq(Mux(self.writing, self.write_row == 0, (self.read_beat == 0) & (self.read_tap == 0)))
        for lane in range(lanes):
            reads, late = WidestRun(self.reads), WidestRun(rows)
            beat        = Signal(max=BEATS)
            self.submodules += reads, late
            self.comb += [
                reads.judge.eq(self.judge & ~self.writing),
                reads.first.eq(self.read_tap == 0),
                reads.position.eq(self.read_tap),
                late.judge.eq(self.judge & self.writing),
                late.first.eq(self.write_row == 0),
                late.position.eq(self.write_row),
                reads.passed.eq(self.passed[lane]),
                late.passed.eq(self.passed[lane]),
                self.select[lane].eq(~self.choosing | first | Mux(self.writing, self.write_row == late.middle,
                    (self.read_beat == beat) & (self.read_tap == reads.middle))),
            ]
            self.sync += If(reads.wider, beat.eq(self.read_beat))

    def add_initialisation(self, fsm):
        step = Signal(max=len(self.steps) + 1)
        self.comb += self.moving.eq((step == len(self.steps)) & ~self.last)
        self.sync += If(self.count != 0, self.count.eq(self.count - 1))
        fsm.act("INITIALISE",
            If(self.count == 0,
                If(step == len(self.steps),
                    NextState("RESET"),
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

    def add_setting(self, fsm):
        """Moves the selected bytes to the present setting, pulse by pulse; read delays only in the sweep of reads."""
        delays = self.delays
        reads  = Signal(max=BEATS)
        writes = Signal(max=BEATS)
        self.comb += [
            delays.writing.eq(self.writing),
            delays.choosing.eq(self.choosing),
            delays.read_position.eq(self.read_tap),
            delays.write_position.eq(self.write_tap),
        ]
        fsm.act("RESET",
            delays.start.eq(1),
            self.read_slip_rst.eq(~self.writing),
            self.write_slip_rst.eq(1),
            NextValue(reads, Mux(self.writing, 0, self.read_beat)),
            NextValue(writes, -self.write_beat),
            NextState("MOVE"),
        )
        fsm.act("MOVE",
            If(reads != 0, self.read_slip.eq(1), NextValue(reads, reads - 1)),
            If(writes != 0, self.write_slip.eq(1), NextValue(writes, writes - 1)),
            If((reads == 0) & (writes == 0) & delays.done,
                If(self.choosing, NextState("NEXT")).Else(NextState("SETTLE")),
            ),
        )

    def command_state(self, fsm, name, command, then):
        """States that issue a command to row, bank and column 0, and then pause."""
        fsm.act(name, self.command.eq(command), NextValue(self.count, PAUSE), NextState(f"{name}-PAUSE"))
        fsm.act(f"{name}-PAUSE", If(self.count == 0, NextState(then)))

    def add_trial(self, fsm):
        """Writes and reads both patterns with the present setting. The last trial gives ``failed``."""
        fsm.act("SETTLE", NextValue(self.passed, 2**len(self.passed) - 1), NextValue(self.count, PAUSE),
            NextState("SETTLE-PAUSE"))
        fsm.act("SETTLE-PAUSE", If(self.count == 0, NextState("ACTIVATE")))
        self.command_state(fsm, "ACTIVATE",  ACTIVATE,  "WRITE")
        self.command_state(fsm, "WRITE",     WRITE,     "READ")
        self.command_state(fsm, "READ",      READ,      "PRECHARGE")
        self.command_state(fsm, "PRECHARGE", PRECHARGE, "AGAIN")
        fsm.act("AGAIN",
            NextValue(self.pattern, ~self.pattern),
            If(self.pattern, NextState("JUDGE")).Else(NextState("ACTIVATE")),
        )
        fsm.act("JUDGE",
            self.judge.eq(~self.last),
            NextState("NEXT"),
            If(self.last, NextValue(self.failed, ~self.passed), NextState("DONE")),
        )

    def add_sweep(self, fsm):
        """Steps to the next setting of the sweep: reads are tried, then chosen; the same for writes."""
        half = self.writes//2
        end  = Signal()
        self.comb += If(self.writing,
            end.eq((self.write_tap == self.writes - 1) & (self.write_beat == BEATS - 1)),
        ).Else(
            end.eq((self.read_tap == self.reads - 1) & (self.read_beat == BEATS - 1) & (self.choosing |
                (self.write_tap == half) & (self.write_beat == BEATS - 1))),
        )
        fsm.act("NEXT",
            NextState("RESET"),
            If(self.writing,
                NextValue(self.write_row, self.write_row + 1),
                NextValue(self.write_tap, self.write_tap + 1),
                If(self.write_tap == self.writes - 1,
                    NextValue(self.write_tap, 0),
                    NextValue(self.write_beat, self.write_beat + 1),
                ),
            ).Else(
                NextValue(self.read_tap, self.read_tap + 1),
                If(self.read_tap == self.reads - 1,
                    NextValue(self.read_tap, 0),
                    NextValue(self.read_beat, self.read_beat + 1),
                    If((self.read_beat == BEATS - 1) & ~self.choosing,
                        NextValue(self.write_tap, Mux(self.write_tap == half, 0, half)),
                        If(self.write_tap == half,
                            NextValue(self.write_beat, self.write_beat + 1),
                        ),
                    ),
                ),
            ),
            If(end,
                NextValue(self.write_row, 0),
                NextValue(self.choosing, ~self.choosing),
                If(self.choosing, NextValue(self.writing, 1)),
                If(self.choosing & self.writing, NextValue(self.last, 1), NextState("SETTLE")),
            ),
        )
