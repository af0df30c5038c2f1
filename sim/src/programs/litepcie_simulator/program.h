// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"
#include "machine/machine.h"

namespace litepcie {

// The program litepcie_simulator, whatever its card is: parses the command line, serves a client, and returns the exit
// status. `add_options`: adds those of the machine. `stats`: the file for figures, or empty, once they are parsed.
int simulator_program(int argc, char **argv, const std::function<void(CommandLine &)> &add_options,
                      const std::string &stats, const MakeMachine &make);

}  // namespace litepcie
