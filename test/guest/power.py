#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""How a guest suspends."""

# To RAM, until the clock of the machine wakes it.
SUSPEND = ("echo deep > /sys/power/mem_sleep; echo 0 > /sys/class/rtc/rtc0/wakealarm;"
    " echo +2 > /sys/class/rtc/rtc0/wakealarm; echo mem > /sys/power/state")
