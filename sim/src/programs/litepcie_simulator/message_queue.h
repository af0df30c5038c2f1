// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_simulator/vfio_user_message.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace litepcie {

// Messages from the thread that reads the socket to the thread of the model. The queue is bounded: a client that sends
// posted writes faster than the model handles them waits in its own socket, as QEMU does.
class MessageQueue {
  public:
    static constexpr size_t kMost = 4096;           // messages
    static constexpr size_t kMostBytes = 64 << 20;  // of all messages; one more message may exceed it

    void push(vfio_user::Message message) {
        std::unique_lock<std::mutex> lock(mutex_);
        room_.wait(lock, [this] { return room() || closed_; });
        bytes_ += message.bytes();
        messages_.push_back(std::move(message));
        waiting_ = true;
        filled_.notify_one();
    }

    // Ends the queue: nothing more is added, and pop() no longer waits. `drop`: forgets what it has.
    void close(bool drop = false) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (drop)
            messages_.clear();
        closed_ = waiting_ = true;
        filled_.notify_all();
        room_.notify_all();
    }

    // Whether pop() would wait. Cheap enough to be asked in each clock cycle.
    bool empty() const { return !waiting_.load(std::memory_order_relaxed); }

    // Waits for a message and removes it. Returns nothing if the queue is closed and empty.
    std::optional<vfio_user::Message> pop() {
        std::unique_lock<std::mutex> lock(mutex_);
        filled_.wait(lock, [this] { return !messages_.empty() || closed_; });
        if (messages_.empty())
            return std::nullopt;
        vfio_user::Message message = std::move(messages_.front());
        messages_.pop_front();
        bytes_ -= message.bytes();
        waiting_ = !messages_.empty() || closed_;
        room_.notify_one();
        return message;
    }

  private:
    bool room() const { return messages_.size() < kMost && bytes_ < kMostBytes; }

    std::mutex mutex_;
    std::condition_variable filled_, room_;
    std::deque<vfio_user::Message> messages_;
    size_t bytes_ = 0;
    std::atomic<bool> waiting_{false};
    bool closed_ = false;
};

}  // namespace litepcie
