#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

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


def test_a_cycle_may_have_more_folders_and_packages(tree):
    assert tree({
        "bench/run.py":      "from litepcie_soc import dma\n",
        "gateware/dma/a.py": "import litepcie_soc.soc.b\n",
        "gateware/soc/b.py": "from litepcie_bench.run import run\n",
        "gateware/soc/c.py": "\nimport litepcie_bench.run\n",
    }) == ["bench imports gateware/dma (bench/run.py:1); gateware/dma imports gateware/soc (gateware/dma/a.py:1); "
        "gateware/soc imports bench (gateware/soc/b.py:1, gateware/soc/c.py:2)"]


@pytest.mark.parametrize("text", [
    "from ..tlp import b\n", "from ..tlp.b import B\n", "from .. import tlp\n", "from litepcie_soc import tlp\n",
    "import os, litepcie_soc.tlp.b\n", "if True:\n    import litepcie_soc.tlp\n",
])
def test_every_form_of_an_import_counts(tree, text):
    files = {"gateware/phy/a.py": text, "gateware/tlp/b.py": "from litepcie_soc.phy.a import A\n"}
    assert len(tree(files)) == 1


def test_two_cycles_are_two_lines(tree):
    assert [line.split(" (")[0] for line in tree({
        "sim/a/a.py": "from litepcie_sim.b import b\nfrom litepcie_sim.c import c\n",
        "sim/b/b.py": "import litepcie_sim.a.a\n",
        "sim/c/c.py": "import litepcie_sim.a.a\n",
    })] == ["sim/a imports sim/b", "sim/a imports sim/c"]


def test_an_import_in_one_direction_is_no_cycle(tree):
    assert tree({
        "gateware/phy/a.py":            "from litepcie_soc.phy import b\nimport litex\n",
        "gateware/phy/b.py":            "from litepcie_soc.phy.a import A\n",
        "gateware/phy/ultrascale/c.py": "from litepcie_soc.phy.b import B\n",
        "test/gateware/test_a.py":      "import litepcie_soc.phy.a\n",
    }) == []


def test_a_folder_in_a_package_is_a_folder_of_its_own(tree):
    assert len(tree({
        "gateware/phy/a.py":            "from litepcie_soc.phy import ultrascale\n",
        "gateware/phy/ultrascale/c.py": "from litepcie_soc.phy.a import A\n",
    })) == 1


def test_includes_of_the_simulator_count(tree):
    assert tree({
        "sim/src/main.cpp":      '#include "host/host.h"\n#include "link/tlp.h"\n',
        "sim/src/host/host.h":   '#include <vector>\n#include "memory.h"\n# include "link/tlp.h"\n',
        "sim/src/host/memory.h": "",
        "sim/src/link/tlp.h":    "",
        "sim/src/link/tlp.cpp":  '#include "link/tlp.h"\n#include "host/memory.h"\n#include "nlohmann/json.h"\n',
    }) == ["sim/src/host imports sim/src/link (sim/src/host/host.h:3); "
        "sim/src/link imports sim/src/host (sim/src/link/tlp.cpp:2)"]
