#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""A Pytest hook that begins no test after the time in LITEPCIE_TESTS_UNTIL, in seconds since the epoch.

The tests that are left are skipped with NO_TIME as the reason, so that the summary counts them.
"""

import os
import time

import pytest

from tools.full_tests import NO_TIME, UNTIL


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if time.time() >= float(os.environ.get(UNTIL, "inf")):
        pytest.skip(NO_TIME)
