# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""docs/pictures/path.py: the picture of the README."""

import importlib.util
import xml.etree.ElementTree

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("path_picture", ROOT / "docs" / "pictures" / "path.py")


def test_the_boxes_lie_in_the_picture_and_no_two_overlap():
    path = importlib.util.module_from_spec(SPEC)
    SPEC.loader.exec_module(path)
    root  = xml.etree.ElementTree.fromstring(path.picture())
    boxes = [tuple(float(rect.get(key)) for key in ("x", "y", "width", "height"))
        for rect in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert len(boxes) == sum(len(row) for _, row, _ in path.ROWS)
    for n, (x, y, width, height) in enumerate(boxes):
        assert 0 <= x and x + width <= path.MIDDLE + 1 and y + height <= float(root.get("height"))
        for other_x, other_y, *_ in boxes[n + 1:]:
            assert other_y >= y + height or (other_y == y and other_x >= x + width)
