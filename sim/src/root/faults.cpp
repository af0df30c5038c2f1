// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "root/faults.h"

#include <stdexcept>

namespace litepcie {

namespace {

const std::map<std::string, Fault> kNames = {
    {"ur", Fault::Unsupported},      {"ca", Fault::Abort},    {"poison", Fault::Poison},       {"drop", Fault::Drop},
    {"short", Fault::Short},         {"late", Fault::Late},   {"duplicate", Fault::Duplicate}, {"hold", Fault::Hold},
    {"requester", Fault::Requester}, {"wrong", Fault::Wrong},
};

}  // namespace

void FaultInjector::parse(const std::string &text, uint64_t base) {
    const size_t at = text.find_first_of("@%");
    const std::string digits = at == std::string::npos ? "" : text.substr(at + 1);
    const auto name = kNames.find(text.substr(0, at));
    const bool number =
        !digits.empty() && digits.size() <= 18 && digits.find_first_not_of("0123456789") == std::string::npos;
    const uint64_t count = number ? std::stoull(digits) : 0;
    const bool share = number && text[at] == '%';
    if (name == kNames.end() || count == 0 || (share && count > 1000))
        throw std::invalid_argument("'" + text +
                                    "' is not FAULT@N or FAULT%P with FAULT ur, ca, poison, drop, short, duplicate, "
                                    "late, hold, requester or wrong, N from 1, and P from 1 to 1000");
    if (share)
        at_random_.emplace_back(name->second, count);
    else
        faults_[base + count] = name->second;
}

void FaultInjector::add(const std::string &text) { parse(text, 0); }

void FaultInjector::add_next(const std::string &text) { parse(text, completions_); }

Fault FaultInjector::next() {
    completions_++;
    const auto fault = faults_.find(completions_);
    if (fault != faults_.end()) {
        const Fault kind = fault->second;
        faults_.erase(fault);
        injected_++;
        return kind;
    }
    for (const auto &[kind, share] : at_random_)
        if (random_() % 1000 < share) {
            injected_++;
            return kind;
        }
    return Fault::None;
}

}  // namespace litepcie
