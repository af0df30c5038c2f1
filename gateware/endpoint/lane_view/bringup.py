#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the image for bring-up has besides the state of the lane, see `layout`: an instrument for the SerDes.

Counters are in the clock domains of what they count and stand still without RUN, so that the bus reads them without a
crossing, also if a clock is dead.
"""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage

from litepcie_soc.endpoint.lane_view.layout import (
    BRINGUP_PAGE, CAPTURE_BEFORE, CAPTURE_PAGE, CAPTURE_WORDS, HALF_BITS, TEST_MODES, TRIGGERS,
)
from litepcie_soc.endpoint.lane_view.state import SERIAL_BAUD, LaneState, add_lane_port
from litepcie_soc.endpoint.physical.compliance import D10_2, CompliancePattern
from litepcie_soc.endpoint.physical.link import Link
from litepcie_soc.endpoint.serdes.interface import COM, SERDES_LAYOUT, SerDesInterface
from litepcie_soc.phy.crossing import in_pcie

# Capture ------------------------------------------------------------------------------------------
# Records what the SerDes gives, around a trigger, before anything interprets it.


class BusCapture(LiteXModule):
    """Records CAPTURE_WORDS words of a receive bus, of which CAPTURE_BEFORE are from before the trigger.

    The clock of the bus may stand still: then nothing is recorded until it runs. ``trigger`` and ``value`` may change
    while a recording waits.

    Parameters
    ----------
    bus   : 24, pcie_rx_free; halves of 12 bits: data, K, and three bits of status.
    flags : 8 at most, asynchronous; recorded above the bus.

    Attributes
    ----------
    arm     : 1, **in**, asynchronous; a change begins a recording. To be kept until
    done    : 1, **out**, pcie_rx_free; has the same value: the recording is complete.
    trigger : 2, **in**, asynchronous; place in TRIGGERS.
    value   : 5, **in**, asynchronous; the status that is waited for.
    state   : 1, **in**, asynchronous; the LTSSM is in the state that is waited for.
    first   : **out**, pcie_rx_free; place of the oldest word.
    memory  : ``Memory``, with the words.
    """
    def __init__(self, bus, flags):
        self.arm     = Signal()
        self.done    = Signal(reset_less=True)
        self.trigger = Signal(2)
        self.value   = Signal(5)
        self.state   = Signal()
        self.first   = Signal(max=CAPTURE_WORDS, reset_less=True)
        self.memory  = memory = Memory(32, CAPTURE_WORDS, name="capture")

        # # #

        write          = memory.get_port(write_capable=True, clock_domain="pcie_rx_free")
        self.specials += write
        arm, trigger, value, state, seen = Signal(), Signal(2), Signal(5), Signal(), Signal(len(flags))
        self.specials += [MultiReg(outer, inner, "pcie_rx_free") for outer, inner in ((self.arm, arm),
            (self.trigger, trigger), (self.value, value), (self.state, state), (flags, seen))]
        word    = Signal(32, reset_less=True)
        hit     = Signal(reset_less=True)
        halves  = [word[half*HALF_BITS:(half + 1)*HALF_BITS] for half in range(2)]
        finds   = {
            "now":    1,
            "comma":  Reduce("OR", [half[:9] == (1 << 8 | COM) for half in halves]),
            "state":  state,
            "status": Reduce("OR", [half[9:] == value[:3] for half in halves]),
        }
        running = Signal(reset_less=True)
        before  = Signal(max=CAPTURE_BEFORE + 1, reset_less=True)
        left    = Signal(max=CAPTURE_WORDS, reset_less=True)
        found   = Signal(reset_less=True)
        kept    = Signal(32, reset_less=True)
        self.comb += [write.adr.eq(self.first), write.dat_w.eq(kept), write.we.eq(running)]
        self.sync.pcie_rx_free += [
            word.eq(Cat(bus, seen)),
            kept.eq(word),
            Case(trigger, {n: hit.eq(finds[name]) for n, name in enumerate(TRIGGERS)}),
            If(~running,
                before.eq(CAPTURE_BEFORE),
                left.eq(CAPTURE_WORDS - CAPTURE_BEFORE - 1),
                found.eq(0),
                running.eq(arm != self.done),
            ).Else(
                self.first.eq(self.first + 1),
                If(before != 0, before.eq(before - 1)).Elif(hit, found.eq(1)),
                If(found | (hit & (before == 0)),
                    left.eq(left - 1),
                    If(left == 0, running.eq(0), self.done.eq(arm)),
                ),
            ),
        ]

# Counters -----------------------------------------------------------------------------------------


class ChangeCount(LiteXModule):
    """Counts the changes of an asynchronous signal.

    Attributes
    ----------
    run   : 1, **in**; changes count.
    level : 1, **out**; the signal.
    count : 32, **out**.
    """
    def __init__(self, signal):
        self.run   = Signal()
        self.level = Signal()
        self.count = Signal(32)

        # # #

        before         = Signal()
        self.specials += MultiReg(signal, self.level)
        self.sync     += [before.eq(self.level), If(self.run & (self.level != before), self.count.eq(self.count + 1))]


class Divider(LiteXModule):
    """Divides a clock, so that the bus can count it.

    Attributes
    ----------
    toggle : 1, **out**; changes every 8 cycles of the domain, or 16.
    """
    def __init__(self, domain, sixteen=False):
        count       = Signal(5 if sixteen else 4, reset_less=True)
        self.toggle = count[-1]

        # # #

        getattr(self.sync, domain).__iadd__(count.eq(count + 1))


class StatusCounts(LiteXModule):
    """Counts the symbols with each of the eight values of their status.

    Attributes
    ----------
    run    : 1, **in**, asynchronous; symbols count.
    counts : [32] * 8, **out**, pcie_rx.
    """
    def __init__(self, status, valid):
        self.run    = Signal()
        self.counts = [Signal(32, reset_less=True, name=f"count_{n}") for n in range(8)]

        # # #

        run            = Signal()
        self.specials += MultiReg(self.run, run, "pcie_rx")
        for n, count in enumerate(self.counts):
            lower, upper, amount = Signal(reset_less=True), Signal(reset_less=True), Signal(2, reset_less=True)
            self.sync.pcie_rx += [
                lower.eq(run & valid & (status[:3] == n)),
                upper.eq(run & valid & (status[3:] == n)),
                amount.eq(lower + upper),
                count.eq(count + amount),
            ]

# Transmitter --------------------------------------------------------------------------------------


class PatternMux(LiteXModule):
    """Passes the symbols of the link on, or sends a pattern instead. The reverse direction is only connected.

    Attributes
    ----------
    sink : `SerDesInterface`, pcie; for `Link`.
    mode : 2, **in**, asynchronous; place in TEST_MODES.
    hold : 1, **out**, pcie; the LTSSM is to stay in Polling.Active.
    """
    def __init__(self, serdes):
        self.sink = sink = SerDesInterface()
        self.mode = Signal(2)
        self.hold = Signal()

        # # #

        mode = Signal(2)
        self.specials += MultiReg(self.mode, mode, "pcie")
        self.pattern   = pattern = in_pcie(CompliancePattern())
        compliance     = mode == list(TEST_MODES).index("compliance")
        square         = mode == list(TEST_MODES).index("d10.2")
        inward = ("rx_data", "rx_k", "rx_error", "rx_valid", "rx_idle", "rx_overflow", "ready", "detect_done",
            "detect_present")
        outward = {name for name, _ in SERDES_LAYOUT} - {*inward, "tx_data", "tx_k", "tx_idle", "tx_negative"}
        self.comb += [
            [getattr(sink, name).eq(getattr(serdes, name)) for name in inward],
            [getattr(serdes, name).eq(getattr(sink, name)) for name in sorted(outward)],
            self.hold.eq(mode != 0),
            pattern.enable.eq(compliance),
            serdes.tx_data.eq(sink.tx_data),
            serdes.tx_k.eq(sink.tx_k),
            serdes.tx_idle.eq(sink.tx_idle),
            serdes.tx_negative.eq(sink.tx_negative),
            If(compliance,
                serdes.tx_data.eq(pattern.data),
                serdes.tx_k.eq(pattern.k),
                serdes.tx_idle.eq(0),
                serdes.tx_negative.eq(pattern.negative),
            ).Elif(square,
                serdes.tx_data.eq(D10_2 << 8 | D10_2),
                serdes.tx_k.eq(0),
                serdes.tx_idle.eq(0),
                serdes.tx_negative.eq(0),
            ),
        ]

# Registers ----------------------------------------------------------------------------------------


class BringUpRegisters(LiteXModule):
    """Registers on the bus of the SoC, at BRINGUP_PAGE; those of ``software/user/util/litepcie_lane.h``."""
    def __init__(self):
        self.test = CSRStorage(description="What the lane does, and the counters.", fields=[
            CSRField("mode", size=2, description="one of TESTS"),
            CSRField("run",  description="the counters of this page run; they may be read without it only"),
        ])
        self.cycles   = CSRStatus(32, description="Cycles of CLOCK_HZ with RUN.")
        self.transmit = CSRStatus(32, description="Cycles of 8 ns of the transmit clock, divided by 8.")
        self.receive  = CSRStatus(32, description="Cycles of 8 ns of the recovered clock, divided by 8.")
        self.los      = CSRStatus(32, description="Changes of loss of signal.")
        self.lol      = CSRStatus(32, description="Changes of loss of lock of the receiver.")
        self.plol     = CSRStatus(32, description="Changes of loss of lock of the transmit PLL, by the SerDes.")
        self.levels   = CSRStatus(description="What the SerDes says now.", fields=[
            CSRField("los",  description="loss of signal"),
            CSRField("lol",  description="loss of lock of the receiver"),
            CSRField("plol", description="loss of lock of the transmit PLL"),
        ])
        self.detections = CSRStatus(32, description="Receiver detections that ended, whether RUN or not.")
        self.detected   = CSRStatus(32, description="The last 16: two bits each, the newest lowest; DONE, then CON.")
        for n in range(8):
            setattr(self, f"status_{n}", CSRStatus(32, name=f"status_{n}",
                description=f"Received symbols with status {n}."))
        self.capture = CSRStorage(description="Recording of the receive bus.", fields=[
            CSRField("arm", pulse=True, description="begins one"),
            CSRField("trigger", size=2, offset=1, description="one of TRIGGERS"),
            CSRField("value",   size=5, offset=4, description="the state or the status"),
        ])
        self.captured = CSRStatus(description="Progress of the recording.", fields=[
            CSRField("busy",  description="it waits for its trigger, or for the recovered clock"),
            CSRField("first", size=9, offset=8, description="word of CAPTURE_WORDS that is the oldest"),
        ])
        self.sci = CSRStorage(description="An access to a register of the SerDes, which this write begins.", fields=[
            CSRField("data",    size=8),
            CSRField("address", size=6, offset=8),
            CSRField("common",  offset=14, description="a register of both channels"),
            CSRField("write",   offset=15),
        ])
        self.sci_result = CSRStatus(description="Of the last access.", fields=[
            CSRField("data", size=8, description="what was read"),
            CSRField("busy", offset=8),
        ])

# Bring-up -----------------------------------------------------------------------------------------


class BringUp(BringUpRegisters):
    """The instrument: registers, what they show of a channel, and a pattern instead of what the link sends.

    Parameters
    ----------
    serdes  : `SerDesInterface` of the channel.
    channel : `ECP5Channel` with its registers (``sci``).

    Attributes
    ----------
    test_pattern : `PatternMux`, whose ``sink`` is for `Link`.
    """
    def __init__(self, serdes, channel):
        BringUpRegisters.__init__(self)
        self.cd_pcie_rx_free = ClockDomain(reset_less=True)

        # # #

        self.comb += self.cd_pcie_rx_free.clk.eq(channel.cd_pcie_rx.clk)
        run = self.test.fields.run
        self.test_pattern = PatternMux(serdes)
        self.comb += self.test_pattern.mode.eq(self.test.fields.mode)
        self.add_counts(channel, run)
        self.add_detections(channel.detection)
        self.add_sci(channel.sci)
        self.recorder = BusCapture(channel.receiver.bus, Cat(channel.rx.los, channel.rx.lol, channel.rx.ready))

    def get_memories(self):
        """LiteX puts the recording onto the bus, to be read only."""
        return [(True, self.recorder.memory)]

    def add_counts(self, channel, run):
        """Counts clocks, changes and symbols while RUN is set."""
        self.transmit_clock = Divider("pcie_free")
        self.receive_clock  = Divider("pcie_rx_free", sixteen=not channel.geared)
        signals = {"transmit": self.transmit_clock.toggle, "receive": self.receive_clock.toggle,
            "los": channel.rx.los, "lol": channel.rx.lol, "plol": channel.block_lol}
        self.sync += If(run, self.cycles.status.eq(self.cycles.status + 1))
        for name, signal in signals.items():
            counter = ChangeCount(signal)
            setattr(self, f"count_{name}", counter)
            self.comb += [counter.run.eq(run), getattr(self, name).status.eq(counter.count)]
            if hasattr(self.levels.fields, name):
                self.comb += getattr(self.levels.fields, name).eq(counter.level)
        self.histogram = histogram = StatusCounts(channel.rx_status, channel.rx_valid)
        self.comb += [
            histogram.run.eq(run),
            [getattr(self, f"status_{n}").status.eq(count) for n, count in enumerate(histogram.counts)],
        ]

    def add_detections(self, detection):
        """Keeps the result of each detection, which stays as it is until the next one."""
        ended, before  = Signal(), Signal()
        self.specials += MultiReg(detection.ended, ended)
        self.sync     += [
            before.eq(ended),
            If(ended != before,
                self.detections.status.eq(self.detections.status + 1),
                self.detected.status.eq(Cat(detection.answered, detection.connected, self.detected.status)),
            ),
        ]

    def add_sci(self, sci):
        """Connects the access to the registers of the block."""
        asked, result = self.sci.fields, self.sci_result.fields
        start         = Signal()
        self.sync    += start.eq(self.sci.re)
        self.comb    += [
            sci.start.eq(start),
            [getattr(sci, name).eq(getattr(asked, name)) for name in ("data", "address", "common", "write")],
            result.data.eq(sci.result),
            result.busy.eq(sci.busy | start),
        ]

    def add_recording(self, ltssm):
        """Connects the recorder with its registers, and with the state of the LTSSM."""
        asked, recorder, done = self.capture.fields, self.recorder, Signal()
        reached    = Signal()
        value_pcie = Signal(5)
        self.specials  += [MultiReg(recorder.done, done), MultiReg(asked.value, value_pcie, "pcie")]
        self.sync.pcie += reached.eq(ltssm.state == value_pcie)
        self.comb += [
            recorder.trigger.eq(asked.trigger),
            recorder.value.eq(asked.value),
            recorder.state.eq(reached),
            self.captured.fields.busy.eq(done != recorder.arm),
            self.captured.fields.first.eq(recorder.first),
        ]
        self.sync += If(asked.arm & (done == recorder.arm), recorder.arm.eq(~recorder.arm))

# SoC ----------------------------------------------------------------------------------------------


def add_bringup(soc, serdes, baud=SERIAL_BAUD, clk_freq=125e6):
    """Makes a SoC the image for bring-up: `Link` on a SerDes, the state of its lane, `BringUp`, and a serial port.

    serdes   : `ECP5SerDes` whose channel has its registers.
    baud     : of the serial port, LiteX's UARTBone.
    clk_freq : of `Link`; another value than 125e6 makes its times shorter, for simulation.
    """
    channel     = serdes.channel
    soc.bringup = bringup = BringUp(serdes.interface, channel)
    pattern     = bringup.test_pattern
    soc.link    = link = in_pcie(Link(pattern.sink, clk_freq))
    soc.comb   += link.ltssm.hold.eq(pattern.hold)
    bringup.add_recording(link.ltssm)
    soc.lane    = LaneState(link, None, serdes.interface, soc.sys_clk_freq, serdes.view)
    soc.csr.add("bringup", n=BRINGUP_PAGE)
    soc.csr.add("bringup_capture", n=CAPTURE_PAGE)
    add_lane_port(soc, baud)
