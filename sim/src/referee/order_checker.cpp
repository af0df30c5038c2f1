// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "referee/order_checker.h"

#include "litepcie_regs.h"
#include "referee/tlp_checker.h"

#include <algorithm>

namespace litepcie {

// Data of the Descriptors ---------------------------------------------------------------------------------------------

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

// Order ---------------------------------------------------------------------------------------------------------------

namespace {

constexpr unsigned kMostOwed = 2;
constexpr uint64_t kStride = LITEPCIE_READER_BASE(1) - LITEPCIE_READER_BASE(0);
constexpr uint64_t kWriters = LITEPCIE_WRITER_BASE(0) - LITEPCIE_READER_BASE(0);
constexpr unsigned kMsixEntry = 16, kMsixData = 8;  // bytes

std::string number(uint64_t value) { return std::to_string(value); }

uint32_t little_endian(const uint8_t *p) { return p[0] | p[1] << 8 | p[2] << 16 | uint32_t(p[3]) << 24; }

bool is_status_block(const DescribedData &data, const Tlp &tlp) {
    return data.followed() && tlp.first_byte() == data.status_address() &&
           tlp.enabled_bytes() == LITEPCIE_STATUS_BYTES && 4 * tlp.length() == LITEPCIE_STATUS_BYTES;
}

bool is_report(const DescribedData &data, const Tlp &tlp) {
    const uint64_t reports = data.status_address() + LITEPCIE_REPORT_OFFSET;
    return data.followed() && tlp.first_byte() - reports < LITEPCIE_REPORT_BYTES * data.ring_slots() &&
           tlp.length() == 1 && tlp.enabled_bytes() == LITEPCIE_REPORT_BYTES;
}

}  // namespace

OrderChecker::OrderChecker(HostMemory &memory, unsigned channels, unsigned streams)
    : memory_(memory), channels_(channels), streams_(streams) {
    reset();
}

void OrderChecker::reset() {
    readers_.clear();
    writers_.clear();
    for (unsigned n = 0; n < channels_ + streams_; n++) {
        const Run reader{DescribedData(memory_, false)}, writer{DescribedData(memory_, n >= channels_)};
        readers_.push_back({reader, reader});
        writers_.push_back({writer, writer});
    }
    reads_.fill({});
    armed_.fill(0);
    user_vectors_ = 0;
    msix_data_.fill(0);
}

// The Host ------------------------------------------------------------------------------------------------------------

void OrderChecker::host_writes(uint64_t offset, uint32_t value) {
    if (offset == LITEPCIE_CONTROL && value & LITEPCIE_CONTROL_RESET) {
        for (std::vector<Engine> *engines : {&readers_, &writers_})
            for (Engine &engine : *engines)
                reset(engine);
    } else if (offset == LITEPCIE_INTERRUPT_ARM) {
        arm(value);
    } else if (offset == LITEPCIE_INTERRUPT_VECTOR) {
        user_vectors_ = value;
    } else if (offset - LITEPCIE_MSIX_TABLE < kMsixEntry * msix_data_.size()) {
        if (offset % kMsixEntry == kMsixData)
            msix_data_[(offset - LITEPCIE_MSIX_TABLE) / kMsixEntry] = value;
    } else if (offset - LITEPCIE_READER_BASE(0) < kStride * readers_.size()) {
        const uint64_t at = offset - LITEPCIE_READER_BASE(0);
        Engine &engine = (at % kStride < kWriters ? readers_ : writers_)[at / kStride];
        if (at % kWriters == LITEPCIE_ENGINE_CONTROL && value & LITEPCIE_ENGINE_CONTROL_RESET)
            reset(engine);
        else
            engine.run.data.host_writes(at % kWriters, value);
        if (engine.run.data.used())
            engine.before.data.reset();
    }
}

// Of an engine that was not followed it is not known what it owes. A second RESET leaves what the first one ended.
void OrderChecker::reset(Engine &engine) {
    if (engine.run.data.used()) {
        const unsigned owed = engine.run.owed + engine.before.owed, taken = engine.run.taken + engine.before.taken;
        engine.before = engine.run;
        engine.before.taken = taken;
        engine.before.owed = engine.run.data.followed() ? std::min(owed, kMostOwed) : kMostOwed;
    }
    engine.run.data.reset();
    engine.run.owed = engine.run.taken = 0;
}

void OrderChecker::arm(uint32_t bits) {
    for (size_t n = 0; n < armed_.size(); n++)
        if (bits >> n & 1)
            armed_[n] = std::min(armed_[n] + 1, kMostOwed);
}

void OrderChecker::completion(const Tlp &tlp) {
    Read &read = reads_[tlp.tag()];
    if (!tlp.has_data())
        return;
    const unsigned carried = std::min(4 * tlp.length() - (tlp.lower_address() & 3), read.bytes);
    for (Engine &engine : readers_)
        for (Run *run : {&engine.run, &engine.before})
            run->data.pass(read.address, carried);
    read.address += carried;
    read.bytes -= carried;
}

// The Card ------------------------------------------------------------------------------------------------------------

void OrderChecker::from_card(const Tlp &tlp) {
    if (tlp.is_memory_write()) {
        write(tlp);
    } else if (tlp.is_memory_read()) {
        reads_[tlp.tag()] = {tlp.first_byte(), tlp.enabled_bytes()};
        for (Engine &engine : readers_)
            for (Run *run : {&engine.run, &engine.before})
                run->data.request(tlp.first_byte(), tlp.enabled_bytes());
    }
}

void OrderChecker::write(const Tlp &tlp) {
    for (std::vector<Engine> *engines : {&readers_, &writers_})
        for (Engine &engine : *engines) {
            if (is_status_block(engine.run.data, tlp)) {
                for (; engine.before.owed; engine.before.owed--)
                    pass_on(engine.before);
                return status_block(engine.run, tlp, true);
            }
            if (is_status_block(engine.before.data, tlp))
                status_block(engine.before, tlp, false);
        }
    for (size_t n = channels_; n < writers_.size(); n++) {
        if (is_report(writers_[n].run.data, tlp))
            return report(writers_[n].run.data, tlp, true);
        if (is_report(writers_[n].before.data, tlp))
            report(writers_[n].before.data, tlp, false);
    }
    for (Engine &engine : writers_)
        for (Run *run : {&engine.run, &engine.before}) {
            run->data.request(tlp.first_byte(), tlp.enabled_bytes());
            run->data.pass(tlp.first_byte(), tlp.enabled_bytes());
        }
}

// `certain`: it can be nothing else.
void OrderChecker::status_block(Run &run, const Tlp &tlp, bool certain) {
    uint8_t block[LITEPCIE_STATUS_BYTES];
    tlp.payload_bytes(block);
    const uint32_t slots = little_endian(block + 4 * LITEPCIE_STATUS_COMPLETED);
    const uint64_t bytes = little_endian(block + 4 * LITEPCIE_STATUS_BYTES_LO) |
                           uint64_t(little_endian(block + 4 * LITEPCIE_STATUS_BYTES_HI)) << 32;
    const bool too_many_bytes = bytes > run.data.bytes(), too_many_slots = int32_t(slots - run.data.slots()) > 0;
    if (certain && too_many_bytes)
        throw Violation("status block reports " + number(bytes) + " bytes, of which only " + number(run.data.bytes()) +
                            " have passed the link",
                        tlp);
    if (certain && too_many_slots)
        throw Violation("status block reports " + number(slots) + " slots of the ring, of which only " +
                            number(run.data.slots()) + " have passed the link",
                        tlp);
    if (too_many_bytes || too_many_slots)
        return;
    const bool stopped = block[4 * LITEPCIE_STATUS_REASON] != LITEPCIE_REASON_NONE;
    if (run.data.interrupts(slots, bytes) || stopped)
        owe(run);
}

void OrderChecker::owe(Run &run) {
    if (run.owed < kMostOwed)
        run.owed++;
    else
        pass_on(run);
}

// An MSI that was taken for that of another engine may have been that of `run`.
void OrderChecker::pass_on(const Run &run) {
    for (std::vector<Engine> *engines : {&readers_, &writers_})
        for (Engine &engine : *engines)
            for (Run *other : {&engine.before, &engine.run})
                if (other != &run && other->taken && other->owed < kMostOwed &&
                    other->data.vector() == run.data.vector()) {
                    other->taken--;
                    other->owed++;
                    return;
                }
}

void OrderChecker::report(DescribedData &described, const Tlp &tlp, bool certain) {
    uint8_t data[LITEPCIE_REPORT_BYTES];
    tlp.payload_bytes(data);
    const uint64_t slot = (tlp.address() - described.status_address() - LITEPCIE_REPORT_OFFSET) / LITEPCIE_REPORT_BYTES;
    const unsigned bytes = little_endian(data) & LITEPCIE_REPORT_BYTES_MASK;
    if (!described.report(slot, bytes) && certain)
        throw Violation(
            "report of " + number(bytes) + " bytes in slot " + number(slot) + ", which have not passed the link", tlp);
}

// Interrupts ----------------------------------------------------------------------------------------------------------

// Whichever engine has sent it, it must be one that owes an interrupt.
template <typename Has> void OrderChecker::take_interrupt(Has has_vector, unsigned vector) {
    bool used = false, known = true;
    for (std::vector<Engine> *engines : {&readers_, &writers_})
        for (Engine &engine : *engines)
            for (Run *run : {&engine.before, &engine.run}) {
                if (!has_vector(run->data.vector()))
                    continue;
                if (run->owed) {
                    run->owed--;
                    run->taken++;
                    return;
                }
                used |= run->data.used();
                known &= run->data.followed() || !run->data.used();
            }
    for (size_t n = 0; n < armed_.size(); n++) {
        const bool each = user_vectors_ & LITEPCIE_INTERRUPT_VECTOR_EACH;
        if (armed_[n] && has_vector((user_vectors_ & LITEPCIE_INTERRUPT_VECTOR_FIRST_MASK) + (each ? n : 0))) {
            armed_[n]--;
            return;
        }
    }
    if (used && known)
        throw Violation("interrupt " + number(vector) + " comes before the status block that it announces");
}

void OrderChecker::msi(unsigned vector) {
    take_interrupt([vector](unsigned other) { return other == vector; }, vector);
}

void OrderChecker::msix(uint32_t data) {
    take_interrupt([this, data](unsigned vector) { return vector < msix_data_.size() && msix_data_[vector] == data; },
                   data);
}

}  // namespace litepcie
