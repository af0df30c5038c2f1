# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests of tools/check_imports.py, in small trees."""

import pytest

from tools import check_imports


@pytest.fixture
def tree(tmp_path):
    """Makes a tree of files, {path: text}, and returns the complaints about it."""
    def make(files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        return list(check_imports.complaints(list(files), tmp_path))
    return make


def test_a_made_cycle_is_found(tree):
    assert tree({
        "gateware/phy/a.py": "import re\nfrom litepcie_soc.tlp.b import B\n",
        "gateware/tlp/b.py": "def late():\n    from litepcie_soc.phy import c\n",
        "gateware/phy/c.py": "",
    }) == ["gateware/phy imports gateware/tlp (gateware/phy/a.py:2); "
        "gateware/tlp imports gateware/phy (gateware/tlp/b.py:2)"]


@pytest.mark.parametrize("text", ["from ..tlp.b import B\n", "from .. import tlp\n", "from litepcie_soc import tlp\n",
    "if True:\n    import os, litepcie_soc.tlp.b\n"])
def test_every_form_of_an_import_counts(tree, text):
    files = {"gateware/phy/a.py": text, "gateware/tlp/b.py": "from litepcie_soc.phy.a import A\n"}
    assert len(tree(files)) == 1


def test_an_import_in_one_direction_is_no_cycle(tree):
    assert tree({
        "gateware/phy/a.py":            "from litepcie_soc.phy import b\nimport litex\n",
        "gateware/phy/b.py":            "from litepcie_soc.phy.a import A\n",
        "gateware/phy/ultrascale/c.py": "from litepcie_soc.phy.b import B\n",
        "test/gateware/test_a.py":      "import litepcie_soc.phy.a\n",
    }) == []


def test_includes_of_the_simulator_count(tree):
    assert tree({
        "sim/src/main.cpp":      '#include "host/host.h"\n#include "link/tlp.h"\n',
        "sim/src/host/host.h":   '#include <vector>\n#include "memory.h"\n# include "link/tlp.h"\n',
        "sim/src/host/memory.h": "",
        "sim/src/link/tlp.h":    "",
        "sim/src/link/tlp.cpp":  '#include "link/tlp.h"\n#include "host/memory.h"\n#include "nlohmann/json.h"\n',
    }) == ["sim/src/host imports sim/src/link (sim/src/host/host.h:3); "
        "sim/src/link imports sim/src/host (sim/src/link/tlp.cpp:2)"]
