// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "link/tlp.h"

namespace litepcie {

// Puts the beats of the card together to TLPs and checks the rules of the stream on the way: valid holds and its beat
// stays as it is, where its bytes are enabled, until it is taken; first on the first beat and only there; every byte
// enabled until the end of the TLP, nothing after it. Throws Violation. Lanes that are not enabled are not compared: no
// PHY looks at them.
class StreamChecker {
  public:
    // `name` is how it is called in a Violation. Payload dwords that come `little_endian` are big-endian in tlp().
    explicit StreamChecker(unsigned dwords, const char *name = "stream to the PHY", bool little_endian = false)
        : dwords_(dwords), name_(name), little_endian_(little_endian) {}

    // What the card shows in this cycle, and whether it is taken.
    void observe(bool valid, bool ready, const Beat &beat);
    // Dwords of the beat that belong to the TLP. Throws Violation if the byte enables are no such number.
    unsigned dwords_of(const Beat &beat) const;
    // Adds a taken beat; true when it completed `tlp`.
    bool take(const Beat &beat);
    const Tlp &tlp() const { return tlp_; }
    bool inside() const { return inside_; }
    void reset();

  private:
    [[noreturn]] void fail(const char *rule, const Beat &beat) const;

    unsigned dwords_;
    const char *name_;
    bool little_endian_;
    bool inside_ = false;
    bool held_ = false;  // a beat was shown and not taken
    Beat shown_{};
    Tlp tlp_;
};

}  // namespace litepcie
