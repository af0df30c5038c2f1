// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace litepcie {

// What the host does to a completion of a card's read.
//
// Unsupported, Abort   answers with that status and ends the request
// Poison               sets the poisoned bit
// Drop                 this completion and all that remain of the request never come
// Short                answers as if the request were shorter: fewer bytes, a byte count to match, and no more
// Duplicate            sends it twice
// Late                 sends it, and what follows, after the card's completion timeout has passed twice
enum class Fault { None, Unsupported, Abort, Poison, Drop, Short, Duplicate, Late };

// Faults by number of completion; the first completion of a card's read is 1.
class FaultInjector {
  public:
    // "FAULT@N", N counted from 1 on. Throws std::invalid_argument with what is allowed.
    void add(const std::string &text);
    // As add(), counted from the next completion.
    void add_next(const std::string &text);
    // The fault of the completion about to be sent.
    Fault next();
    uint64_t injected() const { return injected_; }

  private:
    void parse(const std::string &text, uint64_t base);

    std::map<uint64_t, Fault> faults_;
    uint64_t completions_ = 0, injected_ = 0;
};

}  // namespace litepcie
