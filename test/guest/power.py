#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""How a guest suspends."""

from litepcie_sim.guest import DEBUG_KERNEL

from test.guest.conftest import KERNEL

ALARM = "/sys/class/rtc/rtc0/wakealarm"

# Until the alarm rings. The machine has to sleep by then: an alarm before wakes nobody.
SECONDS = 20 if KERNEL == DEBUG_KERNEL else 10

# To RAM, until the clock of the machine wakes it. A guest that cannot set the alarm does not go to sleep.
SUSPEND = (f"echo deep > /sys/power/mem_sleep && echo 0 > {ALARM} && echo +{SECONDS} > {ALARM}"
    " && echo mem > /sys/power/state")
