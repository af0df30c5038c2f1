#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""docs/pictures/path.py: the picture of the README and its check."""

import importlib.util
import xml.etree.ElementTree

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("path_picture", ROOT / "docs" / "pictures" / "path.py")


@pytest.fixture
def path(tmp_path, monkeypatch):
    """The module, with another place for its picture."""
    module = importlib.util.module_from_spec(SPEC)
    SPEC.loader.exec_module(module)
    monkeypatch.setattr(module, "PICTURE", tmp_path / "path.svg")
    return module


def test_a_missing_or_changed_picture_is_found(path, capsys):
    assert path.main(["--check"]) == 1
    assert path.main(["--write"]) == 0
    assert path.main(["--check"]) == 0
    path.PICTURE.write_text(path.PICTURE.read_text().replace("doorbell", "bell"))
    assert path.main(["--check"]) == 1
    assert "update it with" in capsys.readouterr().err


def test_the_boxes_lie_in_the_picture_and_no_two_overlap(path):
    root  = xml.etree.ElementTree.fromstring(path.picture())
    boxes = [tuple(float(rect.get(key)) for key in ("x", "y", "width", "height"))
        for rect in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert len(boxes) == sum(len(row) for _, row, _ in path.ROWS)
    for n, (x, y, width, height) in enumerate(boxes):
        assert 0 <= x and x + width <= path.MIDDLE + 1 and y + height <= float(root.get("height"))
        for other_x, other_y, *_ in boxes[n + 1:]:
            assert other_y >= y + height or (other_y == y and other_x >= x + width)
