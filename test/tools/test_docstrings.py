# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests of tools/docstrings.py, which makes the gateware reference."""

import pytest

from tools import docstrings

MODULE = '''\
"""A module."""

WIDTH = 3


class Shown(Base):
    """Does a thing.

    With ``code`` and a_name.

    Parameters
    ----------
    width : bits.
    depth : words,
        a power of two.

    Attributes
    ----------
    `source` : stream, **out**, `sys`: LITEPCIE_*.
    a, b     : Signal(), **in**.

    Registers: none.
    """
    def __init__(self, width, *, depth=4):
        pass

    def add(self, port):
        """Adds a port.

        Parameters
        ----------
        port : a port.
        """


class _Hidden:
    """Not public."""


def function(a, b=1):
    """Adds."""
'''

PAGE = """\
# part

Made of the docstrings in `gateware/part/`.

## `part/module.py`

A module.

### Shown

    Shown(width, *, depth=4)

Does a thing.

With `code` and a\\_name.

**Parameters**

- `width`: bits.
- `depth`: words, a power of two.

**Attributes**

- `source`: stream, **out**, `sys`: LITEPCIE\\_\\*.
- `a`, `b`: Signal(), **in**.

Registers: none.

#### Shown.add

    add(port)

Adds a port.

**Parameters**

- `port`: a port.

### function

    function(a, b=1)

Adds.
"""


@pytest.fixture
def gateware(tmp_path, monkeypatch):
    """A small gateware/ with the folders soc, part and build."""
    for name in ("part", "soc", "build"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    (tmp_path / "part" / "module.py").write_text(MODULE)
    monkeypatch.setattr(docstrings, "GATEWARE", tmp_path)
    return tmp_path


def test_a_page(gateware):
    assert docstrings.page("part") == PAGE


def test_the_folders_and_their_order(gateware):
    assert docstrings.packages() == ["soc", "part"]


@pytest.mark.parametrize("text, markdown", [
    ("a < b and c_d",    r"a &lt; b and c\_d"),
    ("``a_b`` and `c`",  "`a_b` and `c`"),
    ("**in**, *x*",      r"**in**, \*x\*"),
])
def test_escaped(text, markdown):
    assert docstrings.escaped(text) == markdown
