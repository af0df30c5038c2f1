# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
import pytest

pytest.register_assert_rewrite("test.targets.checks")  # A failed assert shows the values, as in tests.
