// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/stress_load.h"

#include "litepcie_regs.h"

#include <algorithm>

namespace litepcie {

// Load ----------------------------------------------------------------------------------------------------------------

namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kLongestTable = 12;

uint32_t random_length(Random &random) {
    switch (below(random, 6)) {
    case 0: return 1 + below(random, 16);
    case 1: return 1 + below(random, 300);
    case 2: return any_of(random, {63u, 64u, 65u, 128u, 256u, 511u, 512u, 513u, 1024u, 4095u, 4096u, 4097u});
    case 3: return 512 * (1 + below(random, 16));
    default: return 1 + below(random, 5000);
    }
}

// An offset that leaves room for `length` bytes: anywhere, at the start of a page, or shortly before its end.
uint64_t random_offset(Random &random, uint64_t area_bytes, uint32_t length) {
    const uint64_t last = area_bytes - length, page = below(random, last + 1) & ~(kPage - 1);
    switch (below(random, 3)) {
    case 0: return page;
    case 1: return std::min(last, page + kPage - 1 - below(random, 20));
    default: return below(random, last + 1);
    }
}

}  // namespace

std::vector<Slot> random_slots(Random &random, uint64_t area_bytes) {
    std::vector<Piece> pieces;
    const uint64_t end = area_bytes >> below(random, 3);
    const bool aligned = one_in(random, 4);
    for (uint64_t at = 0; at < end;) {
        at += aligned ? -at % 512 : below(random, 2) * below(random, 70);
        const uint32_t length = std::min<uint64_t>(random_length(random), area_bytes - std::min(at, area_bytes));
        if (!length)
            break;
        pieces.push_back({aligned ? random_offset(random, area_bytes, length) & ~uint64_t(511)
                                  : random_offset(random, area_bytes, length),
                          at, length});
        at += length;
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
    std::vector<Slot> slots;
    for (size_t i = 0; i < pieces.size();) {
        Slot slot;
        slot.table = one_in(random, 5);
        slot.interrupt = one_in(random, 4);
        const size_t count = std::min(pieces.size() - i, slot.table ? 1 + below(random, kLongestTable) : 1);
        slot.pieces.assign(pieces.begin() + i, pieces.begin() + i + count);
        slots.push_back(slot);
        i += count;
    }
    return slots;
}

void StressEngine::start(const EnginePlace &place, std::vector<Slot> slots) {
    place_ = place;
    slots_ = std::move(slots);
    posted_ = 0;
    retired_ = false;
    next_table_ = place.tables;
    dma_.configure(place.layout);
}

Descriptor StressEngine::descriptor(const Piece &piece) const {
    const bool reads = direction_ == Direction::Reader;
    Descriptor d;
    d.host = place_.host + (reads ? piece.from : piece.to);
    d.endpoint = place_.endpoint + (reads ? piece.to : piece.from);
    d.length = piece.length;
    d.last = piece.last;
    return d;
}

void StressEngine::post(const Slot &slot) {
    std::vector<Descriptor> table;
    for (const Piece &piece : slot.pieces)
        table.push_back(descriptor(piece));
    Descriptor d = table.front();
    if (slot.table) {
        const uint64_t bytes = table.size() * LITEPCIE_DESCRIPTOR_BYTES;
        if (next_table_ + bytes > place_.tables + place_.table_bytes)
            throw HostError("the tables of " + name() + " do not fit");
        dma_.write_table(next_table_, table);
        d = {next_table_, 0, uint32_t(table.size()), false, true};
        next_table_ += bytes;
    }
    d.interrupt = slot.interrupt;
    dma_.add(d);
    posted_++;
}

void StressEngine::feed(Random &random, bool some) {
    const size_t before = posted_, size = size_t(1) << place_.layout.ring_log2;
    if (report().completed > posted_)
        throw HostError(name() + " reports " + std::to_string(report().completed) + " descriptors complete of " +
                        std::to_string(posted_));
    while (posted_ < slots_.size() && posted_ - report().completed < size && !(some && one_in(random, 3)))
        post(slots_[posted_]);
    if (posted_ != before)
        dma_.doorbell();
}

bool StressEngine::complete() const { return report().completed == slots_.size(); }

bool StressEngine::over() const { return complete() || report().reason != LITEPCIE_REASON_NONE; }

std::string StressEngine::state() {
    const EngineReport now = retired_ ? EngineReport{} : report();
    char text[256];
    snprintf(
        text, sizeof(text),
        "\n  %s: %zu of %zu slots posted, %u reported, reason %s%s; registers: control 0x%x, status 0x%x, doorbell "
        "%u, completed %u",
        name().c_str(), posted_, slots_.size(), now.completed, reason_name(now.reason),
        retired_ ? " (status block no longer in use)" : "", dma_.read(LITEPCIE_ENGINE_CONTROL),
        dma_.read(LITEPCIE_ENGINE_STATUS), dma_.read(LITEPCIE_ENGINE_DOORBELL), dma_.read(LITEPCIE_ENGINE_COMPLETED));
    return text;
}

// Sides ---------------------------------------------------------------------------------------------------------------

uint8_t *StressSide::memory(uint64_t address, uint64_t bytes) {
    uint8_t *data = driver_.memory().at(address, bytes);
    if (!data)
        throw HostError("the address is outside host memory");
    return data;
}

std::vector<uint8_t> StressSide::fill(uint64_t address, uint64_t bytes) {
    const std::vector<uint8_t> data = random_bytes(random_, bytes);
    std::copy(data.begin(), data.end(), memory(address, bytes));
    return data;
}

std::vector<uint8_t> StressSide::load(uint32_t offset, unsigned bytes) {
    std::vector<uint8_t> data(bytes);
    if (!driver_.machine().load(offset, data.data(), bytes))
        throw HostError("the card did not answer a read of " + std::to_string(bytes) + " bytes at BAR0 offset " +
                        std::to_string(offset));
    return data;
}

void StressSide::store(uint32_t offset, const std::vector<uint8_t> &data) {
    driver_.machine().store(offset, data.data(), data.size());
}

void StressSide::await(uint32_t offset, uint32_t value, const char *what) {
    const uint64_t end = driver_.model().cycle() + kPatience;
    while (const uint32_t is = driver_.read(offset) - value)
        if (driver_.model().cycle() > end)
            throw HostError(std::string("hang: ") + what + " is " + std::to_string(is + value) + ", not " +
                            std::to_string(value) + ", after " + std::to_string(kPatience) + " cycles");
}

void expect_off(DmaEngine &engine, const std::string &name) {
    const std::pair<const char *, uint32_t> registers[] = {
        {"CONTROL", LITEPCIE_ENGINE_CONTROL},   {"RING_LO", LITEPCIE_ENGINE_RING_LO},
        {"RING_HI", LITEPCIE_ENGINE_RING_HI},   {"STATUS_ADDRESS_LO", LITEPCIE_ENGINE_STATUS_ADDRESS_LO},
        {"DOORBELL", LITEPCIE_ENGINE_DOORBELL}, {"COMPLETED", LITEPCIE_ENGINE_COMPLETED}};
    for (const auto &[what, offset] : registers)
        if (const uint32_t value = engine.read(offset))
            throw HostError("after the reset of the function, " + std::string(what) + " of " + name + " is " +
                            std::to_string(value) + ", not 0");
}

std::vector<std::unique_ptr<StressSide>> stress_sides(ModelDriver &driver, Random &random, unsigned channels,
                                                      uint32_t endpoint) {
    std::vector<std::unique_ptr<StressSide>> sides;
    const CardInfo &info = driver.model().info();
    const uint32_t streams = driver.read(LITEPCIE_STREAMS);
    const uint32_t lacking =
        (streams & LITEPCIE_STREAMS_NO_READER_MASK) >> 8 | (streams & LITEPCIE_STREAMS_NO_WRITER_MASK) >> 16;
    for (unsigned n = 0; n < (streams & LITEPCIE_STREAMS_COUNT_MASK); n++)
        if (!(lacking >> n & 1))
            sides.push_back(std::make_unique<StressStream>(driver, random, channels + n));
    for (uint32_t loop : info.user.loops)
        if (loop && user_offset(driver, loop))
            driver.write(user_offset(driver, loop), 1);
    if (info.user.ram && user_offset(driver, info.user.ram))
        sides.push_back(std::make_unique<StressUserBus>(driver, random));
    if (info.user.mover)
        sides.push_back(std::make_unique<StressHostPort>(driver, random, endpoint));
    return sides;
}

// User's Bus ----------------------------------------------------------------------------------------------------------

uint32_t user_offset(HostDriver &driver, uint32_t address) {
    const uint32_t at = address - driver.read(LITEPCIE_USER_ORIGIN);
    return at < driver.read(LITEPCIE_USER_SIZE) ? driver.read(LITEPCIE_USER_OFFSET) + at : 0;
}

StressUserBus::StressUserBus(ModelDriver &driver, Random &random)
    : StressSide(driver, random), ram_(user_offset(driver, driver.model().info().user.ram)),
      hole_(driver.model().info().user.hole), bytes_(random_bytes(random, kBytes)) {
    hole_ = hole_ ? user_offset(driver, hole_) : 0;
    for (uint32_t at = 0; at < kBytes; at += kAccess)
        store(ram_ + at, {bytes_.begin() + at, bytes_.begin() + at + kAccess});
}

void StressUserBus::start(bool again) {
    again_ = again;
    left_ = again ? 20 : 0;
    errors_ = driver_.read(LITEPCIE_USER_ERRORS);
}

void StressUserBus::feed(bool some) {
    if (!(again_ ? left_ : some) || !one_in(random_, 3))
        return;
    left_ -= again_;
    if (!stored_.empty())
        settle();
    else if (hole_ && one_in(random_, 8))
        hole();
    else
        access();
}

void StressUserBus::access() {
    const unsigned bytes = 1 + below(random_, one_in(random_, 2) ? 8 : kAccess);
    place_ = below(random_, kBytes - bytes + 1);
    if (one_in(random_, 3))
        return compare(place_, bytes);
    stored_ = random_bytes(random_, bytes);
    store(ram_ + place_, stored_);
}

// The store before a load is done when the load is answered.
void StressUserBus::settle() {
    if (stored_.empty())
        return;
    const std::vector<uint8_t> is = load(ram_ + place_, stored_.size());
    for (size_t i = 0; i < is.size(); i++)
        if (is[i] == stored_[i] || (unsure_ && is[i] == bytes_[place_ + i]))
            bytes_[place_ + i] = is[i];
        else
            throw HostError("wrong data: byte " + std::to_string(place_ + i) + " of the RAM on the user's bus is " +
                            std::to_string(is[i]) + ", not " + std::to_string(stored_[i]));
    compared_ += stored_.size();
    stored_.clear();
    unsure_ = false;
}

void StressUserBus::compare(uint32_t at, unsigned bytes) {
    if (load(ram_ + at, bytes) != std::vector<uint8_t>(bytes_.begin() + at, bytes_.begin() + at + bytes))
        throw HostError("wrong data: of " + std::to_string(bytes) + " bytes from " + std::to_string(at) +
                        " of the RAM on the user's bus, some are not what was written");
}

// An access that no slave answers fails by itself, and no other one with it.
void StressUserBus::hole() {
    uint8_t data[4] = {};
    if (one_in(random_, 2)) {
        driver_.machine().store(hole_, data, sizeof(data));
    } else if (driver_.machine().load(hole_, data, sizeof(data))) {
        throw HostError("a read of an address without a slave was answered");
    }
    errors_++;
    const uint32_t errors = driver_.read(LITEPCIE_USER_ERRORS);
    if (errors != errors_)
        throw HostError("USER_ERRORS is " + std::to_string(errors) + ", not " + std::to_string(errors_));
}

// A store that the card had not executed before a reset of the function may be lost.
void StressUserBus::release(bool function, bool) { unsure_ |= function; }

void StressUserBus::finish() {
    settle();
    for (uint32_t at = 0; at < kBytes; at += kAccess)
        compare(at, kAccess);
    if (driver_.model().info().user.copies)
        compare_copy();
}

// After all words were copied again from the first one on.
void StressUserBus::compare_copy() {
    const UserLogic &user = driver_.model().info().user;
    const uint32_t copies = user_offset(driver_, user.copies), before = driver_.read(copies);
    const uint64_t end = driver_.model().cycle() + kPatience;
    while (driver_.read(copies) - before < 2)
        if (driver_.model().cycle() > end)
            throw HostError("hang: the processor does not copy the RAM twice within " + std::to_string(kPatience) +
                            " cycles");
    for (uint32_t at = 0; at < kCopyBytes; at += kAccess)
        if (load(user_offset(driver_, user.copy) + at, kAccess) !=
            std::vector<uint8_t>(bytes_.begin() + at, bytes_.begin() + at + kAccess))
            throw HostError("wrong data: the processor copied something else than the RAM has");
}

std::string StressUserBus::state() { return "\n  user's bus: USER_ERRORS " + std::to_string(errors_); }

// Port to Host Memory -------------------------------------------------------------------------------------------------

namespace {

// Registers of gateware/board/user_logic.py.
enum Copier { kSource, kTarget = 4, kWords = 8, kControl = 12, kStatus = 16, kErrors = 20, kCopied = 24 };
enum Mover { kAddress, kEndpoint = 4, kLength = 8, kSubmit = 12, kEnded = 16, kLast = 20, kBusy = 24 };
constexpr uint32_t kStart = 1, kGiveUpShift = 8, kWriteDescriptor = 1 << 8, kNoReason = 0xff;
constexpr uint32_t kWindowAccess = 64;
constexpr uint64_t kSoon = 2000;  // cycles

}  // namespace

StressHostPort::StressHostPort(ModelDriver &driver, Random &random, uint32_t endpoint)
    : StressSide(driver, random), copier_(user_offset(driver, driver.model().info().user.copier)),
      mover_(user_offset(driver, driver.model().info().user.mover)),
      window_(driver.read(LITEPCIE_WINDOW_OFFSET) + endpoint), endpoint_at_(endpoint),
      origin_(driver.model().info().user.host_origin), limit_(driver.read(LITEPCIE_HOST_LIMIT)) {
    driver.memory().add_region(kMemory, 2 * kSet);
    host_ = Expected("the buffers of the user's logic", fill(kMemory, 2 * kSet));
    endpoint_ = random_bytes(random, kEndpointBytes);
    for (uint32_t at = 0; at < kEndpointBytes; at += kWindowAccess)
        store(window_ + at, {endpoint_.begin() + at, endpoint_.begin() + at + kWindowAccess});
    submitted_ = driver.read(mover_ + kEnded);
}

void StressHostPort::give() {
    const uint32_t flags[] = {LITEPCIE_HOST_SET_READ, LITEPCIE_HOST_SET_READ | LITEPCIE_HOST_SET_WRITE,
                              LITEPCIE_HOST_SET_WRITE, LITEPCIE_HOST_SET_READ};
    for (unsigned n = 0; n < kBuffers; n++) {
        driver_.write(LITEPCIE_HOST_BASE_LO, kMemory + of(Buffer(n)));
        driver_.write(LITEPCIE_HOST_BASE_HI, 0);
        driver_.write(LITEPCIE_HOST_SIZE, kBufferBytes);
        driver_.write(LITEPCIE_HOST_SET, n | flags[n]);
    }
}

void StressHostPort::start(bool again) {
    again_ = again;
    left_ = again ? 6 : 0;
    early_ = !again && one_in(random_, 2);
    give();
}

// Operations -------------------------------------------------------------------------------------------------------

void StressHostPort::copy() {
    const uint32_t words = 1 + below(random_, kMostWords);
    copy_ = {true, !one_in(random_, 6), !again_ && one_in(random_, 4)};
    if (!copy_.allowed && one_in(random_, 2))
        copy_.from = Moves;
    else if (!copy_.allowed)
        copy_.to = Forbidden;
    copy_.bytes = 4 * words;
    copy_.at = 4 * below(random_, kBufferBytes / 4 - words + 1);
    copy_.place = 4 * below(random_, kBufferBytes / 4 - words + 1);
    driver_.write(copier_ + kSource, address(copy_.from, copy_.at));
    driver_.write(copier_ + kTarget, address(copy_.to, copy_.place));
    driver_.write(copier_ + kWords, words);
    driver_.write(copier_ + kControl, kStart | (copy_.gives_up ? 1 + below(random_, 60) : 0) << kGiveUpShift);
}

void StressHostPort::move() {
    move_ = {true, true, false, one_in(random_, 2)};
    move_.bytes = 1 + below(random_, one_in(random_, 2) ? 20 : kMostBytes);
    move_.at = below(random_, kBufferBytes - move_.bytes + 1);
    move_.place = below(random_, kEndpointBytes - move_.bytes + 1);
    move_.from = one_in(random_, 6) ? Forbidden : move_.write ? Moves : Source;
    move_.allowed = move_.from != Forbidden || !move_.write;
    driver_.write(mover_ + kAddress, move_.from * limit_ + move_.at);
    driver_.write(mover_ + kEndpoint, endpoint_at_ + move_.place);
    driver_.write(mover_ + kLength, move_.bytes);
    driver_.write(mover_ + kSubmit, (move_.write ? kWriteDescriptor : 0) | (++submitted_ & 0xff));
}

void StressHostPort::poll() {
    // An access that was given up may still go on.
    const bool done = copy_.busy && !driver_.read(copier_ + kStatus);
    if (done && !(copy_.gives_up && driver_.read(LITEPCIE_HOST_BUSY) >> copy_.to & 1))
        copied(true);
    if (move_.busy && driver_.read(mover_ + kEnded) == submitted_) {
        const uint32_t last = driver_.read(mover_ + kLast);
        if (last >> 8 != (move_.write << 8 | (submitted_ & 0xff)))
            throw HostError("the end of the mover's descriptor has another tag or direction");
        moved(last & 0xff);
        settle_endpoint(false);
    }
}

void StressHostPort::feed(bool some) {
    if (!one_in(random_, 4))
        return;
    poll();
    if (!(again_ ? left_ != 0 : some))
        return;
    if (!copy_.busy && one_in(random_, 2)) {
        copy();
        left_ -= again_;
    } else if (!move_.busy) {
        move();
        left_ -= again_;
    }
}

// The copier is done, or if not `sure` its operation has ended in the middle. A dword is the old one or the new one.
void StressHostPort::copied(bool sure) {
    uint32_t changed = 0;
    for (uint32_t n = 0; n < copy_.bytes; n += 4) {
        const uint64_t to = of(copy_.to) + copy_.place + n, from = of(copy_.from) + copy_.at + n;
        const uint8_t *is = memory(kMemory + to, 4);
        if (!std::equal(is, is + 4, host_.at(from)))
            continue;  // Then it must be the old one.
        changed++;
        host_.must(to, is, 4);
    }
    copy_.busy = false;
    compared_ += 4 * changed;
    if (sure) {
        const uint32_t failed = driver_.read(copier_ + kErrors), done = driver_.read(copier_ + kCopied);
        const bool right = copy_.gives_up ? changed >= done : changed == done && done + failed == copy_.bytes / 4;
        if (!right || (again_ && copy_.allowed && failed))
            throw HostError("wrong data: the copier copied " + std::to_string(done) + " of " +
                            std::to_string(copy_.bytes / 4) + " dwords, and failed for " + std::to_string(failed) +
                            "; in memory are " + std::to_string(changed));
    }
    if (!copy_.allowed && changed)
        throw HostError("the copier changed a buffer without the right to do so");
    verify();
}

// The mover's descriptor ended with `reason`, or with kNoReason in the middle.
void StressHostPort::moved(unsigned reason) {
    const uint64_t at = of(move_.from) + move_.at;
    move_.busy = false;
    compared_ += reason ? 0 : move_.bytes;
    if (move_.allowed ? again_ && reason : again_ ? reason != LITEPCIE_HOST_REASON_DENIED : !reason)
        throw HostError("the mover's descriptor ended with reason " + std::to_string(reason));
    if (!move_.allowed)
        return;
    if (!move_.write) {
        moved_.assign(host_.at(at), host_.at(at) + move_.bytes);
        unsure_ = reason;
        return;
    }
    if (reason)
        host_.may(at, &endpoint_[move_.place], move_.bytes);
    else
        host_.must(at, &endpoint_[move_.place], move_.bytes);
    verify();
}

// Compares `bytes` of the endpoint memory with what the mover wrote there; `any` byte is right if the link cut it.
void StressHostPort::read_endpoint(uint32_t place, uint32_t bytes, bool any) {
    for (uint32_t n = 0; n < bytes; n += kWindowAccess) {
        const std::vector<uint8_t> is = load(window_ + place + n, std::min(kWindowAccess, bytes - n));
        for (uint32_t i = 0; i < is.size(); i++) {
            const uint32_t at = place + n + i, moved = at - move_.place;
            const bool was_moved = moved < moved_.size();
            if (was_moved ? is[i] != moved_[moved] && !(unsure_ && (any || is[i] == endpoint_[at]))
                          : is[i] != endpoint_[at])
                throw HostError("wrong data: byte " + std::to_string(at) +
                                " of the endpoint memory of the user's logic is " + std::to_string(is[i]));
            endpoint_[at] = is[i];
        }
    }
}

void StressHostPort::settle_endpoint(bool any) {
    read_endpoint(move_.place, moved_.size(), any);
    moved_.clear();
    unsure_ = false;
}

// Events -----------------------------------------------------------------------------------------------------------

// Ends what still runs; it fails if it needs a buffer.
void StressHostPort::stop() {
    driver_.write(copier_ + kControl, 0);
    await(copier_ + kStatus, 0, "BUSY of the copier");
}

void StressHostPort::release(bool function, bool cut) {
    if (!function) {
        driver_.write(LITEPCIE_HOST_CLEAR, (1 << kBuffers) - 1);
        await(LITEPCIE_HOST_BUSY, 0, "HOST_BUSY");
        stop();
        await(mover_ + kEnded, submitted_, "the number of descriptors that ended");
        poll();
    }
    if (copy_.busy)
        copied(false);
    lost_ = move_.busy;
    if (move_.busy)
        moved(kNoReason);
    cut_ = cut;
    verify();
    host_.must(again_ * kSet, fill(kMemory + again_ * kSet, kSet).data(), kSet);
}

void StressHostPort::restart() {
    for (const auto &[name, offset] : {std::pair{"HOST_VALID", LITEPCIE_HOST_VALID}, {"HOST_BUSY", LITEPCIE_HOST_BUSY}})
        if (const uint32_t value = driver_.read(offset))
            throw HostError("after the reset of the function, " + std::string(name) + " is " + std::to_string(value));
    stop();
    // The write that gave the mover its descriptor may be lost. Otherwise it ends soon, or no later one ends.
    driver_.run(kSoon);
    const uint32_t ended = driver_.read(mover_ + kEnded);
    if (ended != submitted_ && !(lost_ && ended + 1 == submitted_))
        throw HostError(std::to_string(ended) + " descriptors of the mover ended, of " + std::to_string(submitted_));
    submitted_ = ended;
    settle_endpoint(cut_);
}

void StressHostPort::finish() { read_endpoint(0, kEndpointBytes, false); }

// An operation that runs has done any part.
void StressHostPort::verify() {
    if (copy_.busy && copy_.allowed)
        host_.may(of(copy_.to) + copy_.place, host_.at(of(copy_.from) + copy_.at), copy_.bytes);
    if (move_.busy && move_.allowed && move_.write)
        host_.may(of(move_.from) + move_.at, &endpoint_[move_.place], move_.bytes);
    host_.verify(memory(kMemory, 2 * kSet));
}

std::string StressHostPort::state() {
    return "\n  host port: copier " + std::string(copy_.busy ? "busy" : "idle") + ", mover " +
           (move_.busy ? "busy" : "idle") + ", HOST_ERRORS " + std::to_string(driver_.read(LITEPCIE_HOST_ERRORS));
}

}  // namespace litepcie
