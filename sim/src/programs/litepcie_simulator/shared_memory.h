// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"

#include <cstddef>
#include <cstdint>

namespace litepcie {

// Memory that is shared with the client: a part of a file, mapped until destruction. The client can make the file
// shorter at any time, and an access past its end raises SIGBUS. The handler then puts empty memory where the mapping
// was, so that the access ends, and the object is lost().
class SharedMemory {
  public:
    SharedMemory() = default;
    SharedMemory(SharedMemory &&other) noexcept;
    SharedMemory &operator=(SharedMemory &&) = delete;
    ~SharedMemory();

    // Maps `bytes` bytes of `file` from `offset`; to be called once. Returns 0 or an errno: EINVAL if the file is
    // shorter.
    int map(const Fd &file, uint64_t offset, uint64_t bytes, bool readable, bool writable);
    explicit operator bool() const { return memory_ && !lost_; }

    // Copy bytes from or to the memory. False if it is lost, and then what was copied means nothing.
    bool read(uint64_t offset, uint8_t *data, size_t bytes);
    bool write(uint64_t offset, const uint8_t *data, size_t bytes);

  private:
    static void on_bus_error(int signal);
    bool copy(void *to, const void *from, size_t bytes);

    uint8_t *memory_ = nullptr;
    uint64_t bytes_ = 0;
    bool lost_ = false;
};

}  // namespace litepcie
