#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The PHY of a board without a hard block: the endpoint in gateware, and the crossing to `sys`."""

from migen import *
from migen.genlib.cdc import BusSynchronizer, MultiReg, PulseSynchronizer

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.arbiter import PacketArbiter
from litepcie_soc.common.pcie import RCB_BYTES, phy_layout
from litepcie_soc.endpoint.data_link.words import BEAT_BITS
from litepcie_soc.endpoint.transaction.layer import SoftEndpoint
from litepcie_soc.endpoint.transaction.stop import IS_STOP, NUMBER, StopMarker
from litepcie_soc.phy.crossing import LinkCrossing, in_pcie
from litepcie_soc.phy.hard_block import HEADER_CREDIT
from litepcie_soc.phy.shapes import HEADER_BITS, REPORTED_ERRORS, error_record
from litepcie_soc.phy.ultrascale.control import FunctionResetEnd

# Errors -------------------------------------------------------------------------------------------
# Errors of the transaction layer and the header of their TLP, from `sys` to the endpoint in gateware.

# Those of a TLP, whose header comes with them.
WITH_HEADER = "unexpected_completion", "poisoned", "completer_abort"


class ErrorCrossing(LiteXModule):
    """Transfers errors together, and no further ones until they have arrived: those wait, without their header.

    Attributes
    ----------
    sink    : Record of `error_record`, **in**, ``sys``; strobes.
    source  : Record of `error_record`, **out**, ``pcie``; strobes.
    arrived : 1, **out**, ``pcie``; a strobe: with errors.
    unknown : 1, **out**, ``pcie``; with ``arrived``: there is no header.
    """
    def __init__(self):
        self.sink    = sink   = error_record()
        self.source  = source = error_record()
        self.arrived = Signal()
        self.unknown = Signal()

        # # #

        names   = list(REPORTED_ERRORS)
        strobes = Cat(*[getattr(sink, name) for name in names])
        waiting = Signal(len(names))
        busy    = Signal()
        send    = Signal()
        # Stable until they have arrived.
        sent    = Signal(len(names))
        header  = Signal(HEADER_BITS, reset_less=True)
        unknown = Signal()
        mine    = Cat(*[getattr(sink, name) for name in WITH_HEADER])
        self.there = there = PulseSynchronizer("sys_link", "pcie_link")
        self.back  = back  = PulseSynchronizer("pcie_link", "sys_link")
        self.comb += [
            send.eq(~busy & ((strobes | waiting) != 0)),
            there.i.eq(send),
            back.i.eq(there.o),
            self.arrived.eq(there.o),
            self.unknown.eq(unknown),
            source.header.eq(header),
            [getattr(source, name).eq(there.o & sent[n]) for n, name in enumerate(names)],
        ]
        self.sync.sys_link += [
            waiting.eq(Mux(send, 0, waiting | strobes)),
            If(back.o, busy.eq(0)),
            If(send,
                busy.eq(1),
                sent.eq(strobes | waiting),
                header.eq(sink.header),
                # Not of the ones that have waited, and of one only.
                unknown.eq((waiting != 0) | ((mine != 1) & (mine != 2) & (mine != 4))),
            ),
        ]

# PHY ----------------------------------------------------------------------------------------------

# Receive buffer in words of 16 bits, and the credits for requests of the host: headers, and units of 16 bytes of data.
RECEIVE_WORDS = 4096
POSTED        = 16, 64
NONPOSTED     = 8, 8


def completions_that_fit():
    """Completions of RCB_BYTES that the receive buffer holds beside the requests."""
    return (2*RECEIVE_WORDS - 16*(sum(POSTED) + sum(NONPOSTED)))//(RCB_BYTES + HEADER_CREDIT)


class SoftPHY(LiteXModule):
    """A PHY of the shared shape, see `PHYShape`, over one lane of a SerDes. The SerDes gives the clock domain ``pcie``.

    Parameters
    ----------
    serdes      : `SerDesInterface`, ``pcie``.
    bar0_size   : int, bytes.
    max_payload : int, bytes; the largest MPS: 128, 256 or 512.
    tags        : int, requests that the card has outstanding at most. More than 32 need Extended Tags.
    slot_clock  : bool, the reference clock of the SerDes is the slot's.
    identity    : ``vendor``, ``device``, ``subsystem_vendor``, ``subsystem_device``, ``class_code``.

    Attributes
    ----------
    sink, source      : streams of `phy_layout(64)`, **in** and **out**; TLPs of the card and of the host.
    msi               : stream of `dat[8]` (vector 0), **in**; an MSI is sent after every TLP accepted before it.
    id                : 16, **out**; bus, device and function number.
    max_payload_size, max_request_size : 16, **out**; bytes.
    link_up, bus_master_enable, extended_tag : 1, **out**.
    relaxed_ordering_enable, no_snoop_enable, rcb_128, msi_enable : 1, **out**.
    requests_stopped  : 1, **in**; bus mastering is off, no request has begun on ``sink``, and none begins before it
                        is on.
    function_reset    : 1, **out**; a function level reset waits for ``function_reset_done``.
    function_reset_done : 1, **in**; a pulse: the function is reset.
    errors            : Record of `error_record`, **in**.
    completion_space  : (int, int), completions and bytes of data that the receive buffer holds.
    endpoint          : `SoftEndpoint` in ``pcie``, with the counters of the link.
    gen, nlanes       : int, 1 and 1.
    max_tags          : int, the parameter ``tags``.
    identity          : dict, the parameters as ``add_litepcie`` names them.
    """
    endianness = "big"
    data_width = BEAT_BITS
    gen        = 1
    nlanes     = 1

    def __init__(self, serdes, *, bar0_size=0x200000, max_payload=256, tags=32, slot_clock=True, **identity):
        self.bar0_size        = bar0_size
        self.max_tags         = tags
        self.identity         = {name if name == "class_code" else f"{name}_id": value
            for name, value in identity.items()}
        self.completion_space = completions_that_fit(), completions_that_fit()*RCB_BYTES
        self.endpoint = endpoint = in_pcie(SoftEndpoint(serdes, bar0_size=bar0_size, max_payload=max_payload, tags=tags,
            link=dict(posted=POSTED, nonposted=NONPOSTED, receive_words=RECEIVE_WORDS), slot_clock=slot_clock,
            **identity))

        # # #

        link_up = Signal()
        self.specials += MultiReg(endpoint.link_up, link_up)
        self.crossing = crossing = LinkCrossing(BEAT_BITS, BEAT_BITS, link_up)
        self.link_up  = crossing.link_up
        self.source   = crossing.receive(endpoint.source).source
        self.add_transmit(crossing.transmit(endpoint.sink).sink)
        self.add_stop(endpoint)
        self.add_state(endpoint, max_payload)
        self.add_function_reset(endpoint)
        self.errors   = error_record()
        self.reports  = reports = ErrorCrossing()
        self.comb += [
            reports.sink.eq(self.errors),
            endpoint.errors.eq(reports.source),
            endpoint.errors_arrived.eq(reports.arrived),
            endpoint.header_unknown.eq(reports.unknown),
        ]

    def add_transmit(self, sink):
        """An MSI, and the marker of `BusMasterStop`, travel between the TLPs, so that they keep their place.

        They are beats without enabled bytes.
        """
        # Reset while the link is down: otherwise the arbiter would wait for the end of a truncated TLP.
        self.merge = merge = ResetInserter()(PacketArbiter(phy_layout(BEAT_BITS), 2))
        self.sink, marker  = merge.sinks
        self.stop  = stop  = StopMarker()
        self.msi   = msi   = stream.Endpoint([("dat", 8)])
        self.comb += [
            merge.reset.eq(~self.link_up),
            merge.source.connect(sink),
            marker.valid.eq(msi.valid | stop.source.valid),
            marker.first.eq(1),
            marker.last.eq(1),
            msi.ready.eq(marker.ready),
            stop.source.ready.eq(marker.ready & ~msi.valid),
            marker.dat[IS_STOP].eq(~msi.valid),
            marker.dat[NUMBER].eq(stop.source.number),
        ]

    def add_stop(self, endpoint):
        """Says when no request of before the end of bus mastering can come."""
        self.requests_stopped = self.stop.stopped
        self.comb += [
            self.stop.asks.eq(endpoint.stop_asks),
            self.stop.asked.eq(endpoint.stop_number),
            self.stop.link_up.eq(self.link_up),
        ]

    def add_state(self, endpoint, max_payload):
        """Transfers what configuration space says to ``sys``."""
        # Several registers decide on it. While they change it may pulse, which must not start a request in `sys`.
        master = Signal()
        self.sync.pcie += master.eq(endpoint.bus_master_enable)
        for name in ("bus_master_enable", "extended_tag", "relaxed_ordering_enable", "no_snoop_enable", "rcb_128",
            "msi_enable"):
            setattr(self, name, Signal(name=name))
            self.specials += MultiReg(master if name == "bus_master_enable" else getattr(endpoint, name),
                getattr(self, name))
        self.id, mps, mrrs = Signal(16), Signal(3), Signal(3)
        self.max_payload_size = Signal(16, reset=128)
        self.max_request_size = Signal(16, reset=128)
        self.state = state = BusSynchronizer(22, "pcie", "sys")
        self.comb += [
            state.i.eq(Cat(endpoint.id, endpoint.mps, endpoint.mrrs)),
            Cat(self.id, mps, mrrs).eq(state.o),
        ]
        # A value that the host must not write counts as the largest one.
        for size, code, most in ((self.max_payload_size, mps, max_payload), (self.max_request_size, mrrs, 4096)):
            codes = log2_int(most//128)
            self.sync += Case(code, {n: size.eq(128 << n) for n in range(codes)} | {"default": size.eq(most)})

    def add_function_reset(self, endpoint):
        """Asks the logic in ``sys`` for its reset, and holds the answer until the endpoint has seen it."""
        self.function_reset      = Signal()
        self.function_reset_done = Signal()
        self.reset_end = end = FunctionResetEnd()
        self.specials += [
            MultiReg(endpoint.function_reset, self.function_reset),
            MultiReg(end.reset, endpoint.function_reset_end, "pcie"),
        ]
        self.comb += [
            end.function_reset.eq(self.function_reset),
            end.done.eq(self.function_reset_done),
        ]
