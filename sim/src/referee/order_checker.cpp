// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "referee/order_checker.h"

#include "litepcie_regs.h"
#include "referee/tlp_checker.h"

#include <algorithm>

namespace litepcie {

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
