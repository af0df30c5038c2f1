// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/transfer_run.h"

#include "litepcie_regs.h"

#include <algorithm>
#include <cstring>

namespace litepcie {

// Run -----------------------------------------------------------------------------------------------------------------

namespace {

// Host addresses. Rings and tables are always below 4 GiB, the data where the options say.
constexpr uint64_t kReaderRing = 0x100000, kWriterRing = 0x120000, kReaderStatus = 0x140000, kWriterStatus = 0x140040;
constexpr uint64_t kControlBytes = 0x50000;
constexpr uint64_t kReaderTable = 0x1000000, kWriterTable = 0x8000000;
constexpr uint64_t kLowData = 0x10000000, kHighData = 0x100000000;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kLongestDescriptor = 8 << 20;
constexpr uint8_t kUntouched = 0xa5;

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

// Throws HostError at the first byte that differs.
void compare(const char *what, uint64_t address, const uint8_t *is, const uint8_t *must, uint64_t bytes) {
    if (!memcmp(is, must, bytes))
        return;
    uint64_t at = std::mismatch(is, is + bytes, must).first - is;
    char text[160];
    snprintf(text, sizeof(text), "data mismatch: %s byte 0x%llx is 0x%02x, not 0x%02x", what,
             (unsigned long long)(address + at), is[at], must[at]);
    throw HostError(text);
}

}  // namespace

TransferRun::TransferRun(HostDriver &driver, const Identity &identity, const RunOptions &options)
    : driver_(driver), options_(options), reader_(driver, Direction::Reader), writer_(driver, Direction::Writer) {
    lay_out(identity);
    const unsigned ring_log2 = std::min(identity.ring_log2, 12u);
    reader_.configure({kReaderRing, ring_log2, kReaderStatus});
    writer_.configure({kWriterRing, ring_log2, kWriterStatus});
    if (options_.direct && !(identity.capabilities & LITEPCIE_CAPABILITY_DIRECT))
        throw HostError("the card has no registers for a direct descriptor; leave out --direct");
    reader_.use_direct(options_.direct);
    writer_.use_direct(options_.direct);
    driver_.memory().on_card_write = [this](uint64_t address, size_t) {
        if (address >= target_ && address < target_ + region_bytes_)
            landed_ = driver_.machine().cycle();
    };
    // Fills the checked part of the endpoint memory with known bytes.
    fill_random(host(scratch_, image_.size()), image_.size());
    memcpy(image_.data(), host(scratch_, image_.size()), image_.size());
    move(reader_, scratch_, image_start_, image_.size());
}

void TransferRun::lay_out(const Identity &identity) {
    const uint64_t step = round_up(options_.length, kPage) + kPage;
    read_endpoint_ = write_endpoint_ = options_.endpoint_offset;
    if (options_.sequence == "read-and-write")
        write_endpoint_ += step;
    if (write_endpoint_ + options_.length > identity.memory_size)
        throw HostError("transfer of " + std::to_string(options_.length) + " bytes at endpoint offset " +
                        std::to_string(write_endpoint_) + " does not fit into the card's memory of " +
                        std::to_string(identity.memory_size) + " bytes");
    image_start_ = read_endpoint_ - std::min(read_endpoint_, kGuard);
    image_.resize(std::min(write_endpoint_ + options_.length + kGuard, identity.memory_size) - image_start_);

    data_ = kPage + options_.host_offset;
    region_bytes_ = data_ + step + kPage;
    source_ = options_.address_bits == 64 ? kHighData : kLowData;
    target_ = source_ + round_up(region_bytes_, kPage);
    scratch_ = target_ + round_up(region_bytes_, kPage);
    Arena &memory = driver_.memory();
    memory.add_region(kReaderRing, kControlBytes);
    memory.add_region(source_, region_bytes_);
    memory.add_region(target_, region_bytes_);
    memory.add_region(scratch_, round_up(image_.size(), kPage));
    const uint64_t piece = options_.descriptor_bytes ? options_.descriptor_bytes : kLongestDescriptor;
    const uint64_t table = (options_.length / piece + 1) * options_.batch * LITEPCIE_DESCRIPTOR_BYTES;
    if (table > kWriterTable - kReaderTable)
        throw HostError("too many descriptors; transfer fewer bytes or make the descriptors longer");
    memory.add_region(kReaderTable, round_up(table, kPage));
    memory.add_region(kWriterTable, round_up(table, kPage));
}

uint8_t *TransferRun::host(uint64_t address, uint64_t bytes) {
    uint8_t *memory = driver_.memory().at(address, bytes);
    if (!memory)
        throw HostError("the buffer is outside host memory");
    return memory;
}

void TransferRun::fill_random(uint8_t *bytes, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        // xorshift64
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        bytes[i] = random_ >> 32;
    }
}

// Adds the descriptors to the ring if they fit, else as a table and a LINK to it.
void TransferRun::add_descriptors(DmaEngine &engine, uint64_t host, uint64_t endpoint, uint64_t bytes) {
    const uint64_t piece = options_.descriptor_bytes ? options_.descriptor_bytes : kLongestDescriptor;
    std::vector<Descriptor> list;
    for (uint64_t done = 0; done < bytes; done += piece) {
        uint32_t length = std::min(piece, bytes - done);
        list.push_back({host + done, uint32_t(endpoint + done), length, false, false});
    }
    const size_t once = list.size();
    for (uint64_t again = 1; again < options_.batch; again++)
        list.insert(list.end(), list.begin(), list.begin() + once);
    list.back().interrupt = true;
    if (list.size() <= 1u << engine.layout().ring_log2) {
        for (const Descriptor &descriptor : list)
            engine.add(descriptor);
        return;
    }
    const uint64_t table = &engine == &reader_ ? kReaderTable : kWriterTable;
    engine.write_table(table, list);
    engine.add({table, 0, uint32_t(list.size()), true, true});
}

// Transfers data with a few long descriptors, without measuring.
void TransferRun::move(DmaEngine &engine, uint64_t host, uint64_t endpoint, uint64_t bytes) {
    for (uint64_t done = 0; done < bytes; done += kLongestDescriptor) {
        uint32_t length = std::min(kLongestDescriptor, bytes - done);
        engine.add({host + done, uint32_t(endpoint + done), length, done + length == bytes, false});
    }
    engine.doorbell();
    EngineReport report = engine.wait();
    if (report.reason != LITEPCIE_REASON_NONE)
        throw HostError(std::string(engine.name()) + " stopped: " + reason_name(report.reason));
}

Iteration TransferRun::measure(bool reads, bool writes) {
    EngineCounters read_before, write_before;
    if (reads) {
        read_before = reader_.counters();
        add_descriptors(reader_, source_ + data_, read_endpoint_, options_.length);
    }
    if (writes) {
        write_before = writer_.counters();
        add_descriptors(writer_, target_ + data_, write_endpoint_, options_.length);
    }
    if (reads)
        reader_.doorbell();
    if (writes)
        writer_.doorbell();
    driver_.flush();
    const uint64_t start = driver_.machine().cycle();
    uint64_t read_end = 0;
    bool finished = driver_.run_until([&] {
        if (reads && !read_end && reader_.settled())
            read_end = driver_.machine().last_completion_cycle();
        return (!reads || reader_.settled()) && (!writes || writer_.settled());
    });
    Iteration result;
    for (DmaEngine *engine : {reads ? &reader_ : nullptr, writes ? &writer_ : nullptr}) {
        if (!engine)
            continue;
        EngineReport report = finished ? engine->report() : engine->wait();
        if (report.reason != LITEPCIE_REASON_NONE)
            throw HostError(std::string(engine->name()) + " stopped: " + reason_name(report.reason));
    }
    if (reads)
        result.read = Measure{reader_.counters() - read_before, read_end - start};
    if (writes)
        result.write = Measure{writer_.counters() - write_before, landed_ - start};
    return result;
}

void TransferRun::prepare_buffers() {
    fill_random(host(source_, region_bytes_), region_bytes_);
    memset(host(target_, region_bytes_), kUntouched, region_bytes_);
}

void TransferRun::check_target() {
    expected_.assign(region_bytes_, kUntouched);
    memcpy(expected_.data() + data_, image_.data() + (write_endpoint_ - image_start_), options_.length);
    compare("host", target_, host(target_, region_bytes_), expected_.data(), region_bytes_);
}

// Reads the endpoint memory back, guard bytes included, and compares it.
void TransferRun::check_endpoint() {
    memcpy(image_.data() + (read_endpoint_ - image_start_), host(source_ + data_, options_.length), options_.length);
    memset(host(scratch_, image_.size()), kUntouched, image_.size());
    move(writer_, scratch_, image_start_, image_.size());
    compare("endpoint", image_start_, host(scratch_, image_.size()), image_.data(), image_.size());
}

Iteration TransferRun::iterate() {
    prepare_buffers();
    Iteration result;
    if (options_.sequence == "read-and-write") {
        result = measure(true, true);
        check_target();
        check_endpoint();
        return result;
    }
    const bool write_first = options_.sequence == "write" || options_.sequence == "write-then-read";
    if (write_first) {
        result.write = measure(false, true).write;
        check_target();
    }
    if (options_.sequence != "write") {
        result.read = measure(true, false).read;
        check_endpoint();
    }
    if (options_.sequence == "read-then-write") {
        result.write = measure(false, true).write;
        check_target();
    }
    return result;
}

// Options -------------------------------------------------------------------------------------------------------------

namespace {

constexpr uint64_t kMost = 1 << 30;

}  // namespace

void add_run_options(CommandLine &line, RunOptions &o, bool pio) {
    std::vector<std::string> sequences = {"write", "read", "read-then-write", "write-then-read", "read-and-write"};
    if (pio)
        sequences.push_back("pio");
    line.choice("--sequence",
                pio ? "transfers of an iteration: read is host to card, write is card to host; pio: stores and loads "
                      "of the processor (write-then-read)"
                    : "move data by DMA and print the rates; read is host to card, write is card to host (none)",
                o.sequence, sequences);
    line.number("--length", "BYTES", "length of a transfer (100000)", o.length, 1, kMost);
    line.number("--iterations", "N", "number of iterations; each is measured (20)", o.iterations, 1, 1000000);
    line.number("--batch", "N", "transfers per doorbell, measured as one (1)", o.batch, 1, 100000);
    line.flag("--direct", "write the first descriptor of a doorbell into the card's registers, not only into the ring",
              o.direct);
    line.choice("--mrrs", "Max_Read_Request_Size, bytes (512)", o.mrrs, {128, 256, 512, 1024, 2048, 4096});
    line.number("--host-offset", "BYTES", "offset of the buffers from a 4 KiB boundary (0)", o.host_offset, 0, kMost);
    line.number("--endpoint-offset", "BYTES", "offset in the card's memory (0)", o.endpoint_offset, 0, UINT32_MAX);
    line.number("--descriptor-bytes", "BYTES", "longest descriptor; 0: 8 MiB (0)", o.descriptor_bytes, 0,
                (1 << 24) - 1);
    line.choice("--address-bits", "address of the buffers: below (32) or above (64) 4 GiB (32)", o.address_bits,
                {32, 64});
}

}  // namespace litepcie
