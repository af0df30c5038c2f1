# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
import pytest

# A failed assert of a bench shows its values, as in tests.
pytest.register_assert_rewrite("test.gateware.ddr", "test.gateware.phy")
