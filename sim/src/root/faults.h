// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace litepcie {

// What the host does wrong with a completion of a read of the card.
//
// Unsupported, Abort   answers with that status and no data; the request ends
// Poison               sets the poisoned bit
// Drop                 never sends this completion nor the following ones of the request
// Short                answers as if the request were shorter: fewer bytes, a matching byte count; the request ends
// Duplicate            sends the completion twice
// Late                 sends it, and the following ones of the request, after twice the card's completion timeout
// Hold                 as Late, but after a random time of up to four times the timeout
// Requester            sends a completion with another requester ID and other data before it
// Wrong                changes one bit of the data, which no check of PCI Express finds
enum class Fault { None, Unsupported, Abort, Poison, Drop, Short, Duplicate, Late, Hold, Requester, Wrong };

// Faults to be injected, by the number of the completion or at random. Completions of the card's reads are counted from
// 1.
class FaultInjector {
  public:
    explicit FaultInjector(uint64_t seed = 1) : random_(seed) {}

    // Adds a fault given as "FAULT@N", or as "FAULT%P": P of 1000 completions, at random. Throws
    // std::invalid_argument, with the allowed values, if the text is wrong.
    void add(const std::string &text);
    // As add(), but N is counted from the next completion: N = 1 is the next one.
    void add_next(const std::string &text);
    // Ends the faults at random.
    void calm() { at_random_.clear(); }
    // Counts a completion that is about to be sent, and returns its fault.
    Fault next();
    uint64_t injected() const { return injected_; }

  private:
    void parse(const std::string &text, uint64_t base);

    std::map<uint64_t, Fault> faults_;
    std::vector<std::pair<Fault, unsigned>> at_random_;  // each with its share of 1000
    std::mt19937_64 random_;
    uint64_t completions_ = 0, injected_ = 0;
};

}  // namespace litepcie
