# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Migen's tracer, which names signals by the frames that make them, for tests. Migen decodes all frames for every
signal: half the time of a small design's elaboration. Here each place is decoded once, and frames end at the test."""

import contextlib
import sys

from migen.fhdl import tracer

# Functions of pytest that call tests and fixtures.
END = ("pytest_pyfunc_call", "pytest_fixture_setup")


def nameless(varname=None):
    """For designs that only Python simulates: a third of their elaboration is their signals' names."""
    return [(varname or "signal", 0)]


@contextlib.contextmanager
def named():
    """Inside, signals have names, also where `nameless` is in use."""
    before, tracer.trace_back = tracer.trace_back, NAMED if tracer.trace_back is nameless else tracer.trace_back
    try:
        yield
    finally:
        tracer.trace_back = before


class Tracer:
    def __init__(self):
        self.decode = tracer.get_var_name
        self.names  = {}    # (code, instruction) -> name of the variable, or None.

    def name(self, frame):
        place = frame.f_code, frame.f_lasti
        if place not in self.names:
            self.names[place] = self.decode(frame)
        return self.names[place]

    def trace_back(self, varname=None):
        """Does what `tracer.trace_back` does, without the frames of pytest."""
        found, frame = [], sys._getframe(2)
        while frame is not None and frame.f_code.co_name not in END:
            varname = varname or self.name(frame)
            if varname is not None:
                found.append(counted(varname))
            owner = owner_of(frame)
            if owner is not None:
                found.append(numbered(owner))
            elif varname is not None:
                found.append(counted(name_of_function(frame)))
            varname, frame = None, frame.f_back
        return found[::-1]


def owner_of(frame):
    code = frame.f_code
    if not ("self" in code.co_varnames or "self" in code.co_freevars or "self" in code.co_cellvars or
        code.co_name == "<module>"):
        return None
    owner = frame.f_locals.get("self")
    return None if hasattr(owner, "__del__") else owner


def name_of_function(frame):
    name = frame.f_code.co_name
    return frame.f_globals["__name__"].split(".")[-1] if name == "<module>" else name


def counted(name):
    name   = tracer.remove_underscore(name)
    number = tracer.name_to_idx[name]
    tracer.name_to_idx[name] += 1
    return name, number


def numbered(owner):
    kind   = owner.__class__.__name__.lower()
    owners = tracer.classname_to_objs.setdefault(kind, [])
    number = next((n for n, other in enumerate(owners) if other is owner), len(owners))
    if number == len(owners):
        owners.append(owner)
    return tracer.remove_underscore(kind), number


NAMED = Tracer().trace_back


def install():
    tracer.trace_back = NAMED
