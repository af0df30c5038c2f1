// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/stress_host_port.h"

#include "litepcie_regs.h"
#include "programs/litepcie_host/stress_user_bus.h"

#include <algorithm>

namespace litepcie {

namespace {

// Registers of gateware/soc/host_copier.py and host_mover.py.
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
