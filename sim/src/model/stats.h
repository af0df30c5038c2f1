// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <string>

namespace litepcie {

class Model;

// Writes the figures of a run as JSON: simulated time, speed of the simulation, traffic and utilisation of the link in
// each direction, upper bounds of the link, and errors. `violation` is the broken rule, or empty. Throws
// std::runtime_error if the file cannot be written.
void write_stats(const Model &model, const std::string &path, const std::string &violation);

}  // namespace litepcie
