// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "referee/described_data.h"

#include "litepcie_regs.h"

#include <algorithm>

namespace litepcie {

namespace {

constexpr uint32_t kReserved = 0x7c000000;  // bits of dword 0 that must be 0
constexpr unsigned kMostLinks = 16;         // in a row, of which the engine refuses the last

}  // namespace

// Registers -----------------------------------------------------------------------------------------------------------

void DescribedData::host_writes(unsigned offset, uint32_t value) {
    switch (offset) {
    case LITEPCIE_ENGINE_CONTROL: control(value); break;
    case LITEPCIE_ENGINE_RING_LO: set_half(ring_, 0, value); break;
    case LITEPCIE_ENGINE_RING_HI: set_half(ring_, 32, value); break;
    case LITEPCIE_ENGINE_STATUS_ADDRESS_LO: set_half(status_, 0, value); break;
    case LITEPCIE_ENGINE_STATUS_ADDRESS_HI: set_half(status_, 32, value); break;
    case LITEPCIE_ENGINE_RING_LOG2:
        if (ring_may_change())
            log2_ = std::min<unsigned>(value, LITEPCIE_MAX_RING_LOG2);
        break;
    case LITEPCIE_ENGINE_DOORBELL:
    case LITEPCIE_ENGINE_DIRECT_DOORBELL:
        written_ = value;
        doorbell();
        break;
    case LITEPCIE_ENGINE_INTERRUPT: vector_ = value & LITEPCIE_ENGINE_INTERRUPT_VECTOR_MASK; break;
    default: break;
    }
}

// The engine ignores the write while it is on. While it pauses with work left, it is not known whether it does.
bool DescribedData::ring_may_change() {
    if (!enabled_ && doorbell_ != slots_)
        followed_ = false;
    return !enabled_;
}

void DescribedData::set_half(uint64_t &address, unsigned shift, uint32_t value) {
    if (ring_may_change())
        address = (address & ~(uint64_t(UINT32_MAX) << shift)) | uint64_t(value) << shift;
}

void DescribedData::control(uint32_t value) {
    const bool begins = !enabled_ && value & LITEPCIE_ENGINE_CONTROL_ENABLE;
    enabled_ = value & LITEPCIE_ENGINE_CONTROL_ENABLE;
    if (!begins)
        return;
    if (!used_)
        followed_ = true;
    used_ = true;
    doorbell();
}

void DescribedData::reset() {
    enabled_ = followed_ = used_ = stuck_ = link_interrupts_ = unreported_ = false;
    written_ = doorbell_ = read_ = slots_ = table_left_ = 0;
    bytes_ = slot_begin_ = next_ = 0;
    pieces_.clear();
    interrupts_.clear();
}

// The engine stops at a value that is less than the one before, or more than a ring ahead.
void DescribedData::doorbell() {
    if (enabled_ && int32_t(written_ - doorbell_) > 0 && written_ - read_ <= 1u << log2_)
        doorbell_ = written_;
}

// Descriptors ---------------------------------------------------------------------------------------------------------

bool DescribedData::next_descriptor(uint32_t (&words)[4]) {
    uint64_t address = table_;
    if (table_left_) {
        table_left_--;
        table_ += LITEPCIE_DESCRIPTOR_BYTES;
    } else {
        if (read_ == doorbell_)
            return false;
        address = ring_ + uint64_t(read_++ & ((1u << log2_) - 1)) * LITEPCIE_DESCRIPTOR_BYTES;
    }
    // What the client of vfio-user has to be asked for is not followed.
    if (!memory_->at_once(address, sizeof(words))) {
        followed_ = false;
        return false;
    }
    stuck_ = !memory_->read(address, reinterpret_cast<uint8_t *>(words), sizeof(words));
    return !stuck_;
}

// Reads the next descriptor that is not a LINK.
DescribedData::Piece *DescribedData::next_piece() {
    uint32_t words[4];
    for (unsigned links = 0; !stuck_ && next_descriptor(words); links++) {
        const uint32_t length = words[0] & LITEPCIE_DESCRIPTOR_LENGTH_MASK;
        const uint64_t address = words[2] | uint64_t(words[3]) << 32;
        const bool interrupt = words[0] & LITEPCIE_DESCRIPTOR_INTERRUPT;
        const bool again = words[0] & LITEPCIE_DESCRIPTOR_LINK && links + 1 == kMostLinks;
        if (words[0] & kReserved || !length || again) {
            stuck_ = true;
        } else if (words[0] & LITEPCIE_DESCRIPTOR_LINK) {
            table_ = address;
            table_left_ = length;
            link_interrupts_ |= interrupt;
        } else {
            const bool ends_slot = !table_left_;
            pieces_.push_back({address, length, 0, 0, interrupt || (ends_slot && link_interrupts_), ends_slot});
            link_interrupts_ &= !ends_slot;
            return &pieces_.back();
        }
    }
    return nullptr;
}

// Data ----------------------------------------------------------------------------------------------------------------

void DescribedData::request(uint64_t address, unsigned bytes) {
    if (!followed_ || unreported_)
        return;
    Piece *piece = next_ < pieces_.size() ? &pieces_[next_] : next_piece();
    if (!piece)
        return;
    const uint64_t at = piece->address + piece->requested;
    if (address > at || at - address >= bytes)
        return;
    piece->requested = std::min<uint64_t>(piece->bytes, address + bytes - piece->address);
    next_ += piece->requested == piece->bytes;
}

void DescribedData::pass(uint64_t address, unsigned bytes) {
    const size_t requested = std::min(pieces_.size(), next_ + 1);
    for (size_t i = 0; i < requested; i++) {
        Piece &piece = pieces_[i];
        const uint64_t begin = std::max(address, piece.address);
        const uint64_t end = std::min(address + bytes, piece.address + piece.requested);
        if (begin < end)
            piece.passed += std::min<uint64_t>(end - begin, piece.bytes - piece.passed);
    }
    while (!pieces_.empty() && pieces_.front().passed == pieces_.front().bytes) {
        const bool ends_slot = pieces_.front().ends_slot;
        drop_front();
        if (reports_)
            unreported_ = ends_slot;
        else
            slots_ += ends_slot;
    }
}

void DescribedData::drop_front() {
    bytes_ += pieces_.front().passed;
    if (pieces_.front().interrupt && !reports_)
        interrupts_.push_back(bytes_);
    pieces_.pop_front();
    next_ -= next_ > 0;
}

bool DescribedData::report(uint32_t slot, unsigned bytes) {
    if (slot != (slots_ & ((1u << log2_) - 1)) || this->bytes() - slot_begin_ < bytes)
        return false;
    // A packet that ends skips the rest of the buffer, and of its table.
    for (bool ended = unreported_; !ended && !pieces_.empty();) {
        ended = pieces_.front().ends_slot;
        drop_front();
    }
    table_left_ = 0;
    link_interrupts_ = unreported_ = false;
    slot_begin_ = bytes_;
    interrupts_.push_back(++slots_);
    return true;
}

bool DescribedData::interrupts(uint32_t slots, uint64_t bytes) {
    bool found = false;
    while (!interrupts_.empty() &&
           (reports_ ? int32_t(slots - uint32_t(interrupts_.front())) >= 0 : interrupts_.front() <= bytes)) {
        interrupts_.pop_front();
        found = true;
    }
    return found;
}

}  // namespace litepcie
