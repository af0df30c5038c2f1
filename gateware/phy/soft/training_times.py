#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Times and counts of link training, as PCIe 2.1 gives them for 2.5 GT/s."""

from dataclasses import dataclass

# Times --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limit:
    """A time in microseconds, with its section in PCIe 2.1."""
    microseconds : float
    section      : str

    def cycles(self, clk_freq):
        return round(self.microseconds*clk_freq/1e6)


TIMES = {
    "detect_quiet"          : Limit(12_000, "4.2.6.1.1"),  # Without energy on the lane.
    "detect_active"         : Limit(12_000, "4.2.6.1.2"),  # For the result of a detection.
    "polling_active"        : Limit(24_000, "4.2.6.2.1"),
    "polling_configuration" : Limit(48_000, "4.2.6.2.3"),
    "linkwidth_start"       : Limit(24_000, "4.2.6.3.1.2"),
    "linkwidth_accept"      : Limit(2_000,  "4.2.6.3.2.2"),
    "lanenum"               : Limit(2_000,  "4.2.6.3.3.2"),
    "complete"              : Limit(2_000,  "4.2.6.3.5.2"),
    "config_idle"           : Limit(2_000,  "4.2.6.3.6"),
    "recovery_lock"         : Limit(24_000, "4.2.6.4.1"),
    "recovery_config"       : Limit(48_000, "4.2.6.4.3"),
    "recovery_idle"         : Limit(2_000,  "4.2.6.4.4"),
    "hot_reset"             : Limit(2_000,  "4.2.6.11"),   # Without a training set that asks for it.
    "loopback_exit"         : Limit(2_000,  "4.2.6.10.3"),
    "l1"                    : Limit(2_000,  "5.3.2.1"),    # No limit there; until the partner's lane is idle, too.
    "l2"                    : Limit(2_000,  "5.3.3.2.1"),  # The same.
    "silence"               : Limit(128,    "4.2.4.3"),    # Without SKP sets: electrical idle is inferred.
}

# Counts -------------------------------------------------------------------------------------------

POLLING_TS1  = 1024  # Sent before Polling.Active may end (4.2.6.2.1).
IN_A_ROW     = 8     # Received, for most changes of state.
FEW          = 2     # Received, for link and lane numbers, hot reset, disable and loopback.
SENT_AFTER   = 16    # Sent since the first one was received (TS2, symbols of logical idle).
DISABLE_TS1  = 16    # Sent in Disabled: 16 to 32 (4.2.6.9).
REFUSALS     = 8     # Detections without a receiver, after which one counts as found. Not of the specification.
IDLE_RETRIES = 255   # From Recovery.Idle to Recovery.RcvrLock (4.2.6.4.4).

# Bits of the control symbol of a training set (table 4-2), and of its rate symbol.
HOT_RESET, DISABLE, LOOPBACK, NO_SCRAMBLING, COMPLIANCE = range(5)
RATE_2G5  = 0x02
N_FTS     = 0xff  # Never used: L0s is not advertised.
