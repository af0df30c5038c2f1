// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "referee/described_data.h"
#include "tlp/tlp.h"

#include <array>
#include <cstdint>
#include <vector>

namespace litepcie {

// Checks that nothing which reports data overtakes the data: "complete means landed" (docs/contracts/dma.md). It throws
// Violation if
// - a status block reports bytes or slots of the ring whose completions have not reached the card, or which the card
//   has not sent, or a buffer of a stream whose report it has not sent;
// - a report of a stream comes before the bytes of its buffer;
// - an MSI comes before the status block that it announces.
//
// It knows what the card can know: what the host wrote into registers and into descriptors, and the TLPs. While an
// MSI of an engine has not been sent yet, the engine may write one more status block that asks for an MSI. So each
// engine may owe two MSIs. If it sends one for both, the check of its later MSIs is looser by one.
//
// An MSI does not say who sent it. So it is taken for that of any engine, or of the user's logic, that has its vector
// and owes one. Each then follows a status block that none has announced, which is all that a driver can see of it. The
// engine that sent it may then owe one less than is known here: if it asks for one more, the other engine owes that.
//
// A RESET takes time to reach the card, which goes on meanwhile: the engine is followed until the host enables it
// again. But when the RESET has ended, which is not seen here, the host may use its memory for other data. So what is
// written there is a status block or a report only if it can be one, and may be data as well. An MSI that it owes then
// has been withdrawn, or still waits for the link. If it comes, it comes before the first status block of the engine's
// next run, which needs the same credits and begins later.
class OrderChecker {
  public:
    // `channels` memory channels, then `streams` channels of streams. Without any, nothing is checked.
    OrderChecker(HostMemory &memory, unsigned channels, unsigned streams);

    // The host writes `value` to the register at `offset` of BAR0.
    void host_writes(uint64_t offset, uint32_t value);
    // The card sends a memory request that is no interrupt.
    void from_card(const Tlp &tlp);
    // A completion reaches the card that answers one of its requests.
    void completion(const Tlp &tlp);
    // The card sends an interrupt: the vector of an MSI, or the data of a message of MSI-X.
    void msi(unsigned vector);
    void msix(uint32_t data);
    // The function is reset, or the link is down.
    void reset();

  private:
    struct Run {
        DescribedData data;
        unsigned owed = 0;   // MSIs
        unsigned taken = 0;  // MSIs that may be those of another engine
    };
    struct Engine {
        Run run;
        Run before;  // the run that the last reset ended; its data are followed until the next run begins
    };
    struct Read {
        uint64_t address = 0;  // of the next byte
        unsigned bytes = 0;    // that have not come
    };

    static void reset(Engine &engine);
    void write(const Tlp &tlp);
    void status_block(Run &run, const Tlp &tlp, bool certain);
    void owe(Run &run);
    void pass_on(const Run &run);
    static void report(DescribedData &described, const Tlp &tlp, bool certain);
    void arm(uint32_t bits);
    template <typename Has> void take_interrupt(Has has_vector, unsigned vector);

    HostMemory &memory_;
    unsigned channels_, streams_;
    std::vector<Engine> readers_, writers_;
    std::array<Read, 256> reads_;
    std::array<unsigned, 16> armed_{};  // messages that each interrupt of the user's logic may send
    uint32_t user_vectors_ = 0;         // the register INTERRUPT_VECTOR
    std::array<uint32_t, 32> msix_data_{};
};

}  // namespace litepcie
