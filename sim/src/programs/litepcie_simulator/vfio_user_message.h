// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

// Messages of the vfio-user protocol (QEMU docs/interop/vfio-user.rst). All fields are little-endian and packed.
namespace litepcie::vfio_user {

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
