# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Selection of parameters for `make test`, how to see a failure again, and tests that begin without earlier designs."""

import pytest
from migen.fhdl import tracer

from test.gateware.simulation import ROOT, waveform
from test.tracing import nameless


def groups(item):
    """The parameters of a test as lists of names: names of one `parametrize` change together."""
    found = [[name.strip() for name in mark.args[0].split(",")] for mark in item.iter_markers("parametrize")]
    named = {name for names in found for name in names}
    return found + [[name] for name in item.callspec.params if name not in named]


def count_unusual(item, first, given):
    """Counts the groups of parameters that differ from their usual values, which are in `given` or else in `first`."""
    params = item.callspec.params
    return sum(any(params[name] != given.get(name, first[name]) for name in given.keys() & names or names)
        for names in groups(item))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """`one_at_a_time`: marks combinations full in which more than one parameter has an unusual value.

    The usual value of a parameter is its value in the marker. If the marker has none, it is the first value.
    """
    first = {}
    for item in items:
        marker = item.get_closest_marker("one_at_a_time")
        if marker:
            usual = first.setdefault(item.nodeid.split("[")[0], item.callspec.params)
            if count_unusual(item, usual, marker.kwargs) > 1:
                item.add_marker(pytest.mark.full)


@pytest.fixture(params=("reader", "writer"))
def direction(request):
    """Of an engine: the reader reads host memory, the writer writes it."""
    return request.param


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Adds to a failure: the command that makes its waveform, or where the waveform is."""
    outcome = yield
    report  = outcome.get_result()
    if report.failed and report.when != "teardown":
        target = "test-all" if item.get_closest_marker("full") else "test"
        lines  = [f"rerun with: LITEPCIE_VCD=1 make {target} TESTS='\"{item.nodeid}\"'"]
        path   = waveform()
        if path and path.exists():
            shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            lines = [f"waveform: {shown}"]
        report.sections.append(("see it again", "\n".join(lines)))

# Folders whose designs are only simulated, or converted by `to_verilog`.
NAMELESS = {"axi", "common", "dma", "memory", "soc", "soft", "stream_dma", "tlp"}


@pytest.fixture(autouse=True)
def new_design(request, monkeypatch):
    """Migen's tracer keeps a reference to every object that ever made a Signal, and searches that list for each
    new Signal. Without this fixture each test is slower than the one before it, and memory grows without end.
    """
    tracer.classname_to_objs.clear()
    tracer.name_to_idx.clear()
    if request.path.parent.name in NAMELESS and not waveform():
        monkeypatch.setattr(tracer, "trace_back", nameless)
