#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Plots of the report: where axes begin, and what stands on the bars."""

from litepcie_bench import plots
from litepcie_bench.points import OURS, STOCK, Point
from litepcie_bench.runner import Result


def measured(design, read):
    data = {"theory_bytes_per_second": 1e9}
    for direction, share in (("read", read), ("write", 0.97)):
        data[direction] = {"average_bytes_per_second": share*1e9, "bound_bytes_per_second": 0.98e9}
    return Result(Point("notes", design, 2, 4, 128), data)


def test_axes_begin_where_the_bars_are():
    assert plots.shown_from([81, 99, 50]) == 80 and plots.shown_from([79, 99]) == plots.shown_from([]) == 0
    figure = plots.efficiency_alone([measured(OURS, 0.95), measured(STOCK, 0.5)])
    read, write = figure.axes[:2]
    assert read.get_xlim()[0] == write.get_xlim()[0] == 80
    words = [text.get_text() for text in read.texts]
    assert any(word.startswith("95.0 (") for word in words) and "50.0" in words
    assert min(bar.get_x() for bar in read.patches) == 80, "a bar that ends before the axis is a number only"
    plots.pyplot.close(figure)
