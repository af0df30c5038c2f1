// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/vfio_user_message.h"

#include <cstring>

namespace litepcie::vfio_user {

namespace {

// Bytes read before the end.
size_t read_all(ByteSource &source, uint8_t *data, size_t bytes, std::vector<Fd> &fds) {
    size_t done = 0;
    while (done < bytes) {
        size_t now = source.read(data + done, bytes - done, fds);
        if (fds.size() > kMaxFds)
            throw StreamError("a message has more than 16 file descriptors", Header{});
        if (!now)
            break;
        done += now;
    }
    return done;
}

std::vector<uint8_t> with_header(const Header &header, const std::vector<uint8_t> &payload) {
    std::vector<uint8_t> bytes(sizeof(header) + payload.size());
    memcpy(bytes.data(), &header, sizeof(header));
    if (!payload.empty())
        memcpy(bytes.data() + sizeof(header), payload.data(), payload.size());
    return bytes;
}

}  // namespace

bool read_message(ByteSource &source, Message &message) {
    message = Message();
    size_t got = read_all(source, reinterpret_cast<uint8_t *>(&message.header), sizeof(Header), message.fds);
    if (!got)
        return false;
    if (got < sizeof(Header))
        throw StreamError("stream ends inside a header", Header{});
    if (message.header.size < sizeof(Header) || message.header.size > kMaxMessage)
        throw StreamError("size of a message is impossible", message.header);
    message.payload.resize(message.header.size - sizeof(Header));
    if (read_all(source, message.payload.data(), message.payload.size(), message.fds) < message.payload.size())
        throw StreamError("stream ends inside a message", message.header);
    return true;
}

std::vector<uint8_t> make_command(uint16_t id, uint16_t command, const std::vector<uint8_t> &payload) {
    return with_header({id, command, uint32_t(sizeof(Header) + payload.size()), kTypeCommand, 0}, payload);
}

std::vector<uint8_t> make_reply(const Header &request, const std::vector<uint8_t> &payload) {
    return with_header({request.id, request.command, uint32_t(sizeof(Header) + payload.size()), kTypeReply, 0},
                       payload);
}

std::vector<uint8_t> make_error(const Header &request, int error) {
    return with_header({request.id, request.command, sizeof(Header), kTypeReply | kError, uint32_t(error)}, {});
}

}  // namespace litepcie::vfio_user
