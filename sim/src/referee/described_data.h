// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "root/host_memory.h"

#include <cstddef>
#include <cstdint>
#include <deque>

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

}  // namespace litepcie
