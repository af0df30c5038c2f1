// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/guest_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

namespace litepcie {

// Shared Memory -------------------------------------------------------------------------------------------------------

namespace {

// The memory that this thread copies from or to now: SIGBUS is raised in the thread that made the access.
thread_local SharedMemory *volatile copied = nullptr;
struct sigaction previous;

}  // namespace

SharedMemory::SharedMemory(SharedMemory &&other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_), lost_(other.lost_) {}

SharedMemory::~SharedMemory() {
    if (memory_)
        munmap(memory_, bytes_);
}

// Only calls that are safe in a handler. The access that raised the signal is made again after it.
void SharedMemory::on_bus_error(int signal) {
    SharedMemory *const memory = copied;
    copied = nullptr;
    const int protection = PROT_READ | PROT_WRITE;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    if (!memory || mmap(memory->memory_, memory->bytes_, protection, flags, -1, 0) == MAP_FAILED) {
        sigaction(signal, &previous, nullptr);  // a fault of this program: it ends as without this handler
        return;
    }
    memory->lost_ = true;
}

int SharedMemory::map(const Fd &file, uint64_t offset, uint64_t bytes, bool readable, bool writable) {
    struct stat status;
    if (fstat(file.get(), &status))
        return errno;
    const uint64_t size = status.st_size;
    if (offset > size || bytes > size - offset)
        return EINVAL;
    static const bool handled = [] {
        struct sigaction action {};
        action.sa_handler = on_bus_error;
        return !sigaction(SIGBUS, &action, &previous);
    }();
    if (!handled)
        return EINVAL;
    void *memory =
        mmap(nullptr, bytes, (readable ? PROT_READ : 0) | (writable ? PROT_WRITE : 0), MAP_SHARED, file.get(), offset);
    if (memory == MAP_FAILED)
        return errno;
    memory_ = static_cast<uint8_t *>(memory);
    bytes_ = bytes;
    return 0;
}

bool SharedMemory::copy(void *to, const void *from, size_t bytes) {
    if (lost_)
        return false;
    copied = this;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the handler reads and writes what is known here
    memcpy(to, from, bytes);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    copied = nullptr;
    if (lost_)
        fprintf(stderr,
                "the file of the guest's memory is shorter than its mapping of %llu bytes: the card can no "
                "longer access this mapping\n",
                (unsigned long long)bytes_);
    return !lost_;
}

bool SharedMemory::read(uint64_t offset, uint8_t *data, size_t bytes) { return copy(data, memory_ + offset, bytes); }

bool SharedMemory::write(uint64_t offset, const uint8_t *data, size_t bytes) {
    return copy(memory_ + offset, data, bytes);
}

// Memory by Messages --------------------------------------------------------------------------------------------------

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

// Guest Memory --------------------------------------------------------------------------------------------------------

int GuestMemory::map(uint64_t address, uint64_t bytes, Fd file, uint64_t offset, bool readable, bool writable) {
    if (!bytes || address + (bytes - 1) < address)
        return EINVAL;
    auto next = mappings_.lower_bound(address);
    if (next != mappings_.end() && next->first - address < bytes)
        return EEXIST;
    if (next != mappings_.begin()) {
        auto before = std::prev(next);
        if (address - before->first < before->second.bytes)
            return EEXIST;
    }
    if (mappings_.size() >= kMostMappings)
        return ENOSPC;
    Mapping mapping{bytes, SharedMemory(), readable, writable, !file};
    if (file)
        if (int error = mapping.memory.map(file, offset, bytes, readable, writable))
            return error;
    last_ = mappings_.emplace(address, std::move(mapping)).first;
    return 0;
}

int GuestMemory::unmap(uint64_t address, uint64_t bytes) {
    if (!bytes || address + (bytes - 1) < address)
        return EINVAL;
    const uint64_t last = address + (bytes - 1);
    auto begin = mappings_.lower_bound(address);
    if (begin != mappings_.begin() && address - std::prev(begin)->first < std::prev(begin)->second.bytes)
        return EINVAL;
    auto end = mappings_.upper_bound(last);
    if (begin != end && std::prev(end)->first + (std::prev(end)->second.bytes - 1) > last)
        return EINVAL;
    mappings_.erase(begin, end);
    last_ = mappings_.end();
    return 0;
}

void GuestMemory::unmap_all() {
    mappings_.clear();
    last_ = mappings_.end();
}

GuestMemory::Map::iterator GuestMemory::find(uint64_t address) {
    if (last_ != mappings_.end() && address >= last_->first && address - last_->first < last_->second.bytes)
        return last_;
    auto it = mappings_.upper_bound(address);
    if (it == mappings_.begin())
        return mappings_.end();
    --it;
    if (address - it->first >= it->second.bytes)
        return mappings_.end();
    return last_ = it;
}

bool GuestMemory::covered(uint64_t address, size_t bytes, bool write) {
    while (bytes) {
        auto it = find(address);
        if (it == mappings_.end() || !(write ? it->second.writable : it->second.readable))
            return false;
        if (it->second.by_message ? !client_ : !it->second.memory)
            return false;
        size_t here = std::min<uint64_t>(bytes, it->second.bytes - (address - it->first));
        address += here;
        bytes -= here;
    }
    return true;
}

template <typename Move> bool GuestMemory::access(uint64_t address, size_t bytes, bool write, Move move) {
    if (!covered(address, bytes, write))
        return false;
    while (bytes) {
        auto it = find(address);
        uint64_t offset = address - it->first;
        size_t here = std::min<uint64_t>(bytes, it->second.bytes - offset);
        if (!move(it->second.by_message ? nullptr : &it->second.memory, address, offset, here))
            return false;
        address += here;
        bytes -= here;
    }
    return true;
}

bool GuestMemory::read(uint64_t address, uint8_t *data, size_t bytes) {
    return access(address, bytes, false, [&](SharedMemory *memory, uint64_t at, uint64_t offset, size_t n) {
        data += n;
        return memory ? memory->read(offset, data - n, n) : client_->read(at, data - n, n);
    });
}

bool GuestMemory::at_once(uint64_t address, size_t bytes) {
    for (size_t here; bytes; address += here, bytes -= here) {
        const auto it = find(address);
        if (it == mappings_.end())
            return true;  // the read fails at once
        if (it->second.by_message)
            return false;
        here = std::min<uint64_t>(bytes, it->second.bytes - (address - it->first));
    }
    return true;
}

std::shared_ptr<Fetch> GuestMemory::fetch(uint64_t address, size_t bytes) {
    const auto fetch = std::make_shared<Fetch>(Fetch{address, std::vector<uint8_t>(bytes)});
    fetch->ok = access(address, bytes, false,
                       [&](SharedMemory *memory, uint64_t at, uint64_t offset, size_t n) {
                           if (memory)
                               return memory->read(offset, fetch->data.data() + (at - address), n);
                           client_->fetch_part(fetch, at, n);
                           return true;
                       }) &&
                fetch->ok;
    return fetch;
}

bool GuestMemory::write(uint64_t address, const uint8_t *data, size_t bytes) {
    return access(address, bytes, true, [&](SharedMemory *memory, uint64_t at, uint64_t offset, size_t n) {
        data += n;
        return memory ? memory->write(offset, data - n, n) : client_->write(at, data - n, n);
    });
}

}  // namespace litepcie
