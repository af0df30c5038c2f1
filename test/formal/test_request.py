# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Request builder: gateware/tlp/request.py."""

from unittest import mock

from migen import *
from litex.gen import *

from litepcie_soc.tlp import request
from test.formal.harness import Harness
from test.formal.proof import Mutant, Proof, cases

MARK      = 3    # Attr of the request that is followed; no other request has this value.
MARK_PORT = 7    # Its port, if it is a write; no other write has this port.
MOST      = 8    # Dwords of a write: more would not end within the depth of the proofs.


class AnyFields(LiteXModule):
    """Takes the place of `HeaderFields`: the builder must pass on what it says, whatever that is."""
    def __init__(self):
        self.address  = Signal(2)
        self.length   = Signal(13)
        self.dwords   = Signal(11)
        self.first_be = Signal(4)
        self.last_be  = Signal(4)
        self.comb += [self.dwords.eq(self.length), self.first_be.eq(self.length[9:]),
            self.last_be.eq(Cat(self.length[:2], self.address))]


class Requests(Harness):
    """A builder with requests on its sink, of which an arbitrary one is followed.

    A write has at most `MOST` dwords of payload, and as many beats as they need in the lanes of the TLP. A beat that
    waits does not change.
    """
    def __init__(self, data_width, endianness):
        Harness.__init__(self)
        with mock.patch.object(request, "HeaderFields", AnyFields):
            self.dut = dut = request.RequestBuilder(data_width, endianness)
        self.sink = sink = dut.sink
        lanes     = data_width//8
        self.bits = Signal(lanes)   # One bit for each byte of payload: the others of a byte are equal to it.
        self.free(sink.valid, sink.first, sink.last, sink.param, dut.source.ready, dut.enable, dut.link_up, self.bits)
        self.free(*[getattr(dut, name) for name in ("closed",) if hasattr(dut, name)])
        self.tied("read_sent_refused")
        self.constant(dut.requester)
        self.comb += dut.allowed.eq(MARK)
        self.comb += sink.dat.eq(Cat(*[Replicate(bit, 8) for bit in self.bits]))
        well_formed, inside = self.packets(sink)
        params = Cat(*[getattr(sink, name) for name, *_ in sink.description.param_layout])
        held   = Signal(len(params))
        beat   = Signal(3)
        marks  = Signal()
        four   = Signal()
        final  = Signal(3)              # Number of the last beat of a write.
        self.fields = fields = AnyFields()
        wide   = data_width//32
        begin  = Mux(four, 4 % wide, 3 % wide)
        self.comb += [fields.address.eq(sink.address[:2]), fields.length.eq(sink.length),
            four.eq(sink.address[32:] != 0), final.eq(Mux(sink.read, 0, (begin + fields.dwords - 1) >> log2_int(wide)))]
        self.assume("packets", well_formed & self.stable(sink))
        self.assume("same_parameters", ~inside | (params == held))
        self.assume("dwords", (fields.dwords != 0) & (fields.dwords <= Mux(sink.read, 1024, MOST)))
        self.assume("beats", ~sink.valid | (sink.last == (beat == final)))
        is_mark = sink.attributes == MARK
        self.assume("one_mark", ~(sink.valid & sink.first & is_mark) | ~marks)
        self.assume("mark_port", sink.read | ((sink.port == MARK_PORT) == is_mark))
        self.number  = number = Signal(5)   # The byte of a marked write that is followed.
        self.kept    = Signal(8)
        self.dwords  = Signal(11)           # Of the marked request.
        self.read    = Signal()
        self.header  = [Signal(32, name=f"header{n}") for n in range(4)]    # What its header must be.
        self.marks   = marks
        self.entered = Signal()             # The last beat of the marked request was accepted.
        place = Signal(7)                   # Beats and lanes from the first beat to that byte.
        self.constant(number)
        self.comb += place.eq(4*begin + number)
        self.sync += If(sink.valid & sink.ready,
            held.eq(params),
            beat.eq(Mux(sink.last, 0, beat + 1)),
            If(is_mark,
                marks.eq(1),
                self.entered.eq(sink.last),
                self.dwords.eq(fields.dwords),
                self.read.eq(sink.read),
                *[kept.eq(dword) for kept, dword in zip(self.header, self.header_of(sink))],
                If(beat == place[log2_int(lanes):],
                    self.kept.eq(Array([sink.dat[8*n:8*n + 8] for n in range(lanes)])[place[:log2_int(lanes)]]))))

    def header_of(self, sink):
        """The dwords of the header (PCIe 4.0 2.2.7)."""
        fields = self.fields
        four = sink.address[32:] != 0
        low  = Cat(Constant(0, 2), sink.address[2:32])
        return [
            Cat(fields.dwords[:10], Constant(0, 2), sink.attributes, Constant(0, 10), Constant(0, 5), four, ~sink.read,
                Constant(0, 1)),
            Cat(fields.first_be, fields.last_be, sink.tag, self.dut.requester),
            Mux(four, sink.address[32:], low),
            low]


class FieldsLegal(Harness):
    """Length and byte enables are legal, enable exactly the requested bytes, and stay within 4 KiB.

    For every request of 1 to 4096 bytes that crosses no multiple of 4 KiB (PCIe 4.0 2.2.5, 2.2.7). Combinatorial.
    """
    def __init__(self):
        Harness.__init__(self)
        self.dut = dut = request.HeaderFields()
        address  = Signal(12)
        self.free(address, dut.length)
        self.comb += dut.address.eq(address[:2])
        self.assume("length", (dut.length != 0) & (dut.length <= 4096) & (address + dut.length <= 4096))
        end = Signal(14)        # Of the request, from its first dword.
        self.comb += end.eq(dut.address + dut.length)
        self.check("dwords", (dut.dwords != 0) & (4*dut.dwords >= end) & (4*dut.dwords < end + 4))
        self.check("within_4_kib", address[2:] + dut.dwords <= 1024)
        for n in range(4):
            last = 4*dut.dwords - 4 + n     # Byte of the last dword, from the first.
            self.check(f"first_be_{n}", dut.first_be[n] == ((n >= dut.address) & (n < end)))
            self.check(f"last_be_{n}", dut.last_be[n] == ((dut.dwords != 1) & (last < end)))
        def one_of(value, *values):
            return Reduce("OR", [value == one for one in values])
        self.check("byte_enables", Mux(dut.dwords == 1,
            (dut.last_be == 0) & one_of(dut.first_be, 1, 2, 3, 4, 6, 7, 8, 12, 14, 15),
            one_of(dut.first_be, 15, 14, 12, 8) & one_of(dut.last_be, 1, 3, 7, 15)))


class TlpsAsRequested(Requests):
    """Each TLP has the header and the payload of its request, and is offered unchanged until it is accepted.

    An arbitrary request between others is followed, with an arbitrary byte of its payload (PCIe 4.0 2.2.4 to 2.2.7).
    For any back-pressure; bus mastering may be switched at any time, and the link is up. All bits of a payload byte are
    equal, as the builder moves whole bytes. Length and byte enables are any function of the request, see `FieldsLegal`.
    """
    def __init__(self, data_width, endianness="big"):
        Requests.__init__(self, data_width, endianness)
        dut, source = self.dut, self.dut.source
        wide        = data_width//32
        self.assume("link_up", dut.link_up)
        well_formed, _ = self.packets(source)
        self.check("packets", well_formed)
        self.check("stable", self.stable(source))
        # Which TLP it is: its first beat holds Attr.
        beat    = Signal(4)
        held    = Signal(32)
        dw0     = Signal(32)
        this    = Signal()      # The TLP of the marked request.
        done    = Signal()
        header  = Signal(3)     # Dwords.
        total   = Signal(12)
        place   = Signal(7)     # Byte of the TLP that is followed.
        lane    = Signal(max=4*wide)
        self.comb += [
            dw0.eq(Mux(source.first, source.dat[:32], held)),
            this.eq(source.valid & (dw0[12:14] == MARK)),
            header.eq(Mux(dw0[29], 4, 3)),
            total.eq(header + Mux(dw0[30], Cat(dw0[:10], dw0[:10] == 0), 0)),
            place.eq(4*header + self.number),
            # Within a dword of a PHY with big-endian payload, byte 0 is the highest.
            lane.eq(place[:len(lane)] ^ (3 if endianness == "big" else 0))]
        self.sync += If(source.valid & source.ready, held.eq(dw0), beat.eq(Mux(source.last, 0, beat + 1)),
            If(this & source.last, done.eq(1)))
        self.implies("once", this, self.marks & ~done)
        for n in range(4):
            self.implies(f"dw{n}", this & (beat == n//wide) & ((n < 3) | dw0[29]),
                source.dat[32*(n % wide):32*(n % wide) + 32] == self.header[n])
        self.implies("last_beat", this, source.last == ((beat + 1)*wide >= total))
        for n in range(wide):
            self.implies(f"be_{n}", this, source.be[4*n:4*n + 4] == Mux(beat*wide + n < total, 15, 0))
        byte = Array([source.dat[8*n:8*n + 8] for n in range(4*wide)])[lane]
        self.implies("payload", this & ~self.read & (self.number[2:] < self.dwords) & (beat == place[len(lane):]),
            byte == self.kept)


class WritesAreReported(Requests):
    """Each write is reported with `sent` once, after its last beat; `dropped` says that it was not sent whole.

    For a link and bus mastering that are switched at any time. A beat that waits changes only when the link is lost.
    """
    def __init__(self, data_width):
        Requests.__init__(self, data_width, "big")
        dut, source = self.dut, self.dut.source
        waits = self.previous(source.valid & ~source.ready)
        self.check("stable", self.stable(source) | ~dut.link_up | (waits & ~self.previous(dut.link_up)))
        sent     = self.since(dut.sent[MARK_PORT])
        is_write = Signal()
        self.comb += is_write.eq(self.marks & ~self.read)
        self.implies("sent_once", dut.sent[MARK_PORT], ~sent & is_write & self.entered)
        # A TLP whose header has the mark; it may be truncated when the link is lost.
        marked = Signal()
        this   = Signal()
        whole  = Signal()
        self.comb += this.eq(Mux(source.first, source.dat[12:14] == MARK, marked))
        self.sync += [If(source.valid & source.ready, marked.eq(this)),
            whole.eq(source.valid & source.ready & source.last & this)]
        self.implies("dropped", dut.sent[MARK_PORT], dut.dropped == ~whole)
        self.implies("sent", whole & is_write, dut.sent[MARK_PORT])
        # Nothing is forgotten: without back-pressure the report comes soon.
        quiet = Signal(4)
        self.sync += If(source.ready | ~dut.link_up, If(is_write & self.entered & ~sent, quiet.eq(quiet + 1)))
        self.check("sent_soon", quiet <= 10)


PROOFS = [
    Proof("header fields", FieldsLegal, depth=1, induction=1),
    Proof("request builder, 64 bit", TlpsAsRequested, depth=8, options=dict(data_width=64)),
    Proof("request builder, 64 bit", WritesAreReported, depth=9, options=dict(data_width=64)),
    *[Proof(f"request builder, {width} bit, {endianness} endian", TlpsAsRequested, depth=10, deep=True,
        options=dict(data_width=width, endianness=endianness))
        for width, endianness in ((64, "little"), (128, "big"), (256, "little"), (512, "little"))]]

MUTANTS = [
    Mutant("last_be_of_one_dword", PROOFS[0], request, "self.last_be.eq(0),", "self.last_be.eq(upto_be),"),
    Mutant("drops_in_the_middle", PROOFS[1], request, "Mux(source.first & ~offered, ", "Mux(1, "),
    Mutant("sent_twice", PROOFS[2], request, "tlp.valid & advance & source.last & ~tlp.read",
        "tlp.valid & source.last & ~tlp.read")]

test_holds, test_fails_on_mutant = cases(PROOFS, MUTANTS)
