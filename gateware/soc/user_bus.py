#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Which range of a SoC's bus the host reaches through BAR0."""

from litepcie_soc.common import abi
from litepcie_soc.tlp.completer_user import UserBus

# Constants ----------------------------------------------------------------------------------------

SIZE_MIN = 4096  # Bytes: a program maps pages.

# An access blocks the host's later requests, and a processor of the host waits for a read. Any slave answers sooner. A
# host waits for 50 us at least (PCIe 4.0 7.5.3.16); most wait for tens of milliseconds.
TIMEOUT_US = 40

# The bus ends a cycle this much later than the host's access, which must fail first: the bus itself reports no error.
MARGIN_CYCLES = 16

KEYS = ("origin", "size", "timeout_us")

# User Bus -----------------------------------------------------------------------------------------


def registers_of(soc):
    """Returns origin and size of the CSR region of a SoC that is not finalised."""
    return soc.mem_map["csr"], min(4 << soc.csr.address_width, abi.USER_MAX)


def limit_bus_time(soc, user_bus):
    """Lets the bus of a SoC without a CPU end a cycle soon after an access of the host has failed.

    Otherwise LiteX's bus takes a million cycles to find that an address has no slave, and the host's accesses fail for
    as long. A CPU may have slower slaves, so its bus keeps its limit (``bus_timeout`` of the SoC).
    """
    if getattr(soc, "cpu_type", None) is None:
        soc.bus.timeout = user_bus.timeout_cycles + MARGIN_CYCLES


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
