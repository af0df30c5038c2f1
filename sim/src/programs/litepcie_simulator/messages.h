// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace litepcie::vfio_user {

// Messages of the vfio-user protocol (QEMU docs/interop/vfio-user.rst). All fields are little-endian and packed.
enum Command : uint16_t {
    kVersion = 1,
    kDmaMap = 2,
    kDmaUnmap = 3,
    kGetInfo = 4,
    kGetRegionInfo = 5,
    kGetIrqInfo = 7,
    kSetIrqs = 8,
    kRegionRead = 9,
    kRegionWrite = 10,
    kDmaRead = 11,   // from the server to the client
    kDmaWrite = 12,  // likewise
    kDeviceReset = 13,
};

constexpr uint32_t kTypeMask = 0xf, kTypeCommand = 0, kTypeReply = 1, kNoReply = 0x10, kError = 0x20;

struct Header {
    uint16_t id, command;
    uint32_t size;  // bytes of the whole message
    uint32_t flags;
    uint32_t error;  // errno, if kError is set
};
static_assert(sizeof(Header) == 16, "header of vfio-user");

constexpr uint32_t kMaxTransfer = 1 << 20;  // most bytes of data in a message, announced to the client
constexpr uint32_t kMaxMessage = kMaxTransfer + 4096;
constexpr unsigned kMaxFds = 16;  // most file descriptors with a message, announced to the client

struct Message {
    Header header{};
    std::vector<uint8_t> payload;
    std::vector<Fd> fds;

    size_t bytes() const { return sizeof(header) + payload.size(); }
    bool is_reply() const { return (header.flags & kTypeMask) == kTypeReply; }
    bool wants_reply() const { return !(header.flags & kNoReply); }
};

// A source of messages: a socket, or bytes in memory.
class ByteSource {
  public:
    virtual ~ByteSource() = default;
    // Reads 1 to `bytes` bytes, and appends the file descriptors that come with them. Returns 0 at the end of the
    // stream.
    virtual size_t read(uint8_t *data, size_t bytes, std::vector<Fd> &fds) = 0;
};

// The stream is malformed. `header` is the header to reply to, or all zeros.
class StreamError : public std::runtime_error {
  public:
    StreamError(const char *what, const Header &header) : std::runtime_error(what), header(header) {}
    Header header;
};

// Reads the next message; false at the end of the stream. Throws StreamError if the stream ends inside a message, or if
// a message's size or number of file descriptors is impossible.
bool read_message(ByteSource &source, Message &message);

// The bytes of a command to the client.
std::vector<uint8_t> make_command(uint16_t id, uint16_t command, const std::vector<uint8_t> &payload);

// The bytes of a reply: header and payload, or with an error the header only.
std::vector<uint8_t> make_reply(const Header &request, const std::vector<uint8_t> &payload);
std::vector<uint8_t> make_error(const Header &request, int error);

}  // namespace litepcie::vfio_user

namespace litepcie {

// Another server listens on the path.
class SocketInUse : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A listening UNIX socket. Its file is removed when the object is destroyed.
class ListeningSocket {
  public:
    // Replaces the file of a socket that no process listens on. Throws SocketInUse if one does, and std::runtime_error
    // if the path cannot be used.
    explicit ListeningSocket(const std::string &path);
    ~ListeningSocket();
    ListeningSocket(const ListeningSocket &) = delete;
    // Waits for a client that sends data, whatever others that only connect do. Returns an empty Fd if `stop` becomes
    // readable first.
    Fd accept(int stop);

  private:
    Fd next();

    std::string path_;
    Fd fd_;
};

// The connection to a client: reads bytes and file descriptors, sends replies.
class ClientSocket : public vfio_user::ByteSource {
  public:
    // read() returns 0, the end of the stream, as soon as `stop` is readable.
    ClientSocket(Fd fd, int stop) : fd_(std::move(fd)), stop_(stop) {}
    // Throws std::runtime_error if descriptors were lost, because this process has as many as it may have.
    size_t read(uint8_t *data, size_t bytes, std::vector<Fd> &fds) override;
    // Sends all bytes. False if the client has closed the connection, or if `stop` becomes readable first.
    bool send(const std::vector<uint8_t> &bytes);
    // Ends the connection; a thread that waits in read() returns.
    void shut();
    // Whether `stop` is readable.
    bool stopped() const;

  private:
    Fd fd_;
    int stop_;
};

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
