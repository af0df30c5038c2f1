// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "tlp/trace.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace litepcie {

Trace::Trace(const std::string &path, uint64_t clock_hz) : ns_per_cycle_(1e9 / clock_hz) {
    if (path.empty())
        return;
    file_.reset(fopen(path.c_str(), "w"));
    if (!file_)
        throw std::runtime_error("cannot write trace " + path + ": " + strerror(errno));
    setvbuf(file_.get(), nullptr, _IOLBF, 0);
}

void Trace::tlp(uint64_t cycle, char direction, const Tlp &tlp) {
    if (file_)
        event(cycle, direction, tlp.describe());
}

void Trace::event(uint64_t cycle, char direction, const std::string &text) {
    if (file_)
        fprintf(file_.get(), "%llu %.1f %c %s\n", (unsigned long long)cycle, cycle * ns_per_cycle_, direction,
                text.c_str());
}

}  // namespace litepcie
