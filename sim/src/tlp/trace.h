// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "tlp/tlp.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace litepcie {

// Writes a text file with one line for each TLP: cycle, nanoseconds, direction (> to the card, < to the host), fields.
class Trace {
  public:
    // With an empty path it writes nothing. Throws std::runtime_error if the file cannot be written.
    Trace(const std::string &path, uint64_t clock_hz);
    bool on() const { return file_ != nullptr; }
    void tlp(uint64_t cycle, char direction, const Tlp &tlp);
    void event(uint64_t cycle, char direction, const std::string &text);

  private:
    struct Close {
        void operator()(FILE *file) const { fclose(file); }
    };
    std::unique_ptr<FILE, Close> file_;
    double ns_per_cycle_;
};

}  // namespace litepcie
