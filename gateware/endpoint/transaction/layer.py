#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""An endpoint in gateware between a SerDes and the TLPs of a transaction layer, in one clock domain."""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import phy_layout
from litepcie_soc.endpoint.data_link.stack import Stack
from litepcie_soc.endpoint.data_link.words import BEAT_BITS, BeatsToWords, WordsToBeats
from litepcie_soc.endpoint.transaction.config_space import DEVICE_CONTROL, ConfigAccess, ConfigSpace
from litepcie_soc.endpoint.transaction.errors import LAYER, MALFORMED, REQUEST
from litepcie_soc.endpoint.transaction.own_requests import OwnRequests
from litepcie_soc.endpoint.transaction.queues import TransmitQueues
from litepcie_soc.endpoint.transaction.requests import RequestSorter
from litepcie_soc.endpoint.transaction.stop import IS_STOP, NUMBER, BusMasterStop
from litepcie_soc.phy.shapes import error_record

RELAXED_ORDERING, NO_SNOOP = 4, 11  # Bits of Device Control.
CPLLK = 0x0b                        # Type of the completions of a locked read.

# Endpoint -----------------------------------------------------------------------------------------


class SoftEndpoint(LiteXModule):
    """Stack, configuration space, and what is above them. All is in ``sys``, the clock domain of the link (``pcie``).

    When bus mastering ends, posted requests that are on their way still leave, because the transaction layer counts
    them as sent. The completion of the configuration write that ended it follows them (PCIe 2.1 2.4.1), as it waits for
    `BusMasterStop`; so does PME_TO_Ack. Reads that wait for credits then are dropped, because a completion must not
    wait for them. They end with a timeout.

    Everything but what is sticky in configuration space is lost with the link.

    Parameters
    ----------
    serdes      : `SerDesInterface`.
    max_payload : int, bytes; the largest MPS.
    tags        : int, non-posted requests that the card has outstanding at most.
    link        : {option of `DataLink`: value}.
    identity    : other parameters of `ConfigSpace`.

    Attributes
    ----------
    sink    : stream of `phy_layout(64)`, **in**; TLPs of the card. A beat without enabled bytes stands for an MSI,
              which follows the posted requests before it, or it is the marker of `BusMasterStop`.
    stop_asks, stop_number : 1, **out**; for `StopMarker`.
    source  : stream of `phy_layout(64)`, **out**; TLPs of the host.
    link_up : 1, **out**; TLPs can be sent (DL_Up).
    id      : 16, **out**; bus, device and function number.
    bus_master_enable, extended_tag, relaxed_ordering_enable, no_snoop_enable, rcb_128, msi_enable : 1, **out**.
    mps, mrrs : 3, **out**; as encoded.
    errors  : Record of `error_record`, **in**; pulses. Requests are judged here, so that unsupported ones are ignored.
    errors_arrived, header_unknown : 1, **in**; with ``errors``, see `ErrorCrossing`.
    function_reset : 1, **out**; a function level reset waits for:
    function_reset_end : 1, **in**; until ``function_reset`` is deasserted.
    """
    def __init__(self, serdes, *, bar0_size, max_payload=256, tags=32, link=None, **identity):
        self.stack  = stack = Stack(serdes, max_payload=max_payload, **(link or {}))
        self.space  = space = ConfigSpace(bar0_size=bar0_size, max_payload=max_payload, extended_tag=tags > 32,
            **identity)
        self.down   = Signal(reset=1)
        self.errors = error_record()
        self.errors_arrived, self.header_unknown = Signal(), Signal()
        self.sync  += self.down.eq(~stack.link_up | stack.hot_reset)

        # # #

        def resets(module):
            """The module, which loses its state with the link."""
            module     = ResetInserter()(module)
            self.comb += module.reset.eq(self.down)
            return module

        self.sorter   = resets(RequestSorter(bar0_size))
        self.access   = resets(ConfigAccess(space))
        self.own      = resets(OwnRequests())
        self.queues   = resets(TransmitQueues(max_payload, tags))
        self.stop     = resets(BusMasterStop())
        self.stop_asks, self.stop_number = Signal(), self.stop.asked
        self.to_beats = resets(WordsToBeats())
        self.to_words = resets(BeatsToWords())
        self.sink     = stream.Endpoint(phy_layout(BEAT_BITS))
        self.source   = self.to_beats.source
        self.link_up  = stack.dl_up
        self.id       = self.access.id
        self.add_receive()
        self.add_transmit()
        self.add_state()
        self.add_function_reset()
        self.add_correctable()
        self.add_uncorrectable()

    def add_receive(self):
        """From the data link layer to configuration space and transaction layer."""
        layer, sorter = self.stack.data_link, self.sorter
        self.comb += [
            layer.source.connect(sorter.sink),
            sorter.config.connect(self.access.sink),
            sorter.source.connect(self.to_beats.sink),
            [getattr(layer, name).eq(getattr(sorter, name)) for name in ("free_ph", "free_pd", "free_nph", "free_npd")],
        ]

    def add_transmit(self):
        """From the transaction layer to the queues of the data link layer."""
        sink, words, queues = self.sink, self.to_words, self.queues
        is_tlp = sink.be[0]
        self.comb += [
            sink.connect(words.sink, omit={"valid", "ready"}),
            words.sink.valid.eq(sink.valid & is_tlp),
            sink.ready.eq(words.sink.ready | ~is_tlp),
            self.own.msi.eq(sink.valid & ~is_tlp & ~sink.dat[IS_STOP]),
            self.stop.came.eq(sink.valid & ~is_tlp & sink.dat[IS_STOP]),
            self.stop.number.eq(sink.dat[NUMBER]),
            self.own.pme.eq(self.sorter.pme_turn_off),
            words.source.connect(queues.sink),
            # The host sent a memory read, and knows nothing of a lock, see `RequestSorter`.
            If(words.source.first & (words.source.data[:5] == CPLLK), queues.sink.data[0].eq(0)),
            self.own.source.connect(queues.own),
            self.access.source.connect(queues.configured),
            [source.connect(into) for source, into in zip(queues.sources, self.stack.data_link.sinks)],
        ]

    def add_state(self):
        """What configuration space says, and learns."""
        space   = self.space
        control = space.dwords[DEVICE_CONTROL//4]
        power   = self.stack.power
        self.resetting = Signal()  # A function level reset was asked for.
        self.function_reset = Signal()
        running = (space.power_state == 0) & ~power.off & ~self.resetting & ~self.function_reset
        self.bus_master_enable = Signal()
        self.extended_tag, self.rcb_128, self.msi_enable = space.extended_tag, space.rcb_128, space.msi_enable
        self.relaxed_ordering_enable, self.no_snoop_enable = control[RELAXED_ORDERING], control[NO_SNOOP]
        self.mps, self.mrrs = space.mps, space.mrrs
        self.comb += [
            space.reset.eq(self.down),
            self.bus_master_enable.eq(space.bus_master_enable & running),
            space.power_limit.eq(self.sorter.power_limit),
            space.take_limit.eq(self.sorter.take_limit),
            power.low_power.eq(space.power_state != 0),
            power.turn_off.eq(self.sorter.pme_turn_off),
            self.stop.master.eq(self.bus_master_enable),
            self.stop.inside.eq(self.own.inside),
            self.access.hold.eq(self.stop.holds),
            self.own.wait.eq(self.stop.asks),
            self.stack.data_link.mps.eq(space.mps),
            self.stack.link.ltssm.extended.eq(space.extended_synch),
            self.sorter.bar0.eq(space.bar0),
            self.sorter.enable.eq(space.memory_enable & (space.power_state == 0)),
            self.own.id.eq(self.id),
            self.own.enable.eq(space.msi_enable),
            self.own.address.eq(space.msi_address),
            self.own.data.eq(space.msi_data),
            self.own.master.eq(self.bus_master_enable),
            self.own.errors.eq(space.reports.messages),
            self.own.late.eq(space.reports.late),
            self.own.awake.eq(space.power_state == 0),
            self.own.silent.eq(power.off | space.function_reset),
        ]

        # Registered, as one crosses to another clock, and the other is far away.
        self.sync += [
            self.stop_asks.eq(self.stop.asks),
            self.stack.data_link.discard.eq(self.stop.stopped),
        ]
        self.sync += self.stack.busy.eq(self.sorter.busy | self.access.busy | self.own.busy | self.queues.busy
            | self.to_words.source.valid)

    def add_correctable(self):
        """What the link made good. Registered, so that the paths of the data link layer do not grow."""
        link, layer = self.stack.link, self.stack.data_link
        errors      = {
            "receiver":     (link.symbol_error != 0) | (link.framing_error != 0) | link.overflow & ~link.ltssm.asleep,
            "bad_tlp":      layer.lcrc_error,
            "bad_dllp":     layer.dllp_error,
            "rollover":     layer.rollover,
            "replay_timer": layer.timeout,
        }
        self.sync += [self.space.reports.correctable[name].eq(error) for name, error in errors.items()]

    def add_uncorrectable(self):
        """What is lost, and the header of its TLP."""
        log, sorter, layer = self.space.log, self.sorter, self.stack.data_link
        errors, reports    = self.errors, self.space.reports.errors
        # Registered, as the correctable ones.
        self.sync += [
            reports["malformed"].eq(layer.malformed),
            reports["overflow"].eq(layer.overflow),
            reports["protocol"].eq(layer.ack_error),
        ]
        self.comb += [
            reports["unsupported"].eq(sorter.unsupported),
            reports["unsupported_posted"].eq(sorter.unsupported_posted),
            reports["poisoned_request"].eq(sorter.poisoned),
            reports["poisoned_posted"].eq(sorter.poisoned_posted),
            reports["poisoned_completion"].eq(errors.poisoned),
            reports["unexpected"].eq(errors.unexpected_completion),
            reports["abort"].eq(errors.completer_abort),
            reports["timeout"].eq(errors.completion_timeout),
            log.headers[REQUEST].eq(sorter.header),
            log.load[REQUEST].eq(sorter.whole),
            log.headers[MALFORMED].eq(layer.length.header),
            log.load[MALFORMED].eq(layer.length.ended),
            log.unknown[MALFORMED].eq(layer.length.unknown),
            log.headers[LAYER].eq(errors.header),
            log.load[LAYER].eq(self.errors_arrived),
            log.unknown[LAYER].eq(self.header_unknown),
        ]

    def add_function_reset(self):
        """Registers are in reset until the logic of the card is reset. The write that asked for it is answered.

        Before that, requests that are on their way leave, as when the host ends bus mastering.
        """
        self.function_reset_end = Signal()
        asked      = self.resetting
        self.comb += self.space.function_reset.eq(self.function_reset)
        self.sync += [
            If(asked & ~self.stop.asks & ~self.function_reset_end, self.function_reset.eq(1), asked.eq(0)),
            If(self.function_reset & self.function_reset_end, self.function_reset.eq(0)),
            If(self.space.flr, asked.eq(1)),
        ]
