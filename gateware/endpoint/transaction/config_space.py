#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Configuration space of an endpoint in gateware: type 0 header, power management, MSI, PCI Express, AER."""

from dataclasses import dataclass

from migen import *

from litex.gen import *

from litex.soc.interconnect import stream

from litepcie_soc.common.pcie import COMPLETION_SC, COMPLETION_UR, FMT_TYPE_CPL, FMT_TYPE_CPLD
from litepcie_soc.endpoint.data_link.words import WORD, swapped
from litepcie_soc.endpoint.transaction.errors import DETECTABLE, DETECTED, ErrorLog, ErrorReports

# Offsets in bytes (PCIe 2.1 chapter 7).
COMMAND, CLASS, CACHE_LINE, BAR0, SUBSYSTEM, POINTER, INTERRUPT = 0x04, 0x08, 0x0c, 0x10, 0x2c, 0x34, 0x3c
POWER, MSI, EXPRESS, ERRORS = 0x40, 0x48, 0x60, 0x100
DEVICE_CAPABILITIES = EXPRESS + 0x04
DEVICE_CONTROL = EXPRESS + 0x08
LINK_CONTROL   = EXPRESS + 0x10
LINK_CONTROL_2 = EXPRESS + 0x30
UNCORRECTABLE_STATUS, UNCORRECTABLE_MASK, UNCORRECTABLE_SEVERITY = ERRORS + 0x04, ERRORS + 0x08, ERRORS + 0x0c
CORRECTABLE_STATUS, CORRECTABLE_MASK = ERRORS + 0x10, ERRORS + 0x14
ERROR_CONTROL, HEADER_LOG = ERRORS + 0x18, ERRORS + 0x1c

# Bits of Device Capabilities: the value and the scale of the slot's power limit (7.8.3).
POWER_LIMIT = slice(18, 28)

# Bits of Device Control and of its upper half, Device Status.
EXTENDED_TAG, FUNCTION_RESET = 8, 15
MPS_BITS, MRRS_BITS          = slice(5, 8), slice(12, 15)
STATUS                       = 16
# Bits of Command and of its upper half, Status.
PARITY_RESPONSE, SERR_ENABLE = 6, 8
DATA_PARITY, SIGNALED_ABORT, SIGNALED_ERROR, DETECTED_PARITY = 24, 27, 30, 31

# What every reset but that of the slot leaves (7.4, RWS and ROS), and so do First Error Pointer and Header Log.
STICKY = dict.fromkeys((UNCORRECTABLE_STATUS, UNCORRECTABLE_MASK, UNCORRECTABLE_SEVERITY, CORRECTABLE_STATUS,
    CORRECTABLE_MASK), 2**32 - 1)
# Bits that a function level reset leaves (6.6.2): what belongs to the link, and what is sticky.
LINK_BITS = 0x00c8  # Of Link Control: RCB, Common Clock Configuration, Extended Synch.
KEPT = {
    DEVICE_CONTROL : 0b111 << MPS_BITS.start,
    LINK_CONTROL   : LINK_BITS,
    LINK_CONTROL_2 : 0x000f,
    **STICKY,
}

# Registers ----------------------------------------------------------------------------------------


@dataclass
class Dword:
    """A register of 32 bits: its value after reset, and the bits that a write sets, and clears by ones."""
    value    : int = 0
    writable : int = 0
    clears   : int = 0


def registers(vendor, device, subsystem_vendor, subsystem_device, class_code, bar0_size, max_payload, extended_tag,
        slot_clock=True):
    """Returns the registers that are not 0, by their dword number."""
    link   = 1 << 4 | 1                       # One lane, 2.5 GT/s.
    found  = {
        0x00            : Dword(device << 16 | vendor),
        COMMAND         : Dword(0x0010_0000, 0x0546, 0xf900_0000),
        CLASS           : Dword(class_code << 8),
        CACHE_LINE      : Dword(0, 0xff),
        BAR0            : Dword(0, 2**32 - bar0_size),
        SUBSYSTEM       : Dword(subsystem_device << 16 | subsystem_vendor),
        POINTER         : Dword(POWER),
        INTERRUPT       : Dword(0, 0xff),
        POWER           : Dword(0x0003 << 16 | MSI << 8 | 0x01),
        POWER + 4       : Dword(0x0008, 0x0003),            # No soft reset; the power state.
        MSI             : Dword(0x0080 << 16 | EXPRESS << 8 | 0x05, 1 << 16),
        MSI + 4         : Dword(0, 0xffff_fffc),
        MSI + 8         : Dword(0, 0xffff_ffff),
        MSI + 12        : Dword(0, 0xffff),
        EXPRESS         : Dword(0x0002_0010),               # Version 2, endpoint, the last capability.
        DEVICE_CAPABILITIES : Dword(log2_int(max_payload//128) | extended_tag << 5 | 1 << 15 | 1 << 28),
        DEVICE_CONTROL  : Dword(0x2810, 0x7fff & ~(0 if extended_tag else 1 << EXTENDED_TAG), 0x000f_0000),
        EXPRESS + 0x0c  : Dword(1 << 22 | link),            # Optionality compliance.
        LINK_CONTROL    : Dword((slot_clock << 12 | link) << 16, LINK_BITS),
        EXPRESS + 0x24  : Dword(0x10),                      # The completion timeout can be disabled.
        EXPRESS + 0x28  : Dword(0, 0x0010),
        EXPRESS + 0x2c  : Dword(1 << 1),
        LINK_CONTROL_2  : Dword(1, 0x000f),
        ERRORS          : Dword(0x0001_0001),               # Advanced Error Reporting, the last one.
        UNCORRECTABLE_STATUS   : Dword(0, 0, DETECTABLE),
        UNCORRECTABLE_MASK     : Dword(0, DETECTABLE),
        # Bits of what is not detected keep the value that they have after reset (7.10.4).
        UNCORRECTABLE_SEVERITY : Dword(0x0006_2030, DETECTABLE),
        CORRECTABLE_STATUS     : Dword(0, 0, 0xf1c1),
        CORRECTABLE_MASK       : Dword(0x2000, 0xf1c1),         # Advisory errors are masked.
    }
    return {offset//4: dword for offset, dword in found.items()}

# Configuration Space ------------------------------------------------------------------------------


class ConfigSpace(LiteXModule):
    """Registers of the function, as the host reads and writes them, and what they say.

    All signals are in ``sys``, the clock domain of the endpoint (``pcie``).

    Parameters
    ----------
    vendor, device, subsystem_vendor, subsystem_device, class_code : int.
    bar0_size    : int, bytes, a power of two.
    max_payload  : int, bytes: 128, 256 or 512.
    extended_tag : bool, the function has more than 32 tags.
    slot_clock   : bool, the reference clock is the slot's.

    Attributes
    ----------
    address  : 10, **in**; dword number.
    write    : 1, **in**; ``data_w`` is written.
    data_w   : 32, **in**.
    be       : 4, **in**; bytes of ``data_w`` that are written.
    data_r   : 32, **out**; the dword at the address of two cycles before.
    reports  : `ErrorReports`, whose inputs are pulses for each error. One that comes with a write of its bits stays.
    log      : `ErrorLog`, whose ``headers``, ``load`` and ``unknown`` are inputs.
    power_limit : 10, **in**; value and scale of the slot's power limit.
    take_limit  : 1, **in**; a pulse: it came.
    reset    : 1, **in**; all registers, as after a hot reset: what is STICKY stays, and errors do not count.
    function_reset : 1, **in**; the same, but the power limit and the bits of KEPT stay (6.6.2). To be asserted some
               time after:
    flr      : 1, **out**; a pulse: the host has asked for a function level reset.
    memory_enable, bus_master_enable, extended_tag : 1, **out**.
    bar0     : 32, **out**; base address.
    mps, mrrs: 3, **out**; as encoded: 128 bytes shifted by the value.
    rcb_128  : 1, **out**; Read Completion Boundary.
    extended_synch : 1, **out**; see `LTSSM`.
    power_state : 2, **out**; D0 to D3hot.
    msi_enable, msi_address, msi_data : 1, 64, 16, **out**.
    """
    def __init__(self, vendor, device, subsystem_vendor, subsystem_device, class_code, bar0_size, max_payload=256,
            extended_tag=True, slot_clock=True):
        if bar0_size < 16 or bar0_size & bar0_size - 1:
            raise ValueError(f"bar0_size is a power of two from 16 on, not {bar0_size!r}")
        if max_payload not in (128, 256, 512):
            raise ValueError(f"max_payload is 128, 256 or 512, not {max_payload!r}")
        self.address = Signal(10)
        self.write   = Signal()
        self.data_w  = Signal(32)
        self.be      = Signal(4)
        self.data_r  = Signal(32)
        self.reports = ErrorReports()
        self.log     = ErrorLog()
        self.power_limit = Signal(10)
        self.take_limit  = Signal()
        self.reset   = Signal()
        self.function_reset = Signal()
        self.flr     = Signal()

        # # #

        self.table   = registers(vendor, device, subsystem_vendor, subsystem_device, class_code, bar0_size,
            max_payload, bool(extended_tag), slot_clock)
        self.dwords  = {number: Signal(32, reset=dword.value, name=f"dword_{number:02x}")
            for number, dword in self.table.items() if dword.writable | dword.clears}
        limit        = Signal(10)
        capabilities = Signal(32, reset=self.table[DEVICE_CAPABILITIES//4].value)
        self.comb   += capabilities[POWER_LIMIT].eq(limit)
        address      = Signal(10)
        self.sync += [
            If(self.take_limit, limit.eq(self.power_limit)),
            If(self.reset, limit.eq(0)),
            address.eq(self.address),
            Case(address, {
                "default": self.data_r.eq(0),
                **{number: self.data_r.eq(self.dwords.get(number, dword.value))
                    for number, dword in self.table.items()},
                DEVICE_CAPABILITIES//4: self.data_r.eq(capabilities),
                ERROR_CONTROL//4: self.data_r.eq(self.log.pointer),
                **{HEADER_LOG//4 + n: self.data_r.eq(self.log.data) for n in range(4)},
            }),
        ]
        self.add_log()
        for number, dword in self.dwords.items():
            self.add_register(number, dword)
        self.add_meanings()

    def add_log(self):
        """First Error Pointer and Header Log."""
        log, reports = self.log, self.reports
        self.comb += [
            log.address.eq(self.address[:2] - HEADER_LOG//4 % 4),
            log.hold.eq(self.reset | self.function_reset),
            [log.logged[name].eq(signal) for name, signal in reports.logged.items()],
            If(self.write & (self.address == UNCORRECTABLE_STATUS//4),
                log.cleared.eq(self.data_w & Cat(*[Replicate(self.be[n], 8) for n in range(4)])),
            ),
        ]

    def add_register(self, number, dword):
        """Writes, resets and errors of a dword."""
        row     = self.table[number]
        mask    = Cat(*[Replicate(self.be[n], 8) for n in range(4)])
        data    = self.data_w & mask
        kept    = dword & ~(mask & row.writable) & ~(data & row.clears)
        sets    = self.reported().get(number, {})
        keeps   = KEPT.get(4*number, 0)
        sticky  = STICKY.get(4*number, 0)
        following = Signal(32)
        self.comb += [
            following.eq(dword),
            If(self.write & (self.address == number) & ~self.discarded(number),
                following.eq(kept | (data & row.writable)),
            ),
        ]
        self.sync += [
            dword.eq(following),
            [If(error, dword[bit].eq(1)) for bit, error in sets.items()],
            If(self.function_reset, dword.eq((dword & keeps) | (row.value & ~keeps))),
            If(self.reset, dword.eq((dword & sticky) | (row.value & ~sticky))),
        ]

    def discarded(self, number):
        """D1 and D2 are not supported: a write of them changes nothing (PCI Power Management 1.2 3.2.4)."""
        state = self.data_w[:2]
        return self.be[0] & ((state == 1) | (state == 2)) if number == (POWER + 4)//4 else 0

    def reported(self):
        """Bits that errors set: {dword number: {bit: signal}}."""
        reports = self.reports
        return {
            COMMAND//4              : {SIGNALED_ERROR: reports.signaled, SIGNALED_ABORT: reports.aborted,
                DETECTED_PARITY: reports.poisoned, DATA_PARITY: reports.poisoned_data},
            DEVICE_CONTROL//4       : {STATUS + bit: reports.detected[bit] for bit in DETECTED},
            UNCORRECTABLE_STATUS//4 : reports.uncorrectable,
            CORRECTABLE_STATUS//4   : reports.corrected,
        }

    def add_meanings(self):
        """What the registers say."""
        def of(offset):
            return self.dwords[offset//4]
        self.memory_enable     = of(COMMAND)[1]
        self.bus_master_enable = of(COMMAND)[2]
        self.bar0         = of(BAR0)
        self.mps          = of(DEVICE_CONTROL)[MPS_BITS]
        self.mrrs         = of(DEVICE_CONTROL)[MRRS_BITS]
        self.extended_tag = of(DEVICE_CONTROL)[EXTENDED_TAG]
        self.rcb_128      = of(LINK_CONTROL)[3]
        self.extended_synch = of(LINK_CONTROL)[7]
        self.power_state  = of(POWER + 4)[:2]
        self.msi_enable   = of(MSI)[16]
        self.msi_address  = Cat(of(MSI + 4), of(MSI + 8))
        self.msi_data     = of(MSI + 12)[:16]
        self.comb += [
            self.reports.severity.eq(of(UNCORRECTABLE_SEVERITY)),
            self.reports.mask.eq(of(UNCORRECTABLE_MASK)),
            self.reports.correctable_mask.eq(of(CORRECTABLE_MASK)),
            self.reports.enables.eq(of(DEVICE_CONTROL)[:4]),
            self.reports.serr.eq(of(COMMAND)[SERR_ENABLE]),
            self.reports.parity.eq(of(COMMAND)[PARITY_RESPONSE]),
        ]
        self.sync += self.flr.eq(self.write & (self.address == DEVICE_CONTROL//4) & self.be[FUNCTION_RESET//8]
            & self.data_w[FUNCTION_RESET])

# Access -------------------------------------------------------------------------------------------
# Answers configuration requests.

# Cycles from an address to its register, see `ConfigSpace`.
READ_CYCLES = 3


class ConfigAccess(LiteXModule):
    """Reads and writes configuration space for the host, one request after the other.

    A poisoned write changes nothing, and is answered with Unsupported Request (PCIe 2.1 2.7.2.2).

    Parameters
    ----------
    space : `ConfigSpace`, whose access port this module drives.

    Attributes
    ----------
    sink     : stream of 16 bits, **in**; type 0 configuration requests of function 0.
    source   : stream of 16 bits, **out**; their completions.
    id       : 16, **out**; bus, device and function number, as the last write named them (2.2.6.2).
    hold     : 1, **in**; what a write forbids may still come. It is answered after that.
    busy     : 1, **out**; a request has begun to come, and is not answered.
    """
    def __init__(self, space):
        self.sink     = stream.Endpoint(WORD)
        self.source   = stream.Endpoint(WORD)
        self.id       = Signal(16)
        self.hold     = Signal()
        self.busy     = Signal()

        # # #

        # Words of the request: header, and the data of a write.
        self.words = [Signal(16, name=f"word{n}") for n in range(8)]
        self.fsm   = FSM(reset_state="COLLECT")
        is_write, poisoned = self.words[0][6], self.words[1][6]
        place      = Signal(max=9)
        waited     = Signal(max=READ_CYCLES + 1)
        self.refused = is_write & poisoned
        self.reads   = ~is_write
        self.comb += [
            self.busy.eq(~self.fsm.ongoing("COLLECT") | (place != 0)),
            space.address.eq(Cat(self.words[5][10:16], self.words[5][0:4])),
            space.be.eq(self.words[3][8:12]),
            space.data_w.eq(Cat(self.words[6], self.words[7])),
        ]
        self.fsm.act("COLLECT",
            self.sink.ready.eq(1),
            NextValue(waited, 0),
            If(self.sink.valid,
                Case(place, {n: NextValue(word, self.sink.data) for n, word in enumerate(self.words)}),
                If(place != 8, NextValue(place, place + 1)),
                If(self.sink.last, NextValue(place, 0), NextState("ACCESS")),
            ),
        )
        self.fsm.act("ACCESS",
            space.write.eq(is_write & ~poisoned),
            If(space.write, NextValue(self.id, Cat(Constant(0, 3), self.words[4][11:16], self.words[4][0:8]))),
            NextState("WAIT"),
        )
        self.fsm.act("WAIT",
            If(waited != READ_CYCLES,
                NextValue(waited, waited + 1),
            ).Elif(self.reads | ~self.hold,
                NextState("ANSWER"),
            ),
        )
        self.fsm.act("ANSWER",
            self.source.valid.eq(1),
            self.source.first.eq(place == 0),
            self.source.last.eq(place == Mux(self.reads, 7, 5)),
            If(self.source.ready,
                NextValue(place, place + 1),
                If(self.source.last, NextValue(place, 0), NextState("COLLECT")),
            ),
        )
        self.comb += Case(place, {n: self.source.data.eq(word) for n, word in enumerate(self.answer(space.data_r))})

    def answer(self, data):
        """Words of the completion (PCIe 2.1 2.2.9): traffic class, attributes, requester and tag are the request's."""
        words  = self.words
        status = Mux(self.refused, Constant(COMPLETION_UR, 3), Constant(COMPLETION_SC, 3))
        return [
            Cat(Mux(self.reads, Constant(FMT_TYPE_CPLD, 8), Constant(FMT_TYPE_CPL, 8)), words[0][8:16] & 0x74),
            Cat(words[1][:8] & 0x30, self.reads, Constant(0, 7)),
            swapped(self.id),
            Cat(Constant(0, 5), status, Constant(4, 8)),
            words[2],
            words[3][:8],
            data[:16],
            data[16:],
        ]
