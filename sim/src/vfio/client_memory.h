// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "host/host_memory.h"
#include "vfio/vfio_user_message.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

namespace litepcie {

// Memory that the client has not shared: it moves the bytes itself, by VFIO_USER_DMA_READ and VFIO_USER_DMA_WRITE.
//
// One thread accesses the memory and waits for replies, another one takes() them. A client that does not answer in time
// is not asked again, so that it costs the time once. Nothing waits after close().
class ClientMemory : public HostMemory {
  public:
    // Sends the bytes of a message; false if the connection has ended.
    using Send = std::function<bool(const std::vector<uint8_t> &)>;

    static constexpr unsigned kReplySeconds = 5;

    explicit ClientMemory(unsigned reply_milliseconds = 1000 * kReplySeconds)
        : reply_milliseconds_(reply_milliseconds) {}

    // Memory can be accessed from now on.
    void open(Send send);
    // The most bytes in a message that the client takes or gives.
    void set_most(uint32_t bytes) { most_ = bytes; }
    void close();

    // False if the client refuses, answers with other bytes than asked for, or not in time. Some bytes may have been
    // transferred then.
    bool read(uint64_t address, uint8_t *data, size_t bytes) override;
    bool write(uint64_t address, const uint8_t *data, size_t bytes) override;

    // A reply of the client.
    void take(vfio_user::Message message);

  private:
    std::optional<vfio_user::Message> ask(uint16_t command, uint64_t address, size_t bytes, const uint8_t *data);

    const unsigned reply_milliseconds_;
    Send send_;
    uint32_t most_ = vfio_user::kMaxTransfer;
    uint16_t id_ = 0;
    std::mutex mutex_;
    std::condition_variable answered_;
    std::optional<uint16_t> awaited_;  // id of the command that waits for its reply
    std::optional<vfio_user::Message> reply_;
    bool open_ = false;
};

}  // namespace litepcie
