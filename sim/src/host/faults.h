// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace litepcie {

// What the host does wrong with a completion of a read of the card.
//
// Unsupported, Abort   answers with that status and no data; the request ends
// Poison               sets the poisoned bit
// Drop                 never sends this completion nor the following ones of the request
// Short                answers as if the request were shorter: fewer bytes, a matching byte count; the request ends
// Duplicate            sends the completion twice
// Late                 sends it, and the following ones of the request, after twice the card's completion timeout
enum class Fault { None, Unsupported, Abort, Poison, Drop, Short, Duplicate, Late };

// Faults to be injected, by the number of the completion. Completions of the card's reads are counted from 1.
class FaultInjector {
  public:
    // Adds a fault given as "FAULT@N". Throws std::invalid_argument, with the allowed values, if the text is wrong.
    void add(const std::string &text);
    // As add(), but N is counted from the next completion: N = 1 is the next one.
    void add_next(const std::string &text);
    // Counts a completion that is about to be sent, and returns its fault.
    Fault next();
    uint64_t injected() const { return injected_; }

  private:
    void parse(const std::string &text, uint64_t base);

    std::map<uint64_t, Fault> faults_;
    uint64_t completions_ = 0, injected_ = 0;
};

}  // namespace litepcie
