// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "vfio/client_memory.h"

#include "vfio/guest_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

using namespace litepcie;
using namespace litepcie::vfio_user;

namespace {

// A client that answers a request at once, from another thread, with the bytes of its address.
class ClientMemoryTest : public testing::Test {
  protected:
    ClientMemoryTest() {
        memory.open([this](const std::vector<uint8_t> &bytes) {
            requests.push_back(bytes);
            Message reply;
            memcpy(&reply.header, bytes.data(), sizeof(Header));
            reply.header.flags = kTypeReply;
            reply.payload.assign(bytes.begin() + sizeof(Header), bytes.begin() + sizeof(Header) + 16);
            uint64_t access[2];
            memcpy(access, reply.payload.data(), sizeof(access));
            for (uint64_t i = 0; reply.header.command == kDmaRead && i < access[1]; i++)
                reply.payload.push_back(uint8_t(access[0] + i));
            if (change)
                change(reply);
            if (answers)
                std::thread([this, reply = std::move(reply)]() mutable { memory.take(std::move(reply)); }).join();
            return connected;
        });
    }

    ClientMemory memory{200};
    std::vector<std::vector<uint8_t>> requests;
    std::function<void(Message &)> change;
    bool answers = true, connected = true;
    uint8_t data[100] = {};
};

}  // namespace

TEST_F(ClientMemoryTest, SplitsAsTheClientWants) {
    memory.set_most(40);
    EXPECT_TRUE(memory.read(0x1000, data, 100));
    for (unsigned i = 0; i < 100; i++)
        EXPECT_EQ(data[i], i);
    ASSERT_EQ(requests.size(), 3u);
    EXPECT_TRUE(memory.write(0x2000, data, 41));
    ASSERT_EQ(requests.size(), 5u);
    EXPECT_EQ(requests[3].size(), sizeof(Header) + 16 + 40);
    EXPECT_EQ(requests[4].back(), 40);
}

TEST_F(ClientMemoryTest, TakesNoWrongAnswer) {
    change = [](Message &reply) { reply.header.command = kDmaWrite; };
    EXPECT_FALSE(memory.read(0, data, 4));
    change = [](Message &reply) { reply.header.flags |= kError; };
    EXPECT_FALSE(memory.read(0, data, 4));
    change = [](Message &reply) { reply.payload[0]++; };
    EXPECT_FALSE(memory.write(0, data, 4));
    change = [](Message &reply) { reply.payload.pop_back(); };
    EXPECT_FALSE(memory.read(0, data, 4));
    change = [](Message &reply) { reply.payload.clear(); };
    EXPECT_FALSE(memory.write(0, data, 4));
    change = nullptr;
    EXPECT_TRUE(memory.read(0, data, 4));
}

TEST_F(ClientMemoryTest, WaitsOnce) {
    change = [](Message &reply) { reply.header.id++; };
    EXPECT_FALSE(memory.read(0, data, 4));
    change = nullptr;
    EXPECT_FALSE(memory.read(0, data, 4));
    EXPECT_EQ(requests.size(), 1u);
}

TEST_F(ClientMemoryTest, EndsWithTheConnection) {
    connected = false;
    answers = false;
    EXPECT_FALSE(memory.write(0, data, 4));
    EXPECT_FALSE(memory.write(0, data, 4));
    EXPECT_EQ(requests.size(), 1u);
    memory.close();
    EXPECT_FALSE(memory.read(0, data, 4));
}

TEST_F(ClientMemoryTest, OfTheGuest) {
    GuestMemory guest(&memory), alone;
    EXPECT_EQ(guest.map(0x1000, 0x1000, Fd(), 0, true, false), 0);
    EXPECT_EQ(alone.map(0x1000, 0x1000, Fd(), 0, true, false), 0);
    EXPECT_TRUE(guest.read(0x1ffc, data, 4));
    EXPECT_EQ(data[3], 0xff);
    EXPECT_FALSE(guest.read(0x1ffc, data, 5));
    EXPECT_FALSE(guest.write(0x1000, data, 1));
    EXPECT_FALSE(alone.read(0x1000, data, 1));
    EXPECT_EQ(requests.size(), 1u);
}
