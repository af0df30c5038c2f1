// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/client_memory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace litepcie {

using vfio_user::Message;

namespace {

constexpr size_t kAddress = 8, kAccess = 16;  // address and count, before the data in the layout of the specification
constexpr size_t kNarrow = 12;                // before the data if the count has 32 bits
constexpr size_t kFirst = 4;                  // most bytes of data until the layout is known

bool any(const uint8_t *data, size_t bytes) {
    return std::any_of(data, data + bytes, [](uint8_t byte) { return byte != 0; });
}

}  // namespace

void ClientMemory::open(Send send) {
    Lock lock(mutex_);
    send_ = std::move(send);
    open_ = true;
}

void ClientMemory::close() {
    Lock lock(mutex_);
    fail_all();
}

// A client that waits answers nothing, so its time for an answer begins anew.
void ClientMemory::waits(bool begins) {
    Lock lock(mutex_);
    waiting_ += begins ? 1 : -1;
    for (auto &asked : asked_)
        asked.second.until = Clock::now() + reply_time_;
    changed_.notify_all();
}

// Messages ------------------------------------------------------------------------------------------------------------

void ClientMemory::ask(Lock &lock, uint64_t address, size_t bytes, const uint8_t *data, const FetchPtr &fetch) {
    const uint64_t count = bytes;
    std::vector<uint8_t> payload(kAccess + (data ? bytes : 0));
    memcpy(payload.data(), &address, sizeof(address));
    memcpy(payload.data() + kAddress, &count, sizeof(count));
    if (data)
        memcpy(payload.data() + (layout_ == Layout::Count32 ? kNarrow : kAccess), data, bytes);
    const uint16_t id = ++id_;
    asked_[id] = {address, uint32_t(bytes), fetch, Clock::now() + reply_time_};
    lock.unlock();
    const bool sent = send_(vfio_user::make_command(id, data ? vfio_user::kDmaWrite : vfio_user::kDmaRead, payload));
    lock.lock();
    if (!sent)
        fail_all();
}

// Of the data to write, or of what is fetched.
void ClientMemory::ask_pieces(Lock &lock, uint64_t address, size_t bytes, const uint8_t *data, const FetchPtr &fetch) {
    for (size_t done = 0; done < bytes && open_;) {
        const size_t now = std::min<size_t>(bytes - done, layout_ == Layout::Unknown ? kFirst : most_);
        ask(lock, address + done, now, data ? data + done : nullptr, fetch);
        done += now;
    }
    if (!open_ && fetch)
        fetch->ok = false;
    refused_ |= !open_ && data;
}

void ClientMemory::take(Message message) {
    Lock lock(mutex_);
    const auto found = asked_.find(message.header.id);
    if (found == asked_.end())
        return;  // too late, or an answer to nothing
    answer(found->second, message);
    asked_.erase(found);
    changed_.notify_all();
}

// The reply to a write may have a header only.
void ClientMemory::answer(const Asked &asked, const Message &message) {
    const std::vector<uint8_t> &payload = message.payload;
    const uint16_t command = asked.fetch ? vfio_user::kDmaRead : vfio_user::kDmaWrite;
    bool right = message.header.command == command && !(message.header.flags & vfio_user::kError);
    if (asked.fetch || !payload.empty())
        right &= payload.size() == kAccess + (asked.fetch ? asked.bytes : 0) &&
                 !memcmp(payload.data(), &asked.address, sizeof(asked.address)) &&
                 !memcmp(payload.data() + kAddress, &asked.bytes, sizeof(asked.bytes));
    const uint8_t *const data = right && asked.fetch ? data_of(message, asked.bytes) : nullptr;
    if (data)
        memcpy(asked.fetch->data.data() + (asked.address - asked.fetch->address), data, asked.bytes);
    else if (asked.fetch)
        asked.fetch->ok = false;
    else
        refused_ |= !right;
}

// Nothing if the reply has the other layout than those before.
const uint8_t *ClientMemory::data_of(const Message &message, size_t bytes) {
    const uint8_t *const narrow = message.payload.data() + kNarrow, *const wide = message.payload.data() + kAccess;
    if (layout_ == Layout::Unknown && any(narrow, kAccess - kNarrow))
        decide(Layout::Count32);
    else if (layout_ == Layout::Unknown && any(wide, bytes))
        decide(Layout::Count64);
    if (layout_ == Layout::Count32)
        return narrow;
    return any(narrow, kAccess - kNarrow) ? nullptr : wide;
}

void ClientMemory::decide(Layout layout) {
    layout_ = layout;
    if (layout == Layout::Count32)
        fprintf(stderr, "the client's messages of DMA have a count of 32 bits, as those of QEMU 10.1 and 10.2\n");
}

// Waiting -------------------------------------------------------------------------------------------------------------

bool ClientMemory::fetching(const Fetch &fetch) const {
    return std::any_of(asked_.begin(), asked_.end(),
                       [&fetch](const auto &asked) { return asked.second.fetch.get() == &fetch; }) ||
           std::any_of(posted_.begin(), posted_.end(),
                       [&fetch](const Posted &posted) { return posted.fetch.get() == &fetch; });
}

bool ClientMemory::writing() const {
    return std::any_of(asked_.begin(), asked_.end(), [](const auto &asked) { return !asked.second.fetch; });
}

template <typename Still> bool ClientMemory::wait(Lock &lock, Still still, bool patient) {
    while (still() && !asked_.empty() && (patient || !waiting_)) {
        auto until = Clock::time_point::max();
        for (const auto &asked : asked_)
            until = std::min(until, asked.second.until);
        if (changed_.wait_until(lock, until) == std::cv_status::timeout)
            expire();
    }
    return !still();
}

// The time of a message may have begun anew meanwhile.
void ClientMemory::expire() {
    const auto now = Clock::now();
    if (std::none_of(asked_.begin(), asked_.end(), [now](const auto &asked) { return asked.second.until <= now; }))
        return;
    fprintf(stderr, "the client does not answer a DMA by message; its memory without a file is not accessed\n");
    fail_all();
}

void ClientMemory::fail_all() {
    open_ = false;
    for (const auto &asked : asked_)
        asked.second.fetch ? asked.second.fetch->ok = false : refused_ = true;
    for (const Posted &posted : posted_)
        posted.fetch ? posted.fetch->ok = false : refused_ = true;
    asked_.clear();
    posted_.clear();
    changed_.notify_all();
}

// Reads ---------------------------------------------------------------------------------------------------------------

std::shared_ptr<Fetch> ClientMemory::fetch(uint64_t address, size_t bytes) {
    auto fetch = std::make_shared<Fetch>(Fetch{address, std::vector<uint8_t>(bytes)});
    fetch_part(fetch, address, bytes);
    return fetch;
}

// A read does not overtake a write.
void ClientMemory::fetch_part(const FetchPtr &fetch, uint64_t address, size_t bytes) {
    Lock lock(mutex_);
    if (posted_.empty())
        ask_pieces(lock, address, bytes, nullptr, fetch);
    else
        posted_.push_back({address, {}, fetch, bytes});
}

bool ClientMemory::arrived(const Fetch &fetch) {
    Lock lock(mutex_);
    return wait(lock, [&] { return fetching(fetch); });
}

bool ClientMemory::read(uint64_t address, uint8_t *data, size_t bytes) {
    const FetchPtr fetched = fetch(address, bytes);
    Lock lock(mutex_);
    wait(
        lock, [&] { return fetching(*fetched); }, true);
    if (fetched->ok)
        memcpy(data, fetched->data.data(), bytes);
    return fetched->ok;
}

// Writes --------------------------------------------------------------------------------------------------------------

bool ClientMemory::write(uint64_t address, const uint8_t *data, size_t bytes) {
    Lock lock(mutex_);
    size_t done = 0;
    const Result result = posted_.empty() ? write_all(lock, address, data, bytes, done) : Result::Interrupted;
    if (result == Result::Interrupted && done < bytes)
        posted_.push_back({address + done, {data + done, data + bytes}, nullptr, 0});
    return result != Result::Refused;
}

// Interrupted after `done` bytes if the client waits.
ClientMemory::Result ClientMemory::write_all(Lock &lock, uint64_t address, const uint8_t *data, size_t bytes,
                                             size_t &done) {
    while (done < bytes && layout_ == Layout::Unknown) {
        const size_t now = std::min(bytes - done, kFirst);
        const Result result = write_first(lock, address + done, data + done, now);
        if (result != Result::Done)
            return result;
        done += now;
    }
    const size_t before = std::exchange(done, bytes);
    return write_pieces(lock, address + before, data + before, bytes - before);
}

ClientMemory::Result ClientMemory::write_pieces(Lock &lock, uint64_t address, const uint8_t *data, size_t bytes) {
    ask_pieces(lock, address, bytes, data, nullptr);
    if (!wait(lock, [this] { return writing(); }))
        return Result::Interrupted;
    return std::exchange(refused_, false) ? Result::Refused : Result::Done;
}

// While the layout is not known. A client with a count of 32 bits writes zeros, whatever is sent, so nothing is lost if
// memory has zeros: then it is seen whether the data arrives.
ClientMemory::Result ClientMemory::write_first(Lock &lock, uint64_t address, const uint8_t *data, size_t bytes) {
    const bool tells = any(data, bytes);
    Result before = Result::Done;
    if (waiting_ || (tells && (before = read_zeros(lock, address, bytes)) == Result::Interrupted))
        return Result::Interrupted;
    const Result written = write_pieces(lock, address, data, bytes);
    if (written != Result::Done || !tells || before == Result::Refused || layout_ != Layout::Unknown)
        return written;
    const Result after = read_zeros(lock, address, bytes);
    if (after == Result::Interrupted || layout_ != Layout::Unknown)
        return after;
    decide(Layout::Count32);
    return write_pieces(lock, address, data, bytes);
}

// Reads a few bytes. If they are not zeros, the layout is known then.
ClientMemory::Result ClientMemory::read_zeros(Lock &lock, uint64_t address, size_t bytes) {
    const auto fetch = std::make_shared<Fetch>(Fetch{address, std::vector<uint8_t>(bytes)});
    ask_pieces(lock, address, bytes, nullptr, fetch);
    if (!wait(lock, [&] { return fetching(*fetch); }))
        return Result::Interrupted;
    return fetch->ok ? Result::Done : Result::Refused;
}

bool ClientMemory::settled() {
    Lock lock(mutex_);
    return posted_.empty() && !writing();
}

bool ClientMemory::settle() {
    Lock lock(mutex_);
    bool refused = false;
    while (!posted_.empty() && !waiting_) {
        Posted next = std::move(posted_.front());
        posted_.pop_front();
        size_t done = 0;
        if (next.fetch)
            ask_pieces(lock, next.address, next.bytes, nullptr, next.fetch);
        else if (write_all(lock, next.address, next.data.data(), next.data.size(), done) == Result::Refused)
            refused = true;
        else if (done < next.data.size())
            posted_.push_front({next.address + done, {next.data.begin() + done, next.data.end()}, nullptr, 0});
    }
    const bool all = wait(lock, [this] { return writing() || !posted_.empty(); });
    if (std::exchange(refused_, false) || refused)
        fprintf(stderr, "the client refuses a write of the card; it waited for a reply when the card wrote\n");
    return all;
}

}  // namespace litepcie
