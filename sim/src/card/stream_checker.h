// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "card/card.h"
#include "tlp/tlp.h"

namespace litepcie {

// Assembles the card's beats into TLPs, and checks the rules of the stream. It throws Violation if one is broken:
// - valid stays high, and the beat unchanged, until the beat is accepted. Bytes that are not enabled may change.
// - `first` marks the first beat of a TLP and no other.
// - All bytes are enabled up to the end of the TLP, none after it.
class StreamChecker {
  public:
    // A Violation begins with `name`. If the stream's payload is `little_endian`, tlp() has it big-endian.
    explicit StreamChecker(unsigned dwords, const char *name = "stream to the PHY", bool little_endian = false)
        : dwords_(dwords), name_(name), little_endian_(little_endian) {}

    // Checks what the card shows in this cycle; it is accepted if `valid` and `ready`.
    void observe(bool valid, bool ready, const Beat &beat);
    // Goes on after a Violation that observe() threw.
    void resume(bool valid, bool ready, const Beat &beat);
    // Number of dwords of the beat that belong to the TLP. Throws Violation if the byte enables are wrong.
    unsigned dwords_of(const Beat &beat) const;
    // Adds an accepted beat; true if it was the last of its TLP.
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
    bool held_ = false;  // the previous cycle showed a beat that was not accepted
    Beat shown_{};
    Tlp tlp_;
};

}  // namespace litepcie
