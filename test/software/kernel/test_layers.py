# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Calls between the driver's files follow the layers that driver.h lists."""

import re

from pathlib import Path

DRIVER = Path(__file__).resolve().parents[3] / "software" / "kernel"
LAYER  = re.compile(r"^ \*\t((?:\w+\.c ?)+)\t+\S", re.M)


def layers():
    """File names of each layer, highest layer first."""
    return [found[1].split() for found in LAYER.finditer((DRIVER / "driver.h").read_text())]


def code(path):
    """C without comments and strings."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\]|\\.)*"', "", path.read_text(), flags=re.DOTALL)


def definitions(text):
    """Names of the functions and variables that a file defines for the other files."""
    functions = re.findall(r"^(?!static|extern|\s|#)[\w \*]*?\n?(litepcie_\w+)\([^;{}]*\)\n\{", text, re.M)
    variables = re.findall(r"^(?!static|extern|\s|#)[\w \*]*?(litepcie_\w+)(?:\[\])? = ", text, re.M)
    macros    = re.findall(r"^DEFINE_SIMPLE_DEV_PM_OPS\((litepcie_\w+)", text, re.M)
    return {*functions, *variables, *macros}


def references():
    """{file: the other files whose functions or variables it names}."""
    files = {path.name: code(path) for path in DRIVER.glob("*.c") if not path.name.endswith("_test.c")}
    owner = {name: file for file, text in files.items() for name in definitions(text)}
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
