// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/shared_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

namespace litepcie {

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

}  // namespace litepcie
