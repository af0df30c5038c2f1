// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <string>

namespace litepcie {

class Model;

// The figures of a run as JSON: time, speed of the simulation, traffic and use of the link each way, the link's bound,
// what went wrong. `violation` is empty if none. Throws std::runtime_error if the file cannot be written.
void write_stats(const Model &model, const std::string &path, const std::string &violation);

}  // namespace litepcie
