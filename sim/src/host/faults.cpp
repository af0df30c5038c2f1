// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "host/faults.h"

#include <stdexcept>

namespace litepcie {

namespace {

const std::map<std::string, Fault> kNames = {
    {"ur", Fault::Unsupported}, {"ca", Fault::Abort},  {"poison", Fault::Poison},       {"drop", Fault::Drop},
    {"short", Fault::Short},    {"late", Fault::Late}, {"duplicate", Fault::Duplicate},
};

}  // namespace

void FaultInjector::parse(const std::string &text, uint64_t base) {
    size_t at = text.find('@');
    std::string count = at == std::string::npos ? "" : text.substr(at + 1);
    auto name = kNames.find(text.substr(0, at));
    bool digits = !count.empty() && count.size() <= 18 && count.find_first_not_of("0123456789") == std::string::npos;
    if (name == kNames.end() || !digits || std::stoull(count) == 0)
        throw std::invalid_argument(
            "'" + text + "' is not FAULT@N with FAULT ur, ca, poison, drop, short, duplicate or late, and N from 1");
    faults_[base + std::stoull(count)] = name->second;
}

void FaultInjector::add(const std::string &text) { parse(text, 0); }

void FaultInjector::add_next(const std::string &text) { parse(text, completions_); }

Fault FaultInjector::next() {
    completions_++;
    if (faults_.empty())
        return Fault::None;
    auto fault = faults_.find(completions_);
    if (fault == faults_.end())
        return Fault::None;
    injected_++;
    Fault kind = fault->second;
    faults_.erase(fault);
    return kind;
}

}  // namespace litepcie
