# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Calls between the driver's files follow the layers that driver.h lists."""

import importlib.util
import re

from pathlib import Path

DRIVER = Path(__file__).resolve().parents[3] / "software" / "kernel"
SPEC   = importlib.util.spec_from_file_location("stages", DRIVER / "upstream" / "stages.py")
stages = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(stages)
LAYER  = re.compile(r"^ \*\t((?:\w+\.c ?)+)\t+\S", re.M)


def layers():
    """File names of each layer, highest layer first."""
    return [found[1].split() for found in LAYER.finditer((DRIVER / "driver.h").read_text())]


def references():
    """{file: the other files whose functions or variables it names}."""
    files = {path.name: stages.code(path.read_text()) for path in DRIVER.glob("*.c")
        if not path.name.endswith("_test.c")}
    owner = {name: file for file, text in files.items() for name in stages.definitions(text)}
    words = {file: set(re.findall(r"\blitepcie_\w+", text)) for file, text in files.items()}
    return {file: {owner[word] for word in words[file] if word in owner} - {file} for file in files}


def test_every_file_has_one_layer():
    listed = [name for layer in layers() for name in layer]
    assert sorted(listed) == sorted(references())


def test_files_call_lower_layers_only():
    level = {name: number for number, layer in enumerate(layers()) for name in layer}
    wrong = [f"{file} uses {used}" for file, others in references().items() for used in others
        if level[used] <= level[file]]
    assert not wrong
