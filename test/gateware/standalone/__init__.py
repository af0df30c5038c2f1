# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
import pytest

# A failed assert of a bench shows its values, as in tests.
pytest.register_assert_rewrite(*[f"test.gateware.standalone.{name}" for name in ("bench", "clients", "host", "ports")])
