#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The transaction layer: gives the card's clients access to host memory, and the host access to BAR0.

    read ports --> ReadIssue --> arbiter --> RequestBuilder --> PHY
                   | TagPool, Budget  ^                          |
                   v                  | write ports              v
    client's  <-- CompletionWriter <-- CompletionCheck <------ Parser --> Completer --> registers, window, user's bus
    memory         |                   ^ TagContexts
                   v                   |
    end of reads <-- Retire            Timeout, quarantine
"""

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream
from litex.soc.interconnect.csr import CSRStatus

from litepcie_soc.common.arbiter import PacketArbiter
from litepcie_soc.common.pcie import REASON_NONE, TAGS_WITHOUT_EXTENDED, check_data_width, is_memory_write
from litepcie_soc.phy.hard_block import own_blocks
from litepcie_soc.phy.order import RequestOrder
from litepcie_soc.phy.shapes import HEADER_BITS, PHYShape
from litepcie_soc.tlp.check import LOWER_BITS, CompletionCheck
from litepcie_soc.tlp.completer import Completer
from litepcie_soc.tlp.completion_writer import BYPASS_BITS, CompletionWriter
from litepcie_soc.tlp.context import PER_CYCLE_BITS, TagContexts
from litepcie_soc.tlp.issue import ReadIssue
from litepcie_soc.tlp.parser import Parser
from litepcie_soc.tlp.ports import MemoryReadPort, MemoryWritePort
from litepcie_soc.tlp.request import ATTRIBUTE_NS, ATTRIBUTE_RO, PORT_BITS, RequestBuilder, request_layout
from litepcie_soc.tlp.retire import Retire
from litepcie_soc.tlp.tags import QUARANTINE_US, TagPool, Ticks, Timeout, check_port, check_tags, event_layout

# Errors -------------------------------------------------------------------------------------------

ERROR_BITS = 16  # Bits of an error counter, which stops at its largest value.

# Name and description of each error counter, in the order of the register map.
ERRORS = [
    ("unsupported_request", "Completions with Unsupported Request"),
    ("completer_abort",     "Completions with Completer Abort"),
    ("poisoned",            "Completions with poisoned data"),
    ("unexpected",          "Completions without an outstanding request: late, duplicate or misrouted"),
    ("timeout",             "Requests that the host did not complete in time"),
    ("bad_length",          "Completions whose byte count, lower address or length is not the expected one"),
    ("refused",             "Requests of the host completed with Unsupported Request, or dropped"),
]

# Transaction Layer --------------------------------------------------------------------------------

class TransactionLayer(LiteXModule):
    """Everything between the PHY and the clients.

    The clients are the blocks of the card that read or write host memory. Each gets its own port from `add_read_port`
    or `add_write_port`; all ports must be added before the design is finalised.

    A read passes these blocks, in this order:

    1. `ReadIssue` gives it a tag of the `TagPool`, waits for room in the completion buffer, and stores what is needed
       to handle its completions in `TagContexts`.
    2. `PacketArbiter` merges reads and writes, and `RequestBuilder` adds the TLP headers.
    3. `Parser` removes the headers of its completions, and `CompletionCheck` compares them with `TagContexts`.
    4. `CompletionWriter` aligns the data and writes it to the client's port.
    5. `Retire` reports the end of each read to its client, in the order of issue, and its tag returns to the pool.
       `Timeout` ends reads that the host does not complete; their tags are in quarantine until no completion can come.

    A write passes step 2 only. Requests of the host pass `Parser` and `Completer`, which serves the registers and the
    window of BAR0.

    Parameters
    ----------
    phy                     : PHY of either shape, see `PHYShape`. Its `lower_address_bits`, if it has that attribute,
        are those of completions that `CompletionCheck` relies on.
    data_width              : int, bits; must be that of the PHY.
    clk_freq                : float, frequency of `sys` in Hz.
    tags                    : int, 32 to 256 tags that all read ports share. Those from 32 on are used while the host
        enables Extended Tags.
    completion_blocks       : (int, int), completions of one Read Completion Boundary (RCB) each that the PHY can
        buffer with an RCB of 64 and of 128 bytes; outstanding reads never need more, see `Budget`.
    relaxed_ordering        : bool, set the Relaxed Ordering attribute in requests of `bulk` ports.
    no_snoop                : bool, set the No Snoop attribute in requests of `bulk` ports.
    bar0_size               : int, bytes of BAR0.
    window_bytes            : int, bytes of the window.
    user_bus                : UserBus, range of the user's bus that the host reaches, see `Completer`. None: none.
    quarantine_us           : int, microseconds for which a completion may come after its timeout.

    Attributes
    ----------
    timeout_us   : Signal(32), **in**, time the host has to complete a read, in microseconds, see `Timeout`.
    abandon      : Signal(), **in**, while asserted no request is sent, and every read ends with REASON_BUS_MASTER. It
        takes effect on every read if it is asserted for two walks over the tags: until `drained`.
    drained      : Signal(), **out**, no read is outstanding. Tags in quarantine do not count.
    rcb_128      : Signal(), **in**, Read Completion Boundary of Link Control: 128 bytes instead of 64.
    csr_bus      : wishbone.Interface, master, 32-bit data; word address = offset in BAR0 / 4.
    user         : UserAccess, with the master of the user's bus. None without `user_bus`.
    window_read  : MemoryReadStream, **out**, reads of the window.
    window_write : MemoryWriteStream, **out**, writes to the window.
    tx_stall     : Signal(), **out**, the PHY applies back-pressure to a request.
    rx_stall     : Signal(), **out**, a client applies back-pressure to completions.
    tags         : int, tags that all read ports share.
    error_strobes : {name: Signal()}, **out**, one for each of ERRORS, and those of REPORTED_ERRORS.
    error_header  : Signal(96), **out**, with a strobe: the header of the TLP, see `error_record`.

    Registers
    ---------
    One counter for each of ERRORS; they count since reset and stop at their largest value.
    """
    def __init__(self, phy, data_width, clk_freq, tags=32, completion_blocks=(64, 64), *,
        relaxed_ordering=False, no_snoop=False, bar0_size=0x200000, window_bytes=0x100000,
        user_bus=None, quarantine_us=QUARANTINE_US):
        check_data_width(data_width)
        check_tags(tags)
        if phy.data_width != data_width:
            raise ValueError(f"data_width {data_width!r} does not match the PHY; give {phy.data_width}")
        self.data_width              = data_width
        self.clk_freq                = clk_freq
        self.tags                    = tags
        self.completion_blocks       = completion_blocks
        self.quarantine_us           = quarantine_us
        self.attributes              = ATTRIBUTE_RO*relaxed_ordering | ATTRIBUTE_NS*no_snoop
        self.lower_bits              = getattr(phy, "lower_address_bits", LOWER_BITS)
        self.relaxed_reads           = getattr(phy, "fabric_blocks", None) is not None
        self.strict_blocks           = own_blocks(phy) if self.relaxed_reads else None
        self.order                   = None
        self.read_ports              = []
        self.write_ports             = []
        self.timeout_us              = Signal(32)
        self.abandon                 = Signal()
        self.drained                 = Signal()
        self.rcb_128                 = Signal()
        self.tx_stall                = Signal()
        self.rx_stall                = Signal()

        # # #

        self.shape     = shape     = PHYShape(phy)
        self.enable    = enable    = Signal()
        self.closed    = Signal()   # Reads of before `abandon` or a loss of the link have not all ended.
        self.completer = completer = Completer(data_width, shape.endianness,
            bar0_size    = bar0_size,
            window_bytes = window_bytes,
            user_bus     = user_bus,
        )
        self.request_parser = request_parser = Parser(data_width, shape.endianness)
        self.csr_bus        = completer.csr_bus
        self.user           = completer.user
        self.window_read    = completer.window_read
        self.window_write   = completer.window_write
        self.comb += [
            shape.req_source.connect(request_parser.sink),
            request_parser.cut.eq(shape.req_cut),
            request_parser.source.connect(completer.sink),
            completer.source.connect(shape.cmp_sink),
            completer.completer.eq(shape.id),
            completer.link_up.eq(shape.link_up),
        ]
        if shape.non_posted_taken is not None:
            self.comb += shape.non_posted_taken.eq(completer.taken)
        # A cycle late, like `closed`: it fans out widely, and the longest paths of reads and of the builder begin with
        # it. What the builder offers in that cycle is dropped by the PHY's gate, and `closed` keeps reads back until it
        # has ended.
        self.sync += enable.eq(shape.bus_master_enable & shape.link_up & ~self.abandon)
        self.add_errors()

    # Ports ----------------------------------------------------------------------------------------

    def add_read_port(self, name, tags, *, reserve=1, bulk=False, ordered=False, destination_bits=32):
        """Adds a MemoryReadPort that can have `tags` requests outstanding, and always as many as `reserve`.

        Its client uses the lowest `destination_bits` of a destination.

        Raises ValueError if this is not supported, or if the reserves of all ports together are too many.

        Only requests of `bulk` ports, which carry the data of transfers, get the attributes chosen by
        `relaxed_ordering` and `no_snoop`. Descriptors and status need strict ordering (PCIe 4.0 2.4.1).

        With a completion buffer in the fabric, all reads have the Relaxed Ordering attribute, but those of `ordered`
        ports. In a read it only lets the completions pass writes of the host. No engine depends on these, because a
        doorbell starts it.

        The client of an `ordered` port may depend on them: it polls a flag that the host writes after registers. Its
        completions pass no write of the host. When its data has landed, it waits with the port's `order` until these
        writes are executed.
        """
        self.check_open()
        check_port(tags, reserve, [port.reserve for port in self.read_ports])
        if ordered and self.order is None:
            self.add_order()
        attributes = (self.attributes if bulk else 0) | ATTRIBUTE_RO*self.relaxed_reads
        port = MemoryReadPort(self.data_width, tags, name=name,
            attributes = attributes & ~ATTRIBUTE_RO if ordered else attributes,
            order      = self.order if ordered else None,
            reserve=reserve, destination_bits=destination_bits)
        self.read_ports.append(port)
        return port

    def add_order(self):
        """Adds the order of ports that are `ordered`."""
        shape, request = self.shape, self.shape.req_source
        self.order = order = RequestOrder()
        posted     = request.valid & request.ready & request.first & is_memory_write(request.dat)
        self.comb += [
            order.accepted.eq(posted if shape.posted is None else shape.posted),
            order.executed.eq(self.completer.executed),
            order.reset.eq(~shape.link_up),
        ]

    def add_write_port(self, name, *, bulk=False):
        """Adds a MemoryWritePort; for `bulk` see `add_read_port`. Raises ValueError if there are too many ports."""
        self.check_open()
        if len(self.write_ports) == 2**PORT_BITS:
            raise ValueError(f"write port {name!r} is one too many; a layer can have {2**PORT_BITS}")
        port = MemoryWritePort(self.data_width, name=name, attributes=self.attributes if bulk else 0)
        self.write_ports.append(port)
        return port

    def check_open(self):
        if self.finalized:
            raise ValueError("ports must be added before the transaction layer is finalised")

    # Errors ---------------------------------------------------------------------------------------

    def add_errors(self):
        self.error_strobes = {}
        for n, (name, description) in enumerate(ERRORS):
            count  = Signal(ERROR_BITS)
            one_up = Signal(ERROR_BITS + 1)
            strobe = Signal()
            status = CSRStatus(32, n=n, name=name, description=f"{description}. Stops at {2**ERROR_BITS - 1}.")
            setattr(self, f"_{name}", status)
            self.error_strobes[name] = strobe
            self.sync += If(~one_up[-1], count.eq(one_up))
            self.comb += [one_up.eq(count + strobe), status.status.eq(count)]
        completer = self.completer
        self.comb += self.error_strobes["refused"].eq(completer.refused)
        self.error_strobes.update(unsupported=completer.unsupported, aborted=completer.aborted)
        self.error_header = Signal(HEADER_BITS)
        self.completion_header = Signal(HEADER_BITS)
        self.comb += self.error_header.eq(self.completion_header)
        if self.user:
            self.comb += If(completer.aborted, self.error_header.eq(completer.header))

    # Finalisation ---------------------------------------------------------------------------------

    def do_finalize(self):
        requests = self.add_requests()
        if self.read_ports:
            requests = [self.add_reads()] + requests
        else:
            self.comb += self.shape.cmp_source.ready.eq(1)
        if not requests:
            return
        self.arbiter = arbiter = PacketArbiter(request_layout(self.data_width), len(requests))
        self.comb += [request.connect(sink) for request, sink in zip(requests, arbiter.sinks)]
        if self.data_width >= BYPASS_BITS:
            self.comb += arbiter.soon.eq(Cat(*([self.issue.soon] if self.read_ports else []),
                *[port.soon for port in self.write_ports]))
        self.comb += arbiter.source.connect(self.builder.sink)

    def add_requests(self):
        """Adds the request builder; returns the streams of the write ports in its layout."""
        shape = self.shape
        self.builder = builder = RequestBuilder(self.data_width, shape.endianness)
        self.comb += [
            builder.requester.eq(shape.id),
            builder.allowed.eq(Cat(shape.no_snoop_enable, shape.relaxed_ordering_enable)),
            builder.closed.eq(self.closed),
            builder.enable.eq(self.enable),
            builder.source.connect(shape.req_sink),
            self.tx_stall.eq(builder.source.valid & ~builder.source.ready),
        ]
        self.sync += builder.link_up.eq(shape.link_up)   # A cycle late, like `enable`.
        if shape.requests_stopped is not None:
            # `enable` may be off for another reason when bus mastering ends, and rise once more before it falls.
            self.sync += shape.requests_stopped.eq(builder.stopped & ~shape.bus_master_enable)
        requests = []
        for n, port in enumerate(self.write_ports):
            request = stream.Endpoint(request_layout(self.data_width))
            self.comb += [
                port.sink.connect(request),
                request.port.eq(n),
                request.attributes.eq(port.attributes),
                port.sent.eq(builder.sent[n]),
                port.dropped.eq(builder.dropped),
            ]
            requests.append(request)
        return requests

    def add_reads(self):
        """Adds all blocks that a read passes; returns the stream of read requests."""
        shape, ports = self.shape, self.read_ports
        per_cycle = self.data_width >= PER_CYCLE_BITS
        halves    = per_cycle and self.relaxed_reads    # The buffer is in the fabric.
        self.pool     = pool     = TagPool(self.tags, ports)
        self.contexts = contexts = TagContexts(self.tags, len(ports),
            max(port.destination_bits for port in ports), per_cycle=per_cycle, halves=halves)
        self.issue    = issue    = ReadIssue(self.data_width, ports, pool, contexts, self.completion_blocks,
            self.strict_blocks, per_cycle=per_cycle, halves=halves)
        self.completion_parser = parser = Parser(self.data_width, shape.endianness)
        self.check    = check    = CompletionCheck(self.data_width, contexts, self.tags, per_cycle, self.lower_bits)
        self.writer   = writer   = CompletionWriter(self.data_width, ports, contexts)
        self.retire   = retire   = Retire(ports, pool, contexts, per_cycle)
        self.ticks    = ticks    = Ticks(self.clk_freq, self.quarantine_us)
        self.timeout  = timeout  = Timeout(ticks, self.tags)
        self.comb += [
            shape.cmp_source.connect(parser.sink),
            parser.cut.eq(shape.cmp_cut),
            parser.source.connect(check.sink),
            check.requester.eq(shape.id),
            check.beats.connect(writer.beats),
            writer.entry.eq(check.entry),
            check.room.eq(writer.room),
            writer.blocks.large.eq(issue.budget.large),
            retire.entered.eq(issue.entered),
            retire.ended.eq(writer.ended),
            retire.client.eq(writer.client),
            retire.refused.eq(issue.refused),
            issue.enable.eq(self.enable),
            issue.pause.eq(self.enable & self.closed),
            issue.budget.rcb_128.eq(self.rcb_128),
            issue.budget.relaxed.eq(shape.relaxed_ordering_enable if self.relaxed_reads else 0),
            *[If(port.retire.valid & (port.retire.reason != REASON_NONE), issue.budget.late.eq(1))
                for port in ports if port.order is not None],
            issue.budget.give.eq(writer.blocks.give),
            issue.budget.given.eq(writer.blocks.given),
            issue.budget.given_half.eq(writer.blocks.half),
            ticks.timeout_us.eq(self.timeout_us),
            # Reads that are outstanding when the link goes down count as lost, even if they seem to end successfully.
            writer.lost.eq(timeout.lost),
            timeout.abandon.eq(self.abandon),
            timeout.clearing.eq(contexts.clearing),
            timeout.clear_tag.eq(contexts.walk),
            *[self.error_strobes[name].eq(getattr(check.error, name)) for name, _ in ERRORS[:-1]],
            self.completion_header.eq(check.header),
        ]
        self.sync += [
            self.drained.eq(issue.idle & (pool.live == 0)),
            self.rx_stall.eq(parser.source.valid & ~(writer.beats.ready & writer.room)),
            ticks.hold.eq(self.rx_stall),
        ]
        self.add_events()
        self.add_closed()
        self.add_free_list()
        return issue.source

    def add_events(self):
        """Merges the events of reads. Those that the issue or the retirement of other reads waits for go first.

        `Timeout` is told about reads that are not sent too, so that it never takes an earlier read for such a one.
        """
        issue, retire, timeout = self.issue.event, self.retire.event, self.timeout.event
        self.events = events = stream.Buffer(event_layout())
        told, sent  = self.timeout.sent, self.builder.read_sent
        self.comb += [
            If(retire.valid,
                retire.connect(events.sink),
            ).Elif(issue.valid & ~sent.valid,
                issue.connect(events.sink),
            ).Else(
                timeout.connect(events.sink),
            ),
            events.source.connect(self.check.event),
            If(sent.valid,
                told.eq(sent),
            ).Else(
                told.valid.eq(issue.valid & issue.ready),
                told.refused.eq(1),
                told.tag.eq(issue.tag),
                told.generation.eq(issue.generation),
            ),
        ]

    def add_closed(self):
        """After `abandon` and after a loss of the link, no read is sent until a walk over all tags found none to end.

        After a loss of the link the walk also frees the tags in quarantine, because no completion of before can come.
        Completions and events that are still on their way have to pass before a tag is used again.
        """
        timeout, parser = self.timeout, self.completion_parser
        walking = Signal()      # The walk began after the cause was over.
        passed  = Signal()      # No completion or event of before is on its way.
        settled = Signal()
        self.comb += settled.eq(walking & passed & timeout.walked & timeout.quiet)
        self.sync += [
            If(timeout.walked, walking.eq(1)),
            If(~parser.source.valid & ~self.events.source.valid & ~self.check.busy & ~self.writer.busy, passed.eq(1)),
            If(timeout.event.valid, passed.eq(0)),
            If(settled, self.closed.eq(0), timeout.lost.eq(0)),
            If(self.abandon | ~self.shape.link_up,
                self.closed.eq(1),
                walking.eq(0),
                passed.eq(0),
                If(~self.shape.link_up, timeout.lost.eq(1)),
            ),
        ]

    def add_free_list(self):
        """Tags return to the free list when they retire or leave quarantine.

        The list is filled after reset, and after a change of Extended Tag Field Enable, which stops issue and takes
        effect once no read is outstanding.
        """
        pool, issue, contexts, retire, writer = self.pool, self.issue, self.contexts, self.retire, self.writer
        extended = Signal()
        if self.tags > TAGS_WITHOUT_EXTENDED:
            self.comb += [
                issue.hold.eq(extended != self.shape.extended_tag),
                pool.fill.eq(issue.hold & ~pool.filling & issue.idle & (pool.live == 0)),
            ]
            self.sync += If(pool.fill, extended.eq(~extended))
        self.comb += [
            pool.extended.eq(extended),
            pool.may_fill.eq(~contexts.clearing & ~writer.put.valid & ~contexts.finish.write),
            writer.filling.eq(pool.filling),
            pool.visited.eq(contexts.retire_tag),
            pool.visited_generation.eq(contexts.retire_generation),
            pool.visited_late.eq(contexts.retire_late),
            writer.put.ready.eq(~retire.put.valid),
            pool.put.valid.eq(retire.put.valid | writer.put.valid),
            If(retire.put.valid,
                pool.put.tag.eq(retire.put.tag),
                pool.put.generation.eq(retire.put.generation),
            ).Else(
                pool.put.tag.eq(writer.put.tag),
                pool.put.generation.eq(writer.put.generation),
            ),
        ]
