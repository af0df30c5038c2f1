#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What the state of the lane consists of: names and places in its snapshot, for gateware and software.

`python3 -m litepcie_soc.build.regs --write` makes ``software/user/util/litepcie_lane.h`` of it.
"""

MAGIC   = 0x4c414e45  # "LANE"
VERSION = 6

# Places on the registers' bus of the SoC. From its end, because LiteX gives pages from the begin.
REGISTERS_PAGE, SNAPSHOT_PAGE = 30, 31
# Of the image for bring-up.
BRINGUP_PAGE, CAPTURE_PAGE    = 29, 28

# Words of 32 bits in the snapshot.
COUNTERS_AT, STATE_AT, LOG_AT = 0, 32, 128
WORDS       = 256
LOG_ENTRIES = 64  # Of two words.

# Events, with the most of them per cycle. 0: the counter is of intervals of 512 ns with at least one of them. A counter
# stays at its largest value.
COUNTERS = {
    "symbol_errors":    (2, "received symbols with a wrong code or disparity, while the link is up"),
    "set_errors":       (1, "damaged training sets"),
    "framing_errors":   (2, "packets with a wrong begin, symbol or end"),
    "overflows":        (1, "the elastic buffer lost or repeated symbols"),
    "skp_added":        (1, "pairs of SKP that the elastic buffer added"),
    "skp_removed":      (1, "pairs of SKP that the elastic buffer removed"),
    "recoveries":       (1, "from L0 to Recovery"),
    "hot_resets":       (1, "the host reset the link"),
    "compliances":      (1, "entries to Polling.Compliance"),
    "loopbacks":        (1, "the host asked for Loopback"),
    "detections":       (1, "receiver detections begun"),
    "lcrc_errors":      (1, "received TLPs with a wrong LCRC, symbol, end or length"),
    "dllp_errors":      (1, "received DLLPs with a wrong CRC, symbol, end or length"),
    "naks_sent":        (1, "NAKs sent"),
    "naks_received":    (1, "NAKs received"),
    "replays":          (1, "replays begun"),
    "replay_timeouts":  (1, "replays because no ACK came in time"),
    "rollovers":        (1, "four replays without progress, then Recovery"),
    "protocol_errors":  (1, "wrong numbers in ACK or NAK, and TLPs without credit"),
    "malformed_tlps":   (1, "received TLPs whose length contradicts their header"),
    "duplicates":       (1, "received TLPs that had come before"),
    "tlps_received":    (1, "good TLPs received"),
    "tlps_sent":        (1, "TLPs sent, replays included"),
    "undecodable":      (2, "received symbols with a code that does not exist, in every state"),
    **{f"status_{n}":   (0, f"intervals of 512 ns with status {n} of the SerDes ({what}), in every state")
        for n, what in enumerate(("SKP added", "SKP removed", "receiver detected", "wrong code", "overflow",
            "underflow", "wrong disparity"), 1)},
    "lock_losses":      (0, "times that the receiver lost its lock while a signal came"),
}

# Words of the state: fields (name, lowest bit, bits, meaning).
STATE = {
    "status": (
        ("ltssm",          0, 5, "state of the LTSSM"),
        ("link_up",        5, 1, "LinkUp"),
        ("dl_up",          6, 1, "DL_Up: flow control is initialized"),
        ("inverted",       7, 1, "the received lane is inverted"),
        ("rx_idle",        8, 1, "electrical idle, or no signal"),
        ("detect_done",    9, 1, "receiver detection has a result"),
        ("detect_present", 10, 1, "a receiver was found"),
        ("no_scrambling", 11, 1, "the host has asked for no scrambling"),
        ("ready",         12, 1, "the transmitter works"),
        ("infinite",      16, 6, "credits without limit, in the order of the words below, headers first"),
    ),
    "time_lo":    (("time_lo",    0, 32, "cycles of the link's clock, 8 ns each"),),
    "time_hi":    (("time_hi",    0, 16, "upper bits"),),
    "logged":     (("logged",     0, 32, "transitions of the LTSSM; number n is entry n modulo LOG_ENTRIES"),),
    "link_clock": (("link_clock", 0, 32, "cycles of the link's clock in LINK_WINDOW cycles of CLOCK_HZ; 0: unknown"),),
    "posted":     (("headers",    0, 8,  "fewest credits left since CLEAR"), ("data", 16, 12, "likewise")),
    "nonposted":  (("headers",    0, 8,  "fewest credits left since CLEAR"), ("data", 16, 12, "likewise")),
    "completion": (("headers",    0, 8,  "fewest credits left since CLEAR"), ("data", 16, 12, "likewise")),
    "receiver":   (
        ("missing", 0,  8, "receiver detections without an answer of the SerDes; at most 255"),
        ("clock",   8, 16, "LINK_CLOCK of the recovered clock, divided by 8; 0: unknown, or it stands"),
    ),
}

# An entry of the log: the first word; the second one is the lower half of the time.
ENTRY = (
    ("state",    0,  5, "the state that was entered"),
    ("cause",    8,  8, "what was so two cycles before, see CAUSES"),
    ("time_hi", 16, 16, "cycles of the link's clock, upper bits"),
)

CAUSES = {
    "expired":  "the time of the state was over",
    "retrain":  "four replays brought no progress",
    "overflow": "the elastic buffer lost or repeated symbols",
    "silence":  "no ordered set and no update of credits came for 128 us",
    "set":      "a training set came",
    "idle":     "the lane was idle",
}

# States of the LTSSM as the specification names them, in the order of `State`.
STATE_NAMES = (
    "Detect.Quiet", "Detect.Active", "Polling.Active", "Polling.Compliance", "Polling.Configuration",
    "Configuration.Linkwidth.Start", "Configuration.Linkwidth.Accept", "Configuration.Lanenum.Wait",
    "Configuration.Complete", "Configuration.Idle", "L0", "Recovery.RcvrLock", "Recovery.RcvrCfg", "Recovery.Idle",
    "Hot Reset", "Disabled", "Loopback.Active", "Loopback.Exit", "L1", "L2",
)

# Image for bring-up: what the lane does, and what a recording of the receive bus waits for, in the order of their
# numbers.
TEST_MODES = {
    "train":      "the link trains",
    "hold":       "Polling.Active is held",
    "d10.2":      "held, and D10.2 is sent",
    "compliance": "held, and the compliance pattern is sent",
}
TRIGGERS = {
    "now":    "nothing",
    "comma":  "K28.5 in the lower or the upper half",
    "state":  "the state VALUE of the LTSSM",
    "status": "a symbol with the status VALUE",
}
HALF_BITS      = 12   # Of the receive bus, for one symbol: data, K, status.
CAPTURE_WORDS  = 512
CAPTURE_BEFORE = 64   # Of these, the words from before the trigger.

# Bits of a recorded word above the bus.
CAPTURE_FLAGS = ("los", "lol", "ready")

LINK_WINDOW = 1 << 17  # Cycles of ``sys``: 8 ppm.


def state_word(name):
    """Returns the place of a word of the state in the snapshot."""
    return STATE_AT + list(STATE).index(name)
