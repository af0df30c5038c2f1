// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "vfio/fd.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

// Messages of the vfio-user protocol, QEMU docs/interop/vfio-user.rst: little-endian, packed.
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
    kDeviceReset = 13,
};

constexpr uint32_t kTypeMask = 0xf, kTypeCommand = 0, kTypeReply = 1, kNoReply = 0x10, kError = 0x20;

struct Header {
    uint16_t id, command;
    uint32_t size;  // of the whole message
    uint32_t flags;
    uint32_t error;  // errno, with kError
};
static_assert(sizeof(Header) == 16, "header of vfio-user");

constexpr uint32_t kMaxTransfer = 1 << 20;  // bytes of data in a message, as announced
constexpr uint32_t kMaxMessage = kMaxTransfer + 4096;
constexpr unsigned kMaxFds = 8;  // as announced

struct Message {
    Header header{};
    std::vector<uint8_t> payload;
    std::vector<Fd> fds;

    bool wants_reply() const { return !(header.flags & kNoReply); }
};

// Where messages come from: a socket, or bytes in memory.
class ByteSource {
  public:
    virtual ~ByteSource() = default;
    // Reads 1 to `bytes` bytes, adds descriptors that come with them; 0 at the end.
    virtual size_t read(uint8_t *data, size_t bytes, std::vector<Fd> &fds) = 0;
};

// The stream cannot be followed any more; the header, if there is one, is what to answer.
class StreamError : public std::runtime_error {
  public:
    StreamError(const char *what, const Header &header) : std::runtime_error(what), header(header) {}
    Header header;
};

// Next message; false at the end of the stream, StreamError in the middle of one or if its size is impossible.
bool read_message(ByteSource &source, Message &message);

// A reply: header and payload in one piece. With an error it is the header only.
std::vector<uint8_t> make_reply(const Header &request, const std::vector<uint8_t> &payload);
std::vector<uint8_t> make_error(const Header &request, int error);

}  // namespace litepcie::vfio_user
