#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""SerDes of ECP5 at the boundary that the endpoint knows."""

from migen import *
from migen.genlib.cdc import MultiReg
from migen.genlib.resetsync import AsyncResetSynchronizer

from litex.gen import *

from litepcie_soc.endpoint.serdes.ecp5.coded import BUS, CodedReceiver, CodedTransmitter
from litepcie_soc.endpoint.serdes.ecp5.lock import PCIE_HZ, STEADY_WINDOW, WINDOW, ReferenceClock, TransmitLock
from litepcie_soc.endpoint.serdes.ecp5.pads import check_pads, reaches_fabric
from litepcie_soc.endpoint.serdes.ecp5.raw import RawReceiver, RawTransmitter
from litepcie_soc.endpoint.serdes.ecp5.reset import LIMIT_CYCLES, ReceiveReset, ReceiverDetect, TransmitReset, Waits
from litepcie_soc.endpoint.serdes.ecp5.words import RATE_MODES, SerDesRegisters, dcu_words
from litepcie_soc.endpoint.serdes.elastic import ElasticBuffer
from litepcie_soc.endpoint.serdes.interface import SerDesInterface, SerDesView

# Channel ------------------------------------------------------------------------------------------
# One SerDes channel of ECP5: two symbols per cycle at 125 MHz, each direction in its own clock domain.

# Cycles of ``pcie`` after receiver detection in which the lane is reported idle: our own pulse may look like a signal.
QUIET_CYCLES = 125


class ECP5Channel(LiteXModule):
    """The block ``DCUA`` with its reference clock, resets, receiver detection and registers on both sides of the bus.

    Every bit of the bus is registered on both sides, as nextpnr's timing model of the block is nominal.

    Parameters
    ----------
    pads            : ``clk_p``, ``clk_n``, ``rx_p``, ``rx_n``, ``tx_p``, ``tx_n``.
    perst_n         : the slot's reset, low while the slot is in reset.
    sys_clk_freq    : Hz of ``sys``, which runs the reset sequence.
    refclk_freq     : Hz of the reference clock that the PLL tries first: 100e6 or 200e6.
    dcu, channel    : location; ``pads.check_pads`` compares it with the pads.
    analogue, mode  : options of ``words.dcu_words``.
    measure_refclk  : False: the reference clock does not reach the fabric.
    receiver_detect : False: receiver detection always says "present".
    registers       : the registers of the block can be read and written, see ``sci``.
    divisor         : makes the waits of the reset sequence shorter, for simulation.

    Attributes
    ----------
    tx_data        : 16, **in**, pcie; two symbols, the lower half is first in time. Like ``tx_k`` and ``tx_idle``.
    tx_k           : 2, **in**, pcie; control symbols.
    tx_idle        : 2, **in**, pcie; electrical idle.
    tx_negative    : 1, **in**, pcie; the lower symbol is coded with negative running disparity (FORCE).
    rx_data        : 16, **out**, pcie_rx; two symbols.
    rx_k           : 2, **out**, pcie_rx; control symbols.
    rx_error       : 2, **out**, pcie_rx; symbols with a wrong code or a wrong running disparity.
    rx_status      : 6, **out**, pcie_rx; what the block reports with each symbol, three bits for each.
    rx_valid       : 1, **out**, pcie_rx; there are two symbols in this cycle.
    rx_ready       : 1, **out**, pcie; received symbols are good. ``pcie_rx`` is in reset until then.
    rx_overflow    : 1, **out**, pcie; a pulse: the compensation of the block lost or repeated symbols.
    rx_idle        : 1, **out**, pcie; the lane is in electrical idle.
    ready          : 1, **out**, pcie; the transmitter works. ``pcie`` is in reset until then.
    polarity       : 1, **in**, pcie; invert the received lane.
    strict         : 1, **in**, pcie; see ``CodedReceiver``.
    align          : 1, **in**, pcie; the link found no ordered set yet. After 2 ms of it, the receiver is reset.
    detect         : 1, **in**, pcie; a pulse starts receiver detection.
    detect_done    : 1, **out**, pcie; the result of receiver detection is valid.
    detect_present : 1, **out**, pcie; result of receiver detection.
    refclk_ok      : 1, **out**; as in ``ReferenceClock``; if it is not measured, the transmit PLL is locked.
    refclk_cycles  : 24, **out**; as in ``ReferenceClock``; 0 if it is not measured.
    refclk_hz      : 28, **out**; Hz of the reference clock for which the transmit PLL is set.
    pll_lol        : 1, **out**; the block itself says that the transmit PLL is not locked. Nothing depends on it.
    reference      : ``ReferenceClock``. None: it is not measured.
    sci            : ``SerDesRegisters``. None: there is no access to them.
    cd_pcie, cd_pcie_rx      : clock domains.
    words, block             : words of the block by name, and its instance.
    """
    def __init__(self, pads, perst_n, sys_clk_freq, *, refclk_freq=100e6, dcu=0, channel=0, analogue="wizard",
        mode="pcie", measure_refclk=True, receiver_detect=True, registers=False, divisor=1):
        if refclk_freq not in RATE_MODES:
            raise ValueError(f"a reference clock of {refclk_freq:g} Hz is not supported; choose "
                f"{' or '.join(f'{freq:g}' for freq in RATE_MODES)}")
        self.words          = dcu_words(channel, analogue=analogue, mode=mode)
        self.tx_data        = Signal(16)
        self.tx_k           = Signal(2)
        self.tx_idle        = Signal(2)
        self.tx_negative    = Signal()
        self.rx_data        = Signal(16)
        self.rx_k           = Signal(2)
        self.rx_error       = Signal(2)
        self.rx_status      = Signal(6)
        self.rx_valid       = Signal()
        self.rx_ready       = Signal()
        self.rx_overflow    = Signal()
        self.rx_idle        = Signal()
        self.ready          = Signal()
        self.polarity       = Signal()
        self.strict         = Signal()
        self.align          = Signal()
        self.detect         = Signal()
        self.detect_done    = Signal()
        self.detect_present = Signal()
        self.cd_refclk      = ClockDomain(reset_less=True)
        self.cd_pcie_free   = ClockDomain(reset_less=True)
        self.cd_pcie        = ClockDomain()
        self.cd_pcie_rx     = ClockDomain()

        # # #

        self.place       = dcu, channel
        self.refclk_freq = refclk_freq
        self.ctc         = mode == "ctc"
        self.raw         = mode == "raw"
        self.geared      = mode != "no-gear"
        self.lock        = TransmitLock(sys_clk_freq, max(STEADY_WINDOW // divisor, 128))
        self.reference   = ReferenceClock(sys_clk_freq, RATE_MODES, max(WINDOW // divisor, 256)) if measure_refclk \
            else None
        self.sci         = SerDesRegisters() if registers else None
        self.add_resets(Waits.at(sys_clk_freq, divisor), perst_n)
        self.add_detection(receiver_detect and not self.raw, divisor)
        self.add_symbols()
        if not self.geared:
            self.add_symbol_clock(perst_n)
        self.add_block(pads)

    # Parts ----------------------------------------------------------------------------------------

    def add_resets(self, waits, perst_n):
        """Adds the reset sequence, and the resets of the clock domains."""
        self.tx = TransmitReset(waits, RATE_MODES[self.refclk_freq])
        self.rx = ReceiveReset(waits)
        self.refclk_ok, self.refclk_cycles = (self.lock.locked, Signal(24)) if self.reference is None \
            else (self.reference.ok, self.reference.cycles)
        self.refclk_hz = Signal(28)
        self.comb     += Case(self.tx.rate, {rate: self.refclk_hz.eq(int(hz)) for hz, rate in RATE_MODES.items()})
        self.pll_lol, self.block_lol = Signal(), Signal()
        self.specials += MultiReg(self.block_lol, self.pll_lol)
        self.comb += [
            self.cd_pcie_free.clk.eq(self.cd_pcie.clk),
            self.tx.locked.eq(self.lock.locked),
            self.rx.enable.eq(self.tx.ready),
        ]
        self.sync.pcie += self.ready.eq(1)
        self.specials += [
            AsyncResetSynchronizer(self.cd_pcie, ~self.tx.ready | ~perst_n),
            AsyncResetSynchronizer(self.cd_pcie_rx, ~self.rx.ready),
            MultiReg(self.rx.ready, self.rx_ready, "pcie"),
        ]
        search = self.add_overflow() if self.ctc else self.align
        self.specials += MultiReg(search, self.rx.align)

    def add_overflow(self):
        """Reports that the compensation of the block ran over or empty. Returns whether the PCS must be reset.

        Only a reset of the PCS clears the block's flags.
        """
        self.overrun, self.underrun = Signal(), Signal()
        flags, flag   = Signal(2), Signal()
        before, again = Signal(reset=1), Signal()
        self.specials  += MultiReg(Cat(self.overrun, self.underrun), flags, "pcie")
        self.comb      += flag.eq(flags != 0)
        self.sync.pcie += [
            before.eq(flag | ~self.rx_ready),
            self.rx_overflow.eq(flag & ~before),
            again.eq(self.align | flag),
        ]
        return again

    def add_detection(self, receiver_detect, divisor):
        """Adds receiver detection, and reports the lane idle meanwhile."""
        self.detection = detection = ReceiverDetect(not receiver_detect, max(LIMIT_CYCLES // divisor, 1250))
        quiet, idle    = Signal(max=QUIET_CYCLES + 1), Signal(reset=1)
        self.comb     += [
            detection.start.eq(self.detect),
            self.detect_done.eq(detection.done),
            self.detect_present.eq(detection.present),
        ]
        self.specials  += MultiReg(self.rx.idle, idle, "pcie", reset=1)
        self.sync.pcie += [
            If(detection.detect, quiet.eq(QUIET_CYCLES)).Elif(quiet != 0, quiet.eq(quiet - 1)),
            self.rx_idle.eq(idle | detection.detect | (quiet != 0)),
        ]

    def add_symbols(self):
        """Adds what is between symbols and the bus of the block, registers on both sides included."""
        self.sender   = sender   = RawTransmitter() if self.raw else CodedTransmitter(self.geared)
        self.receiver = receiver = RawReceiver() if self.raw else CodedReceiver(self.geared)
        self.comb += [
            sender.data.eq(self.tx_data),
            sender.k.eq(self.tx_k),
            sender.negative.eq(self.tx_negative),
            sender.idle.eq(self.tx_idle),
            self.rx_data.eq(receiver.data),
            self.rx_k.eq(receiver.k),
            self.rx_error.eq(receiver.error),
            self.rx_status.eq(receiver.status),
            receiver.strict.eq(self.strict),
            self.rx_valid.eq(receiver.valid),
        ]
        if self.raw:
            self.comb += receiver.invert.eq(self.polarity)

    def add_symbol_clock(self, perst_n):
        """Divides the clock of the block, one symbol per cycle, by two."""
        self.cd_symbol      = ClockDomain()
        self.cd_symbol_free = ClockDomain(reset_less=True)
        self.comb          += self.cd_symbol_free.clk.eq(self.cd_symbol.clk)
        self.sync.symbol_free += self.cd_pcie.clk.eq(~self.cd_pcie.clk)
        self.specials      += AsyncResetSynchronizer(self.cd_symbol, ~self.tx.ready | ~perst_n)

    def constrain(self, platform):
        """Adds the constraints of the channel's clocks to a platform, and returns {net: Hz}.

        A reference clock that does not reach the fabric clocks no register there.
        """
        block_hz = PCIE_HZ if self.geared else 2*PCIE_HZ
        clocks   = {self.cd_pcie: PCIE_HZ}
        if self.reference is not None:
            clocks[self.cd_refclk] = self.refclk_freq
        if not self.ctc:
            clocks[self.cd_pcie_rx] = block_hz
        if not self.geared:
            clocks[self.cd_symbol] = block_hz
        for domain, hz in clocks.items():
            domain.clk.attr.add("keep")
            platform.add_platform_command(f'FREQUENCY NET "{{clk}}" {hz / 1e6} MHz;', clk=domain.clk)
        return {f"{domain.name}_clk": hz for domain, hz in clocks.items()}

    def add_block(self, pads):
        """Adds the reference clock buffer and the block."""
        dcu, channel = self.place
        polarity     = Signal()
        self.sync.pcie += polarity.eq(self.polarity)
        self.specials  += Instance("EXTREFB",
            p_REFCK_PWDNB     = "0b1",
            p_REFCK_RTERM     = "0b1",
            p_REFCK_DCBIAS_EN = "0b0",
            i_REFCLKP = pads.clk_p,
            i_REFCLKN = pads.clk_n,
            o_REFCLKO = self.cd_refclk.clk,
            attr      = {("LOC", f"EXTREF{dcu}")},
        )
        # The compensation in the block gives its data on the transmit clock.
        sent     = self.cd_pcie.clk if self.geared else self.cd_symbol.clk
        received = self.cd_pcie.clk if self.ctc else self.cd_pcie_rx.clk
        if self.ctc:
            self.comb += self.cd_pcie_rx.clk.eq(self.cd_pcie.clk)
        lane = {
            "i_HDINP":             pads.rx_p,
            "i_HDINN":             pads.rx_n,
            "o_HDOUTP":            pads.tx_p,
            "o_HDOUTN":            pads.tx_n,
            "i_RX_REFCLK":         self.cd_refclk.clk,
            "i_FF_TXI_CLK":        sent,
            "i_FF_RXI_CLK":        received,
            "i_FF_EBRD_CLK":       self.cd_pcie.clk if self.ctc else 1,
            "o_FF_TX_PCLK":        sent,
            "o_FF_RX_PCLK":        Signal() if self.ctc else self.cd_pcie_rx.clk,
            "i_FFC_TXPWDNB":       1,
            "i_FFC_RXPWDNB":       1,
            "i_FFC_SIGNAL_DETECT": 1,
            "i_FFC_ENABLE_CGALIGN": 0, # An edge would search the comma; the link state machine of the block does.
            "i_FFC_EI_EN":         self.sender.quiet,
            "i_FFC_SB_INV_RX":     0 if self.raw else polarity,
            "i_FFC_PCIE_DET_EN":   self.detection.detect,
            "i_FFC_PCIE_CT":       self.detection.pulse,
            "o_FFS_PCIE_DONE":     self.detection.answer,
            "o_FFS_PCIE_CON":      self.detection.result,
            "i_FFC_RATE_MODE_TX":  self.tx.rate,
            "i_FFC_RATE_MODE_RX":  self.tx.rate,
            "i_FFC_LANE_TX_RST":   self.tx.pcs_reset,
            "i_FFC_LANE_RX_RST":   self.rx.pcs_reset,
            "i_FFC_RRST":          self.rx.cdr_reset,
            "o_FFS_RLOS":          self.rx.los,
            "o_FFS_RLOL":          self.rx.lol,
            **{f"i_FF_TX_D_{n}": self.sender.bus[n] for n in range(BUS)},
            **{f"o_FF_RX_D_{n}": self.receiver.bus[n] for n in range(BUS)},
        }
        if self.ctc:
            lane |= {"o_FFS_CC_OVERRUN": self.overrun, "o_FFS_CC_UNDERRUN": self.underrun}
        self.block = block = Instance("DCUA",
            **{f"p_{name}": value for name, value in self.words.items()},
            **{f"{name[:2]}CH{channel}_{name[2:]}": signal for name, signal in lane.items()},
            i_D_REFCLKI       = self.cd_refclk.clk,
            i_D_FFC_MACROPDB  = 1,
            i_D_FFC_MACRO_RST = 0,
            i_D_FFC_DUAL_RST  = 0,
            i_D_FFC_TRST      = self.tx.pll_reset,
            o_D_FFS_PLOL      = self.block_lol,
            **self.register_ports(channel),
            attr              = {("LOC", f"DCU{dcu}")},
        )
        self.specials += block

    def register_ports(self, channel):
        """Returns the ports of the block for its registers."""
        sci = self.sci
        if sci is None:
            return {"i_D_SCIWSTN": 1, "i_D_SCIRD": 0}
        return {
            "i_D_SCIWSTN":           sci.wrn,
            "i_D_SCIRD":             sci.rd,
            "i_D_SCIENAUX":          sci.sel_common,
            "i_D_SCISELAUX":         sci.sel_common,
            f"i_CH{channel}_SCIEN":  sci.sel_channel,
            f"i_CH{channel}_SCISEL": sci.sel_channel,
            **{f"i_D_SCIADDR{n}":    sci.block_address[n] for n in range(6)},
            **{f"i_D_SCIWDATA{n}":   sci.wdata[n] for n in range(8)},
            **{f"o_D_SCIRDATA{n}":   sci.rdata[n] for n in range(8)},
        }

# SerDes -------------------------------------------------------------------------------------------


class ECP5SerDes(LiteXModule):
    """One lane of PCI Express Gen1 on a SerDes channel of ECP5.

    Raises ``ValueError`` with one line if the pads of the platform are not those of the channel.

    Parameters
    ----------
    platform     : LiteX platform; the constraints of the clocks are added to it.
    sys_clk_freq : Hz of ``sys``, which runs the reset sequence.
    name         : pads of the link in the platform, with ``perst``.
    dcu, channel : location of the channel.
    options      : those of ``ECP5Channel``.

    Attributes
    ----------
    interface : ``SerDesInterface``.
    channel   : ``ECP5Channel``.
    elastic   : ``ElasticBuffer``. None: the block itself compensates the clocks.
    view      : ``SerDesView``.
    clocks    : {net: Hz} of the clocks of the channel.
    """
    def __init__(self, platform, sys_clk_freq, *, name="pcie_x1", dcu=0, channel=0, **options):
        check_pads(platform, name, dcu, channel)
        pads           = platform.request(name)
        self.channel   = ECP5Channel(pads, pads.perst, sys_clk_freq, dcu=dcu, channel=channel,
            measure_refclk=reaches_fabric(platform.device, dcu), **options)
        self.elastic   = elastic_of(self.channel)
        self.view      = view_of(self.channel, self.elastic)
        self.clocks    = self.channel.constrain(platform)
        self.interface = SerDesInterface()

        # # #

        self.comb += join(self.channel, self.elastic, self.interface)


class SlowElasticBuffer(LiteXModule):
    """``ElasticBuffer`` that takes a pair in those cycles of ``pcie_rx`` only that have ``valid``.

    Attributes
    ----------
    Those of ``ElasticBuffer``.
    """
    def __init__(self, valid):
        self.buffer  = buffer = CEInserter(["pcie_rx"])(ElasticBuffer())
        self.removed = Signal()
        for name in ("sink_data", "sink_k", "sink_error", "sink_status", "enable", "data", "k", "error", "status",
            "valid", "overflow", "added"):
            setattr(self, name, getattr(buffer, name))

        # # #

        self.comb += [buffer.ce_pcie_rx.eq(valid), self.removed.eq(buffer.removed & valid)]


def elastic_of(channel):
    """Returns the elastic buffer that a channel needs, or None."""
    if channel.ctc:
        return None
    return ElasticBuffer() if channel.geared else SlowElasticBuffer(channel.rx_valid)


def view_of(channel, elastic):
    """Returns the ``SerDesView`` of a channel and its elastic buffer, or None."""
    told = dict(status=channel.rx_status) if elastic is None \
        else dict(status=elastic.status, skp_added=elastic.added, skp_removed=elastic.removed)
    return SerDesView(
        los           = channel.rx.los,
        lol           = channel.rx.lol,
        idle          = channel.rx.idle,
        cdr           = channel.rx.ready,
        missing       = channel.detection.missing,
        ignore        = channel.detection.ignore,
        pll           = channel.lock.locked,
        pll_lol       = channel.pll_lol,
        refclk_ok     = channel.refclk_ok,
        refclk_hz     = channel.refclk_hz,
        refclk_cycles = channel.refclk_cycles,
        refclk_window = channel.reference.window if channel.reference is not None else None,
        per_symbol    = not channel.geared,
        **told,
    )


def join(channel, elastic, interface):
    """Returns the statements that connect channel, elastic buffer and interface."""
    inputs  = ("tx_data", "tx_k", "tx_idle", "tx_negative", "polarity", "detect")
    outputs = ("rx_idle", "ready", "detect_done", "detect_present")
    return [
        *[getattr(channel, name).eq(getattr(interface, name)) for name in inputs],
        *[getattr(interface, name).eq(getattr(channel, name)) for name in outputs],
        channel.align.eq(interface.rx_align),
        channel.strict.eq(interface.rx_strict),
        *(received(channel, interface) if elastic is None else through(channel, elastic, interface)),
    ]


def received(channel, interface):
    """Returns the statements that give received symbols, which are on the clock of the endpoint, to the interface."""
    return [
        interface.rx_data.eq(channel.rx_data),
        interface.rx_k.eq(channel.rx_k),
        interface.rx_error.eq(channel.rx_error),
        interface.rx_valid.eq(channel.rx_ready),
        interface.rx_overflow.eq(channel.rx_overflow),
    ]


def through(channel, elastic, interface):
    """Returns the statements that pass received symbols through the elastic buffer."""
    return [
        elastic.sink_data.eq(channel.rx_data),
        elastic.sink_k.eq(channel.rx_k),
        elastic.sink_error.eq(channel.rx_error),
        elastic.sink_status.eq(channel.rx_status),
        elastic.enable.eq(channel.rx_ready),
        interface.rx_data.eq(elastic.data),
        interface.rx_k.eq(elastic.k),
        interface.rx_error.eq(elastic.error),
        interface.rx_valid.eq(elastic.valid),
        interface.rx_overflow.eq(elastic.overflow),
    ]
