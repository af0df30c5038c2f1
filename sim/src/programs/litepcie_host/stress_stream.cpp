// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/stress_load.h"

#include "litepcie_regs.h"

#include <algorithm>

namespace litepcie {

namespace {

constexpr uint64_t kMemory[] = {0x20000000, 0x140000000}, kMemoryStep = 0x100000;
constexpr uint64_t kStatus = 0x1000, kTables = 0x2000;  // offsets from the ring
constexpr size_t kLongestTable = 4;

bool begins(const std::vector<uint8_t> &packet, const std::vector<uint8_t> &part) {
    return part.size() <= packet.size() && std::equal(part.begin(), part.end(), packet.begin());
}

bool contains(const std::vector<uint8_t> &packet, const std::vector<uint8_t> &part) {
    return std::search(packet.begin(), packet.end(), part.begin(), part.end()) != packet.end();
}

}  // namespace

StressStream::StressStream(ModelDriver &driver, Random &random, unsigned channel)
    : StressSide(driver, random), base_(any_of(random, {kMemory[0], kMemory[1]}) + channel * kMemoryStep),
      name_("stream in channel " + std::to_string(channel)), reader_(driver, Direction::Reader, channel),
      writer_(driver, Direction::Writer, channel) {
    driver.memory().add_region(base_, kBytes);
    host_ = Expected("the host memory of the " + name_, fill(base_, kBytes));
}

void StressStream::fail(const std::string &what) { throw HostError("the " + name_ + ": " + what); }

// To the card ------------------------------------------------------------------------------------------------------

void StressStream::make_packets(std::vector<Slot> &slots) {
    starts_.push_back(sent_.size());
    sent_.emplace_back();
    for (Slot &slot : slots)
        for (Piece &piece : slot.pieces) {
            const uint8_t *data = memory(base_ + kSource[again_] + piece.from, piece.length);
            sent_.back().insert(sent_.back().end(), data, data + piece.length);
            piece.last = one_in(random_, 3);
            if (piece.last)
                sent_.emplace_back();
        }
    slots.back().pieces.back().last = true;
    if (sent_.back().empty())
        sent_.pop_back();
}

void StressStream::start(bool again) {
    again_ = again;
    reset_ = false;
    active_ = true;
    std::vector<Slot> slots = random_slots(random_, kSourceBytes);
    const uint64_t places[] = {base_ + control(false), base_ + control(true)};
    const DmaEngine::Layout layouts[] = {{places[0], unsigned(1 + below(random_, 6)), places[0] + kStatus},
                                         {places[1], unsigned(1 + below(random_, 6)), places[1] + kStatus}};
    // Of what the card still has, the writer's reset drops any number.
    if (!starts_.empty())
        for (size_t n = *next_.begin(); n <= sent_.size(); n++)
            next_.insert(n);
    make_packets(slots);
    const auto start_reader = [&] {
        reader_.start({layouts[0], base_ + kSource[again], places[0] + kTables, kControlBytes - kTables, 0}, slots);
        passed_ = reader_.dma().read(LITEPCIE_ENGINE_PASSED);
    };
    const bool reader_first = one_in(random_, 2);
    if (reader_first)
        start_reader();
    writer_.configure(layouts[1]);
    memset(memory(places[1] + kStatus + LITEPCIE_REPORT_OFFSET, 4 << layouts[1].ring_log2), 0,
           4 << layouts[1].ring_log2);
    flush_us_ = one_in(random_, 2) ? 1 + below(random_, 20) : 0;
    writer_.write(LITEPCIE_ENGINE_FLUSH_US, flush_us_);
    if (!reader_first)
        start_reader();
    posted_.clear();
    taken_ = 0;
    next_table_ = places[1] + kTables;
    free_.clear();
    for (unsigned cell = 0; cell < kCells; cell++)
        free_.push_back(cell);
    first_ = true;
    short_ = false;
}

void StressStream::feed(bool some) {
    if (reset_)
        return;
    if (!reader_.over())
        reader_.feed(random_, some);
    post_buffers(some);
    take_buffers();
}

// From the card ----------------------------------------------------------------------------------------------------

void StressStream::post_buffers(bool some) {
    const size_t before = posted_.size(), size = size_t(1) << writer_.layout().ring_log2;
    while (posted_.size() - writer_.report().completed < size && !(some && one_in(random_, 3))) {
        const size_t count = one_in(random_, 5) ? 1 + below(random_, kLongestTable) : 1;
        const bool table = count > 1;
        if (free_.size() < count)
            break;
        Buffer buffer;
        std::vector<Descriptor> descriptors;
        for (size_t i = 0; i < count; i++) {
            std::swap(free_[below(random_, free_.size())], free_.back());
            const uint64_t cell = kBuffers[again_] + free_.back() * kCellBytes;
            const uint32_t at = one_in(random_, 2) ? below(random_, kCellBytes) : 0;
            const uint64_t most = any_of<uint64_t>(random_, {40, 600, kCellBytes, kCellBytes});
            buffer.push_back({free_.back(), cell + at, uint32_t(1 + below(random_, std::min(kCellBytes - at, most)))});
            free_.pop_back();
            Descriptor d;
            d.host = base_ + buffer.back().offset;
            d.length = buffer.back().length;
            d.interrupt = i == 0;  // The status block follows each buffer only then.
            descriptors.push_back(d);
        }
        if (table) {
            // Later tables take the place of those that are done: a ring has at most 64 slots.
            const uint64_t bytes = kLongestTable * LITEPCIE_DESCRIPTOR_BYTES,
                           end = base_ + control(true) + kControlBytes;
            next_table_ = next_table_ + bytes > end ? base_ + control(true) + kTables : next_table_;
            writer_.write_table(next_table_, descriptors);
            writer_.add({next_table_, 0, uint32_t(count), false, true});
            next_table_ += bytes;
        } else {
            writer_.add(descriptors[0]);
        }
        posted_.push_back(buffer);
    }
    if (posted_.size() != before)
        writer_.doorbell();
}

void StressStream::take_buffers() {
    const EngineReport status = writer_.report();
    if (status.completed > posted_.size())
        fail("the status block reports " + std::to_string(status.completed) + " buffers of " +
             std::to_string(posted_.size()));
    for (; taken_ < status.completed; taken_++) {
        const uint64_t slot = taken_ & ((1u << writer_.layout().ring_log2) - 1);
        uint32_t report;
        memcpy(&report, memory(writer_.layout().status + LITEPCIE_REPORT_OFFSET + 4 * slot, 4), 4);
        take(posted_[taken_], report);
    }
}

// Takes the bytes of a buffer, compares the others of its cells, and uses the cells for other data.
void StressStream::take(const Buffer &buffer, uint32_t report) {
    uint32_t left = report & LITEPCIE_REPORT_BYTES_MASK, room = 0;
    if (report & LITEPCIE_REPORT_CUT) {
        ended(part_, false);
        part_.clear();
    } else if (short_) {
        fail("a buffer that is not full was reported, and no packet ended");
    }
    if (!left)
        fail("a buffer without bytes was reported");
    for (const Part &part : buffer) {
        const uint32_t bytes = std::min(left, part.length);
        const uint8_t *data = memory(base_ + part.offset, bytes);
        part_.insert(part_.end(), data, data + bytes);
        host_.must(part.offset, data, bytes);
        left -= bytes;
        room += part.length;
        const uint64_t cell = kBuffers[again_] + part.cell * kCellBytes;
        if (!std::equal(host_.at(cell), host_.at(cell) + kCellBytes, memory(base_ + cell, kCellBytes)))
            fail("bytes beside the data of a buffer changed");
        host_.must(cell, fill(base_ + cell, kCellBytes).data(), kCellBytes);
        free_.push_back(part.cell);
    }
    if (left)
        fail("a report has more bytes than its buffer");
    const bool full = (report & LITEPCIE_REPORT_BYTES_MASK) == room;
    short_ = !full && !(report & LITEPCIE_REPORT_LAST) && !flush_us_;
    if (report & LITEPCIE_REPORT_LAST) {
        ended(part_, true);
        part_.clear();
    }
}

// The judge --------------------------------------------------------------------------------------------------------

size_t StressStream::run_of(size_t packet) const {
    return std::upper_bound(starts_.begin(), starts_.end(), packet) - starts_.begin() - 1;
}

// The packets of which one comes next. Any packet of a run that a reset of the reader has ended may be its last one.
std::set<size_t> StressStream::next() const {
    std::set<size_t> all = next_;
    for (size_t packet : next_)
        for (size_t run = run_of(packet) + 1; run < starts_.size(); run++)
            all.insert(starts_[run]);
    return all;
}

void StressStream::ended(const std::vector<uint8_t> &packet, bool whole) {
    std::set<size_t> after;
    // Before the logic has sent a `last`, the rest of a packet comes too, as one that was cut.
    const bool rest = first_ && !whole_;
    for (size_t n : next()) {
        const bool known = n < sent_.size();
        const size_t run = run_of(n) + 1;
        if (whole && known && packet == sent_[n])
            after.insert(n + 1);
        if (whole)
            continue;
        if (run < starts_.size() &&
            (packet.empty() ? first_ : begins(sent_[n], packet) || (rest && contains(sent_[n], packet))))
            after.insert(starts_[run]);
        if (rest && known && !packet.empty() && contains(sent_[n], packet))
            after.insert(n + 1);
    }
    if (after.empty())
        fail("wrong data: a " + std::string(whole ? "whole" : "cut") + " packet of " + std::to_string(packet.size()) +
             " bytes is not the next one, which is number " + std::to_string(*next_.begin()) + " of " +
             std::to_string(sent_.size()) + " or a later one");
    next_ = after;
    compared_ += packet.size();
    first_ = false;
    whole_ |= whole;
}

// What host and card may write now: rings and status blocks, and buffers that have not come back.
void StressStream::use_memory() {
    if (!active_)
        return;
    host_.any(kControl[again_], 2 * kControlBytes);
    for (size_t n = taken_; n < posted_.size(); n++)
        for (const Part &part : posted_[n])
            host_.any(part.offset, part.length);
}

// Events -----------------------------------------------------------------------------------------------------------

bool StressStream::over() {
    const bool stopped = reader_.report().reason || writer_.report().reason;
    return reset_ || stopped || (reader_.complete() && all_came());
}

void StressStream::reset_engines(bool all) {
    if (all || one_in(random_, 2))
        reset_ = true;
    if (all || !reset_)
        return;
    const unsigned which = below(random_, 3);
    if (which != 1)
        reader_.dma().reset();
    if (which != 0)
        writer_.reset();
}

void StressStream::release(bool function, bool) {
    if (!function && one_in(random_, 2))
        reader_.dma().reset();
    if (!function)
        writer_.reset();
    if (!function)
        reader_.dma().reset();
    // What the status block reports was in memory before it.
    take_buffers();
    if (!part_.empty()) {
        std::set<size_t> known;
        for (size_t n : next())
            if (n < sent_.size() && (begins(sent_[n], part_) || (!whole_ && contains(sent_[n], part_))))
                known.insert(n);
        if (known.empty())
            fail("wrong data: the beginning of a packet is that of none that comes next");
        next_ = known;
        part_.clear();
    }
    verify();
    for (const auto &[offset, bytes] : {std::pair{kControl[again_], 2 * kControlBytes},
                                        {kSource[again_], kSourceBytes},
                                        {kBuffers[again_], kCells * kCellBytes}})
        host_.must(offset, fill(base_ + offset, bytes).data(), bytes);
    reader_.retire();
    posted_.clear();
    taken_ = 0;
    active_ = false;
}

void StressStream::restart() {
    expect_off(reader_.dma(), "reader of the " + name_);
    expect_off(writer_, "writer of the " + name_);
}

void StressStream::finish() {
    for (const auto &[engine, report] : {std::pair{&reader_.dma(), reader_.report()}, {&writer_, writer_.report()}})
        if (report.reason)
            fail(std::string(engine->name()) + " stopped: " + reason_name(report.reason));
    uint32_t bytes = 0;
    for (size_t n = starts_.back(); n < sent_.size(); n++)
        bytes += sent_[n].size();
    const uint32_t passed = reader_.dma().read(LITEPCIE_ENGINE_PASSED) - passed_;
    if (passed != bytes)
        fail("PASSED of the reader counts " + std::to_string(passed) + " bytes, not " + std::to_string(bytes));
}

void StressStream::verify() {
    use_memory();
    host_.verify(memory(base_, kBytes));
}

std::string StressStream::state() {
    char text[320];
    snprintf(text, sizeof(text),
             "\n  writer of it: %zu buffers posted, %zu taken, reason %s, flush %u us; packet %zu of %zu is next; %zu "
             "bytes of %zu came; registers: control 0x%x, status 0x%x, doorbell %u, completed %u",
             posted_.size(), taken_, active_ ? reason_name(writer_.report().reason) : "unknown", flush_us_,
             *next_.begin(), sent_.size(), part_.size(),
             *next_.begin() < sent_.size() ? sent_[*next_.begin()].size() : 0, writer_.read(LITEPCIE_ENGINE_CONTROL),
             writer_.read(LITEPCIE_ENGINE_STATUS), writer_.read(LITEPCIE_ENGINE_DOORBELL),
             writer_.read(LITEPCIE_ENGINE_COMPLETED));
    return reader_.state() + text;
}

}  // namespace litepcie
