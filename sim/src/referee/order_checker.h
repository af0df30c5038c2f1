// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "root/host_memory.h"
#include "tlp/tlp.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace litepcie {

// The host memory that the descriptors of one engine describe, and how much of it has passed the link.
//
// It knows the registers of the engine as the host has written them, and reads the descriptors in host memory when the
// card begins to move their data. An engine moves its data in the order of its descriptors: the requests of a reader
// and the writes of a writer begin where the ones before have ended. Of a TLP that another engine may have sent, it
// takes more to be moved than has, never less.
class DescribedData {
  public:
    // `reports`: a writer of a stream, whose buffers end where its reports say.
    DescribedData(HostMemory &memory, bool reports) : memory_(&memory), reports_(reports) {}

    // The host writes `value` to a register of the engine.
    void host_writes(unsigned offset, uint32_t value);
    // Drops the ring's position. The registers keep their values, but the engine does not follow them until it is
    // enabled again.
    void reset();

    // Whether it is known what the engine executes.
    bool followed() const { return followed_; }
    bool used() const { return used_; }  // the engine was enabled
    uint64_t status_address() const { return status_; }
    uint64_t ring_slots() const { return uint64_t(1) << log2_; }
    unsigned vector() const { return vector_; }

    // A read request, or a write, of these bytes.
    void request(uint64_t address, unsigned bytes);
    // The completions of these bytes reach the card, or it has sent them.
    void pass(uint64_t address, unsigned bytes);
    // The slot of the ring that a report is for, and whether so many of its bytes have been written.
    bool report(uint32_t slot, unsigned bytes);

    // What has passed without a gap: slots of the ring, and bytes.
    uint32_t slots() const { return slots_; }
    uint64_t bytes() const { return bytes_ + (pieces_.empty() ? 0 : pieces_.front().passed); }
    // Whether a status block of so many slots and bytes reports a descriptor with INTERRUPT that none before it did.
    // Each buffer of a stream counts as one.
    bool interrupts(uint32_t slots, uint64_t bytes);

  private:
    struct Piece {
        uint64_t address;
        uint32_t bytes, requested, passed;
        bool interrupt, ends_slot;
    };

    bool ring_may_change();
    void set_half(uint64_t &address, unsigned shift, uint32_t value);
    void control(uint32_t value);
    void doorbell();
    Piece *next_piece();
    bool next_descriptor(uint32_t (&words)[4]);
    void drop_front();

    HostMemory *memory_;
    bool reports_;
    bool enabled_ = false, followed_ = false, used_ = false;
    uint64_t ring_ = 0, status_ = 0;
    unsigned log2_ = 0, vector_ = 0;
    uint32_t written_ = 0;   // the register DOORBELL
    uint32_t doorbell_ = 0;  // the last value of it that the engine accepts
    uint32_t read_ = 0;      // slots of the ring whose descriptors have been read
    uint64_t table_ = 0;     // the next descriptor of a table, of which `table_left_` remain
    uint32_t table_left_ = 0;
    bool link_interrupts_ = false;  // a LINK of the slot had INTERRUPT, which its last descriptor takes over
    bool stuck_ = false;            // a descriptor that the engine must refuse
    std::deque<Piece> pieces_;      // read, and not passed
    size_t next_ = 0;               // the first of them that is not requested
    uint32_t slots_ = 0;
    uint64_t bytes_ = 0;
    std::deque<uint64_t> interrupts_;  // the bytes where descriptors with INTERRUPT end, or slots of a stream
    uint64_t slot_begin_ = 0;          // value of bytes() where the slot that is reported next begins
    bool unreported_ = false;          // that slot is full
};

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
