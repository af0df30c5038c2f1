// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "vfio/client_memory.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace litepcie {

using vfio_user::Message;

namespace {

struct Access {
    uint64_t address, count;
};
static_assert(sizeof(Access) == 16, "payload of VFIO_USER_DMA_READ and VFIO_USER_DMA_WRITE");

}  // namespace

void ClientMemory::open(Send send) {
    std::lock_guard<std::mutex> lock(mutex_);
    send_ = std::move(send);
    open_ = true;
}

void ClientMemory::close() {
    std::lock_guard<std::mutex> lock(mutex_);
    open_ = false;
    answered_.notify_all();
}

void ClientMemory::take(Message message) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (awaited_ != message.header.id)
        return;  // too late, or an answer to nothing
    reply_ = std::move(message);
    answered_.notify_all();
}

std::optional<Message> ClientMemory::ask(uint16_t command, uint64_t address, size_t bytes, const uint8_t *data) {
    const Access access = {address, bytes};
    std::vector<uint8_t> payload(sizeof(access) + (data ? bytes : 0));
    memcpy(payload.data(), &access, sizeof(access));
    if (data)
        memcpy(payload.data() + sizeof(access), data, bytes);
    std::unique_lock<std::mutex> lock(mutex_);
    if (!open_)
        return std::nullopt;
    reply_.reset();
    awaited_ = ++id_;
    lock.unlock();
    const bool sent = send_(vfio_user::make_command(id_, command, payload));
    lock.lock();
    const bool in_time = sent && answered_.wait_for(lock, std::chrono::milliseconds(reply_milliseconds_),
                                                    [this] { return reply_ || !open_; });
    awaited_.reset();
    if (sent && !in_time)
        fprintf(stderr, "the client does not answer a DMA by message; its memory without a file is not accessed\n");
    open_ &= in_time;
    std::optional<Message> reply = std::move(reply_);
    reply_.reset();
    if (!reply || reply->header.command != command || reply->header.flags & vfio_user::kError)
        return std::nullopt;
    const size_t expected = sizeof(access) + (data ? 0 : bytes);
    if (reply->payload.size() != expected || memcmp(reply->payload.data(), &access, sizeof(access)))
        return std::nullopt;
    return reply;
}

bool ClientMemory::read(uint64_t address, uint8_t *data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        const size_t now = std::min<size_t>(bytes - done, most_);
        const std::optional<Message> reply = ask(vfio_user::kDmaRead, address + done, now, nullptr);
        if (!reply)
            return false;
        memcpy(data + done, reply->payload.data() + sizeof(Access), now);
        done += now;
    }
    return true;
}

bool ClientMemory::write(uint64_t address, const uint8_t *data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        const size_t now = std::min<size_t>(bytes - done, most_);
        if (!ask(vfio_user::kDmaWrite, address + done, now, data + done))
            return false;
        done += now;
    }
    return true;
}

}  // namespace litepcie
