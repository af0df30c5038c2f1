#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Which range of a SoC's bus the host reaches through BAR0, and how an access there ends."""

from migen import *

from litex.gen import *
from litex.gen.genlib.misc import WaitTimer

from litex.soc.interconnect import wishbone
from litex.soc.interconnect.axi import AXILiteInterface, Wishbone2AXI, Wishbone2AXILite

from litepcie_soc.axi.lite import AXILiteBridge, AXILiteRequester
from litepcie_soc.common import abi
from litepcie_soc.tlp.completer_user import UserBus

# Constants ----------------------------------------------------------------------------------------

SIZE_MIN = 4096  # Bytes: a program maps pages.

# An access blocks the host's later requests, and a processor of the host waits for a read. Any slave answers sooner. A
# host waits for 50 us at least (PCIe 4.0 7.5.3.16); most wait for tens of milliseconds.
TIMEOUT_US = 40

# Cycles for which a slave may be silent: as many as LiteX's shared bus waits, which has no error to report. The guard
# waits a little longer, so that the bus itself ends its cycle where it can.
SILENCE_CYCLES = 1_000_000
MARGIN_CYCLES  = 16

# Cycles after which an access to host memory from the bus of a SoC fails, unless this is more than a half of the bus's
# limit; and the least for an answer of the host.
HOST_CYCLES     = 1 << 19
HOST_CYCLES_MIN = 1 << 12

KEYS = ("origin", "size", "timeout_us")

# User Bus -----------------------------------------------------------------------------------------


def registers_of(soc):
    """Returns origin and size of the CSR region of a SoC that is not finalised."""
    return soc.mem_map["csr"], min(4 << soc.csr.address_width, abi.USER_MAX)


def host_cycles_of(soc):
    """Returns the limit of an access to host memory, in cycles: it must fail before the bus ends its cycle.

    LiteX's shared bus ends a cycle with ``ack`` and all ones. The answer of the host, which comes later, would then be
    taken for that of the next access. Raises ``ValueError`` if the bus has too little time.
    """
    if soc.bus.timeout is None:
        return HOST_CYCLES
    cycles = min(HOST_CYCLES, int(soc.bus.timeout) // 2)
    if cycles < HOST_CYCLES_MIN:
        raise ValueError(f"bus_timeout of {soc.bus.timeout:g} cycles is too short for host_buffers; "
            f"give {2*HOST_CYCLES_MIN} or more")
    return cycles


def user_bus_of(soc, choice):
    """Returns the ``UserBus`` that the parameter ``user_bus`` of ``add_litepcie`` asks for, or None.

    choice : None or False: none. True: the SoC's registers. Or a dict with some of the keys ``origin`` (byte address on
        the SoC's bus), ``size`` (bytes) and ``timeout_us`` (limit of an access).

    Raises ``ValueError`` with one line if that cannot be.
    """
    if choice is None or choice is False:
        return None
    choice = {} if choice is True else dict(choice)
    wrong  = [key for key in choice if key not in KEYS]
    if wrong:
        raise ValueError(f"user_bus has no key {wrong[0]!r}; give {', '.join(KEYS)}")
    origin, size = registers_of(soc)
    origin  = choice.get("origin", origin)
    size    = choice.get("size", size)
    timeout = choice.get("timeout_us", TIMEOUT_US)
    if size & (size - 1) or not SIZE_MIN <= size <= abi.USER_MAX:
        raise ValueError(f"user_bus size 0x{size:x} is not supported; "
            f"give a power of two from 0x{SIZE_MIN:x} to 0x{abi.USER_MAX:x}")
    if origin % size:
        raise ValueError(f"user_bus origin 0x{origin:x} is not a multiple of the size 0x{size:x}")
    end = 1 << soc.bus.address_width
    if not 0 <= origin <= end - size:
        raise ValueError(f"user_bus origin 0x{origin:x} is not on the bus, which ends at 0x{end:x}")
    if not 1 <= timeout <= 10000:
        raise ValueError(f"user_bus timeout_us {timeout!r} is not supported; give 1 to 10000")
    cycles = int(timeout * soc.sys_clk_freq / 1e6)
    if soc.bus.timeout is not None and soc.bus.timeout <= cycles:
        raise ValueError(f"user_bus timeout_us {timeout!r} is {cycles} cycles; "
            f"give less than the bus_timeout of the SoC, {soc.bus.timeout:g} cycles")
    return UserBus(origin, size, cycles, soc.bus.address_width)

# Guard --------------------------------------------------------------------------------------------


def check_host(bus, user_bus, host, own):
    """Raises ``ValueError`` if an access of the host to a bus would have to wait for a read of host memory there.

    That read waits for the writes of the host before its data (PCIe 4.0 2.4.1), of which the access may be one. So both
    last until a time-out, and the access of the host is lost. ``own`` is the name of the master of the host's accesses.
    """
    for name in [name for name, slave in bus.slaves.items() if slave is host]:
        start, end = bus.regions[name].origin, bus.regions[name].origin + bus.regions[name].size_pow2
        if start < user_bus.origin + user_bus.size and user_bus.origin < end:
            raise ValueError(f"user_bus reaches host memory, region {name} at 0x{start:x}, which would wait for the "
                f"host itself; give another origin or size than 0x{user_bus.origin:x} and 0x{user_bus.size:x}")
        others = [master for master in bus.masters if master != own]
        if bus.interconnect == "shared" and others:
            raise ValueError(f"host memory, region {name}, and user_bus are on one shared bus with the master "
                f"{others[0]}, where they would wait for each other; give the SoC bus_interconnect=\"crossbar\"")


class CycleHolder(LiteXModule):
    """Keeps each cycle on a Wishbone bus until it is answered, also if its master gives it up, and drops that answer.

    Parameters
    ----------
    address_width : int, bits of a byte address.

    Attributes
    ----------
    requester : ``AXILiteRequester``, whose ``bus`` is for the master.
    bus       : wishbone.Interface, master, 32-bit data, word addresses.
    """
    def __init__(self, address_width):
        self.requester = asks = AXILiteRequester(address_width)
        self.bus       = bus  = wishbone.Interface(data_width=32, address_width=address_width, addressing="word")

        # # #

        request, answer = asks.request, asks.answer
        self.comb += [
            bus.cyc.eq(asks.asked & ~asks.answered),
            bus.stb.eq(bus.cyc),
            bus.adr.eq(request.address[2:]),
            bus.we.eq(request.we),
            bus.sel.eq(request.be),
            bus.dat_w.eq(request.dat),
        ]
        self.sync += [
            If(bus.cyc & (bus.ack | bus.err),
                asks.answered.eq(1),
                answer.failed.eq(bus.err),
                answer.dat.eq(bus.dat_r),
            ),
            If(~asks.asked, asks.answered.eq(0)),
        ]


class BusGuard(LiteXModule):
    """Ends each cycle of the host on the bus of a SoC, whatever the bus does.

    An address without a slave fails at once and starts no cycle on the bus: LiteX's shared bus takes a million cycles
    to find that there is none, and its crossbar never does. A slave that does not answer loses its cycle after
    ``soc.bus.timeout``; LiteX's crossbar has no such limit either.

    LiteX's bridge from Wishbone to AXI would give the answer of a cycle that has ended, by a time-out or a reset of the
    function, to the next cycle. So an AXI bus gets the accesses from an ``AXILiteBridge``, and a Wishbone bus with a
    slave of AXI from a ``CycleHolder``: the access goes on, its answer is dropped, and others fail until the slave has
    given it.

    LiteX's time-out of a shared bus does not end the cycle of a slave to which a bridge leads. The slave then answers
    the next read with the data of the one before. So the host no longer reaches a slave that had such a time-out.

    Parameters
    ----------
    soc      : SoC, not finalised.
    user_bus : ``UserBus``, range of the bus.
    access   : wishbone.Interface, master, of the host's accesses.
    host     : wishbone.Interface of the ``HostPort``. None: there is none.
    name     : str, name of the master on the SoC's bus.

    Attributes
    ----------
    bus : wishbone.Interface, or AXILiteInterface if the SoC has an AXI bus; master, for the SoC.

    Raises ``ValueError`` when it is finalised, if the host's accesses and those to host memory would wait for each
    other.
    """
    def __init__(self, soc, user_bus, access, host=None, name="pcie"):
        self.user_bus, self.access = user_bus, access
        self.check   = lambda: check_host(soc.bus, user_bus, host, name)
        self.regions = lambda: [soc.bus.regions[name] for name in soc.bus.slaves]  # An SoC here would be a submodule.
        self.found = Signal()   # A slave has the address.

        # # #

        # An SoC in an attribute would be a submodule.
        self.silence = int(soc.bus.timeout or SILENCE_CYCLES)
        self.ends    = soc.bus.timeout is not None and soc.bus.interconnect == "shared"    # The bus has a time-out.
        self.bridged = lambda: any(isinstance(unit, (Wishbone2AXI, Wishbone2AXILite))
            for _, unit in soc.bus._submodules)
        self.timer   = WaitTimer(self.silence + MARGIN_CYCLES)
        self.axi     = soc.bus.standard != "wishbone"
        if self.axi:
            self.bus = AXILiteInterface(data_width=32, address_width=user_bus.address_width)
        else:
            self.bus = wishbone.Interface(data_width=32, address_width=user_bus.address_width, addressing="word")

    def do_finalize(self):
        """The SoC has all its slaves now."""
        self.check()
        access, timer = self.access, self.timer
        found = [self.reaches(region, access.adr) for region in self.regions()]
        bus   = self.bus
        if self.axi:
            self.holder = AXILiteBridge(address_width=self.user_bus.address_width)
            self.comb  += self.holder.connect(self.bus)
        elif self.bridged():
            self.holder = CycleHolder(self.user_bus.address_width)
            self.comb  += self.holder.bus.connect(self.bus)
        if self.axi or self.bridged():
            bus = self.holder.requester.bus
            if self.ends:
                found = self.without_late(found)
        open_      = Signal()
        self.comb += [
            self.found.eq(Reduce("OR", found) if found else 0),
            timer.wait.eq(access.cyc),
            open_.eq(access.cyc & self.found & ~timer.done),
            bus.cyc.eq(open_),
            bus.stb.eq(open_),
            *[getattr(bus, name).eq(getattr(access, name)) for name in ("adr", "we", "sel", "dat_w")],
            access.dat_r.eq(bus.dat_r),
            access.ack.eq(open_ & bus.ack),
            access.err.eq(access.cyc & (~open_ | bus.err)),
        ]

    def without_late(self, found):
        """Returns ``found`` without the slaves whose access the bus itself has ended: they may still answer it."""
        asks       = self.holder.requester
        self.limit = WaitTimer(self.silence)
        late       = Signal()
        lost       = Signal(max(1, len(found)))
        self.comb += [
            self.limit.wait.eq(asks.asked),
            # On Wishbone, LiteX's time-out is an ``ack``.
            late.eq(asks.asked & asks.answered & (asks.answer.failed | (not self.axi)) & self.limit.done),
        ]
        self.sync += [If(late & self.reaches(region, asks.request.address[2:]), lost[n].eq(1))
            for n, region in enumerate(self.regions())]
        return [one & ~lost[n] for n, one in enumerate(found)]

    def reaches(self, region, address):
        """Whether the region of a slave has ``address``, in dwords. Region and range begin at multiples of their sizes.
        """
        start, size = self.user_bus.origin, self.user_bus.size
        if not region.decode:
            return Constant(1)
        if region.size_pow2 >= size:
            return Constant(region.origin <= start < region.origin + region.size_pow2)
        if not start <= region.origin < start + size:
            return Constant(0)
        low, high = log2_int(region.size_pow2 // 4), log2_int(size // 4)
        return address[low:high] == (region.origin - start) // region.size_pow2
