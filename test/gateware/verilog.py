#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Compares the ports of a design in Migen's simulation with the ports of its Verilog in Verilator.

Migen computes with integers of any size, Verilog with widths and signs: a test that passes in the one can fail
in the other. `Recorder` writes down every port in every cycle, `replay` plays it to the Verilog.
"""

import subprocess

from array import array

from test.gateware.verilate import to_verilog, verilate

# Record -------------------------------------------------------------------------------------------

def words_of(signal):
    return -(-len(signal)//32)


class Recorder:
    """Every value of `inputs` and `outputs` (lists of Signals) in every cycle."""
    def __init__(self, inputs, outputs):
        self.signals = inputs + outputs
        self.words   = array("I")
        self.cycles  = 0

    def watch(self):
        bits  = [len(signal) for signal in self.signals]
        sizes = [4*words_of(signal) for signal in self.signals]
        while True:
            values = yield self.signals
            self.words.frombytes(b"".join([(value & (1 << nbits) - 1).to_bytes(size, "little")
                for value, nbits, size in zip(values, bits, sizes)]))
            self.cycles += 1
            yield

# Replay -------------------------------------------------------------------------------------------

MAIN = """
#include "Vtop.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <vector>

static unsigned long cycle;
static int wrong;

static void differs(const char *name)
{
    if (++wrong <= 20)
        std::printf("cycle %lu: %s differs\\n", cycle, name);
}

int main(int, char **argv)
{
    std::FILE *file = std::fopen(argv[1], "rb");
    std::vector<uint32_t> frame(@WORDS@);
    Vtop top;
    top.sys_rst = 0;
    for (cycle = 0; std::fread(frame.data(), 4, frame.size(), file) == frame.size(); cycle++) {
        const uint32_t *w = frame.data();
        @INPUTS@
        top.sys_clk = 0;
        top.eval();
        @OUTPUTS@
        top.sys_clk = 1;
        top.eval();
    }
    std::printf("%lu cycles, %d differences\\n", cycle, wrong);
    return wrong != 0;
}
"""


def statements(signals, names, offset, template):
    """C++ that moves or compares each signal word by word."""
    lines = []
    for signal in signals:
        name, words = names(signal), words_of(signal)
        if words <= 2:
            value = f"w[{offset}]" if words == 1 else f"(uint64_t)w[{offset + 1}] << 32 | w[{offset}]"
            lines.append(template(f"top.{name}", value, name))
        else:
            lines += [template(f"top.{name}[{n}]", f"w[{offset + n}]", name) for n in range(words)]
        offset += words
    return "\n        ".join(lines), offset


def replay(folder, make, ports, recorder):
    """Plays `recorder` to the Verilog of the design `make()`, whose (inputs, outputs) are `ports(design)`.

    Raises AssertionError with the first differences.
    """
    dut, verilog    = to_verilog(make, lambda dut: sum(ports(dut), []))
    inputs, outputs = ports(dut)
    names           = verilog.ns.get_name
    set_inputs, offset = statements(inputs, names, 0, lambda port, value, name: f"{port} = {value};")
    check, offset = statements(outputs, names, offset,
        lambda port, value, name: f'if (({value}) != {port}) differs("{name}");')
    main = MAIN.replace("@WORDS@", str(offset)).replace("@INPUTS@", set_inputs).replace("@OUTPUTS@", check)
    model = verilate({"top.v": verilog.main_source, "main.cpp": main})
    loops = [line for line in model.messages.splitlines() if "UNOPTFLAT" in line]
    assert not loops, "combinatorial loops:\n" + "\n".join(loops)
    verilog.write(str(folder/"top.v"))  # With the contents of memories, which the model reads.
    (folder/"trace.bin").write_bytes(recorder.words.tobytes())
    run = subprocess.run([model.path, "trace.bin"], cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
    assert f"{recorder.cycles} cycles" in run.stdout
