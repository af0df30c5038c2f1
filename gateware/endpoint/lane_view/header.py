#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The state of the lane as a C header for the tool."""

from litepcie_soc.common import abi
from litepcie_soc.common.places import SOFTWARE
from litepcie_soc.endpoint.lane_view.bringup import BringUpRegisters
from litepcie_soc.endpoint.lane_view.layout import (
    BRINGUP_PAGE, CAPTURE_BEFORE, CAPTURE_FLAGS, CAPTURE_PAGE, CAPTURE_WORDS, CAUSES, COUNTERS, COUNTERS_AT, ENTRY,
    LINK_WINDOW, LOG_AT, LOG_ENTRIES, MAGIC, REGISTERS_PAGE, SNAPSHOT_PAGE, STATE, STATE_AT, STATE_NAMES,
    TEST_MODES, TRIGGERS, VERSION, WORDS, state_word,
)
from litepcie_soc.endpoint.lane_view.state import LaneRegisters
from litepcie_soc.soc.regs import define, register_lines

COMMITTED = SOFTWARE / "user" / "util" / "litepcie_lane.h"

BANNER = """\
/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/*
 * State of the lane of a card with the endpoint in gateware, emitted by the gateware. Do not edit:
 * `python3 -m litepcie_soc.build.regs --write` updates it, `make check` compares it.
 *
 * Byte offsets in the registers of the SoC; every register is 32 bits wide.
 */
/* clang-format off */
#ifndef LITEPCIE_UTIL_LITEPCIE_LANE_H
#define LITEPCIE_UTIL_LITEPCIE_LANE_H
"""


def table(name, rows):
    """Yields the lines of a macro that calls its argument for each row."""
    yield f"#define LITEPCIE_LANE_{name}(X) \\"
    lines = [f"\tX({', '.join(row)})" for row in rows]
    yield from (f"{line} \\" for line in lines[:-1])
    yield lines[-1]


def quoted(text):
    return f'"{text}"'


def registers_section():
    csrs = sorted(LaneRegisters(0).get_csrs(), key=lambda csr: csr.duid)
    yield "/* registers */"
    yield from register_lines(csrs, REGISTERS_PAGE*abi.CSR_PAGING, prefix="LANE_", extra={
        "LANE_MAGIC":   define("LANE_MAGIC_VALUE", f"0x{MAGIC:08x}"),
        "LANE_VERSION": define("LANE_VERSION_VALUE", str(VERSION)),
    })


def snapshot_section():
    yield "/* snapshot: words of 32 bits, which SAMPLE writes */"
    yield from define("LANE_SNAPSHOT", f"0x{SNAPSHOT_PAGE*abi.CSR_PAGING:04x}")
    yield from define("LANE_WORDS", str(WORDS))
    yield f"/* counters from word {COUNTERS_AT}; each stays at its largest value */"
    yield from define("LANE_COUNTERS_AT", str(COUNTERS_AT))
    yield from table("COUNTERS", [(name, quoted(meaning)) for name, (_, meaning) in COUNTERS.items()])
    yield "/* words of the state, and their fields */"
    for word, fields in STATE.items():
        yield from define(f"LANE_WORD_{word.upper()}", str(state_word(word)), fields[0][3] if len(fields) == 1 else "")
        if len(fields) > 1:
            yield from field_lines(word, fields)
    yield from define("LANE_STATE_END", str(STATE_AT + len(STATE)))
    yield from define("LANE_LINK_WINDOW", str(LINK_WINDOW), "cycles of CLOCK_HZ")


def field_lines(prefix, fields):
    for name, low, bits, meaning in fields:
        yield from define(f"LANE_{prefix.upper()}_{name.upper()}", f"0x{(1 << bits) - 1 << low:08x}", meaning)


def log_section():
    yield "/* log of the LTSSM's transitions: entries of two words; the second is the lower half of the time */"
    yield from define("LANE_LOG_AT", str(LOG_AT))
    yield from define("LANE_LOG_ENTRIES", str(LOG_ENTRIES))
    yield from field_lines("entry", ENTRY)
    yield from table("CAUSES", [(name, quoted(meaning)) for name, meaning in CAUSES.items()])
    yield from table("STATES", [(quoted(name),) for name in STATE_NAMES])


def bringup_section():
    csrs = sorted(BringUpRegisters().get_csrs(), key=lambda csr: csr.duid)
    yield "/* image for bring-up: registers */"
    yield from register_lines(csrs, BRINGUP_PAGE*abi.CSR_PAGING, prefix="LANE_")
    yield "/* the recording: words of the receive bus, and above it flags */"
    yield from define("LANE_CAPTURE_MEMORY", f"0x{CAPTURE_PAGE*abi.CSR_PAGING:04x}")
    yield from define("LANE_CAPTURE_WORDS", str(CAPTURE_WORDS))
    yield from define("LANE_CAPTURE_BEFORE", str(CAPTURE_BEFORE), "the trigger is in the word after so many")
    yield from table("CAPTURE_FLAGS", [(name,) for name in CAPTURE_FLAGS])
    for what, choices in (("TEST", TEST_MODES), ("TRIGGER", TRIGGERS)):
        for n, name in enumerate(choices):
            yield from define(f"LANE_{what}_{name.upper().replace('.', '_')}", str(n))
        yield from table(f"{what}S", [(quoted(name),) for name in choices])


def header():
    """Returns the text of the header."""
    text = BANNER
    for section in (registers_section(), snapshot_section(), log_section(), bringup_section()):
        text += "\n" + "\n".join(section) + "\n"
    return text + "\n#endif /* LITEPCIE_UTIL_LITEPCIE_LANE_H */\n"
