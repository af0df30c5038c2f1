// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/guest_memory.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <thread>

using namespace litepcie;
using namespace litepcie::vfio_user;

namespace {
// A client that answers a request at once, from another thread. Its memory has the low bytes of the addresses at first.
class ClientMemoryTest : public testing::Test {
  protected:
    ClientMemoryTest() {
        for (size_t i = 0; i < sizeof(own); i++)
            own[i] = uint8_t(i);
        memory.open([this](const std::vector<uint8_t> &bytes) {
            requests.push_back(bytes);
            Message reply = serve(bytes);
            if (change)
                change(reply);
            if (answers)
                answer(std::move(reply));
            else
                kept.push_back(std::move(reply));
            return connected;
        });
    }

    // As the specification has it, or as QEMU 10.1 and 10.2 do it: the structure of a message ends with a count of 32
    // bits, and is 4 bytes longer than that, but its data begins at once. The reply to a write is a header.
    Message serve(const std::vector<uint8_t> &bytes) {
        Message reply;
        memcpy(&reply.header, bytes.data(), sizeof(Header));
        reply.header.flags = kTypeReply;
        const uint8_t *const payload = bytes.data() + sizeof(Header);
        uint64_t address, count = 0;
        memcpy(&address, payload, sizeof(address));
        memcpy(&count, payload + 8, narrow ? 4 : 8);
        const size_t at = narrow ? 12 : 16;
        EXPECT_LE(address + count, sizeof(own));
        reply.payload.assign(payload, payload + 16);
        if (reply.header.command == kDmaRead) {
            reply.payload.resize(16 + count);
            memcpy(reply.payload.data() + at, own + address, count);
        } else {
            EXPECT_EQ(bytes.size(), sizeof(Header) + 16 + count);
            memcpy(own + address, payload + at, count);
            if (narrow)
                reply.payload.clear();
        }
        return reply;
    }
    void answer(Message reply) {
        std::thread([&] { memory.take(std::move(reply)); }).join();
    }
    void answer_kept() {
        answers = true;
        for (; !kept.empty(); kept.erase(kept.begin()))
            answer(std::move(kept.front()));
    }
    // The layout is known then.
    void learn() {
        EXPECT_TRUE(memory.read(4, data, 4));
        requests.clear();
    }
    std::vector<uint8_t> at(size_t address, size_t bytes) const { return {own + address, own + address + bytes}; }

    ClientMemory memory{200};
    std::vector<std::vector<uint8_t>> requests;
    std::vector<Message> kept;
    std::function<void(Message &)> change;
    bool answers = true, connected = true, narrow = false;
    uint8_t own[0x4000], data[100] = {};
};

Fd file_of(size_t bytes) {
    Fd file(memfd_create("memory", MFD_CLOEXEC));
    EXPECT_EQ(ftruncate(file.get(), bytes), 0);
    return file;
}
}  // namespace

TEST_F(ClientMemoryTest, TakesNoWrongAnswer) {
    change = [](Message &reply) { reply.header.command = kDmaWrite; };
    EXPECT_FALSE(memory.read(0, data, 4));
    change = [](Message &reply) { reply.header.flags |= kError; };
    EXPECT_FALSE(memory.read(0, data, 4));
    change = [](Message &reply) { reply.payload[0]++; };
    EXPECT_FALSE(memory.read(0, data, 4));
    EXPECT_FALSE(memory.write(0, data, 4));
    change = [](Message &reply) { reply.payload.pop_back(); };
    EXPECT_FALSE(memory.read(0, data, 4));
    change = [](Message &reply) { reply.payload.clear(); };
    EXPECT_FALSE(memory.read(0, data, 4));
    EXPECT_TRUE(memory.write(0, data, 4)) << "a header is enough, as QEMU sends it";
    change = nullptr;
    learn();
    change = [](Message &reply) { reply.payload[13] = 1; };
    EXPECT_FALSE(memory.read(0, data, 4)) << "a count of more than 32 bits";
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
    EXPECT_TRUE(memory.settled());
    memory.close();
    EXPECT_FALSE(memory.read(0, data, 4));
}

TEST_F(ClientMemoryTest, OfTheGuest) {
    GuestMemory guest(&memory), alone;
    EXPECT_EQ(guest.map(0x1000, 0x1000, Fd(), 0, true, false), 0);
    EXPECT_EQ(alone.map(0x1000, 0x1000, Fd(), 0, true, false), 0);
    EXPECT_TRUE(guest.at_once(0, 4));
    EXPECT_FALSE(guest.at_once(0xffe, 4) && guest.at_once(0x1000, 4));
    EXPECT_TRUE(guest.read(0x1ffc, data, 4));
    EXPECT_EQ(data[3], 0xff);
    EXPECT_FALSE(guest.read(0x1ffc, data, 5));
    EXPECT_FALSE(guest.write(0x1000, data, 1));
    EXPECT_FALSE(alone.read(0x1000, data, 1));
    EXPECT_EQ(requests.size(), 1u);
}

namespace {
// Of both layouts.
class EitherLayout : public ClientMemoryTest, public testing::WithParamInterface<bool> {
  protected:
    EitherLayout() { narrow = GetParam(); }
};
}  // namespace

INSTANTIATE_TEST_SUITE_P(Layouts, EitherLayout, testing::Bool());

TEST_P(EitherLayout, OfReads) {
    memset(own + 0x100, 0, 30);
    EXPECT_TRUE(memory.read(0x101, data, 20));
    EXPECT_EQ(std::vector<uint8_t>(data, data + 20), at(0x101, 20)) << "zeros";
    for (const auto &[address, bytes] : {std::pair{0x111, 50}, {0x11d, 1}, {0x11e, 1}, {0x2000, 100}}) {
        EXPECT_TRUE(memory.read(address, data, bytes));
        EXPECT_EQ(std::vector<uint8_t>(data, data + bytes), at(address, bytes)) << address;
    }
    EXPECT_EQ(requests.back().size(), 32u);
    EXPECT_EQ(requests.size(), 5u + 4 + 2 + 1 + 1) << "four bytes each until the first that are not zeros, at 11eh";
}

// Whatever is there before, and whatever is written.
TEST_P(EitherLayout, OfWrites) {
    for (const bool zeros_before : {true, false})
        for (const unsigned zeros : {0, 1, 3, 4, 5, 17, 60}) {
            ClientMemory other{200};
            other.open([&](const std::vector<uint8_t> &bytes) {
                other.take(serve(bytes));
                return true;
            });
            for (unsigned i = 0; i < 0x200; i++)
                own[0x1000 + i] = zeros_before ? 0 : uint8_t(0x80 | i);
            auto expected = at(0x1000, 0x200);
            std::vector<uint8_t> written(60);
            for (unsigned i = zeros; i < written.size(); i++)
                written[i] = uint8_t(i + 1);
            memcpy(expected.data() + 0x43, written.data(), written.size());
            EXPECT_TRUE(other.write(0x1043, written.data(), written.size()));
            EXPECT_EQ(at(0x1000, 0x200), expected) << zeros << zeros_before;
            EXPECT_TRUE(other.settled());
        }
}

// A client that refuses reads cannot tell its layout, so the specification's is used.
TEST_F(ClientMemoryTest, LayoutOfMemoryThatIsOnlyWritten) {
    change = [](Message &reply) { reply.header.flags |= reply.header.command == kDmaRead ? kError : 0; };
    memset(data, 0x55, sizeof(data));
    EXPECT_TRUE(memory.write(0x1001, data, 9));
    EXPECT_EQ(at(0x1001, 9), std::vector<uint8_t>(9, 0x55));
    EXPECT_EQ(own[0x100a], 0x0a);
}

TEST_P(EitherLayout, ReadsArriveLater) {
    memory.waits(true);
    answers = false;
    const auto fetch = memory.fetch(0x1003, 50);
    EXPECT_FALSE(memory.arrived(*fetch));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_FALSE(memory.arrived(*fetch)) << "the time for an answer does not end while the client waits";
    memory.waits(false);
    answer_kept();
    EXPECT_TRUE(memory.arrived(*fetch));
    EXPECT_TRUE(fetch->ok);
    EXPECT_EQ(fetch->data, at(0x1003, 50));
}

TEST_P(EitherLayout, WritesArePosted) {
    for (const bool known : {true, false}) {
        if (known)
            learn();
        memory.waits(true);
        answers = false;
        memset(data, 0x77, sizeof(data));
        EXPECT_TRUE(memory.write(0x1002, data, 50));
        EXPECT_FALSE(memory.settled());
        const auto fetch = memory.fetch(0x1000, 10);
        EXPECT_FALSE(memory.arrived(*fetch));
        memory.waits(false);
        answer_kept();
        EXPECT_TRUE(memory.settle());
        EXPECT_TRUE(memory.settled());
        EXPECT_EQ(at(0x1002, 50), std::vector<uint8_t>(50, 0x77));
        EXPECT_EQ(own[0x1034], 0x34);
        EXPECT_TRUE(memory.arrived(*fetch) && fetch->ok);
        EXPECT_EQ(fetch->data, at(0x1000, 10)) << "a read does not overtake a write";
    }
}

TEST_F(ClientMemoryTest, FailsWhenTheClientLeaves) {
    learn();
    memory.waits(true);
    answers = false;
    EXPECT_TRUE(memory.write(0x1000, data, 50));
    const auto fetch = memory.fetch(0x1000, 10);
    memory.close();
    EXPECT_TRUE(memory.arrived(*fetch));
    EXPECT_FALSE(fetch->ok);
    EXPECT_TRUE(memory.settled());
    EXPECT_FALSE(memory.write(0x1000, data, 50));
}

TEST(GuestMemory, AccessAcrossMappings) {
    GuestMemory memory;
    EXPECT_EQ(memory.map(0x1000, 0x1000, file_of(0x1000), 0, true, true), 0);
    EXPECT_EQ(memory.map(0x2000, 0x1000, file_of(0x1000), 0, true, true), 0);
    uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {};
    EXPECT_TRUE(memory.write(0x1ffc, data, 8));
    EXPECT_TRUE(memory.read(0x1ffc, back, 8));
    EXPECT_EQ(back[7], 8);
    EXPECT_FALSE(memory.write(0xfff, data, 1));
    // An access that is not mapped completely transfers nothing.
    EXPECT_FALSE(memory.write(0x2ffc, data, 8));
    EXPECT_TRUE(memory.read(0x2ffc, back, 4));
    EXPECT_EQ(back[0], 0);
}

TEST(GuestMemory, RefusesWhatDoesNotFit) {
    GuestMemory memory;
    EXPECT_EQ(memory.map(0x1000, 0, Fd(), 0, true, true), EINVAL);
    EXPECT_EQ(memory.map(UINT64_MAX, 2, Fd(), 0, true, true), EINVAL);
    EXPECT_EQ(memory.map(0x1000, 0x2000, file_of(0x1000), 0, true, true), EINVAL);  // the file is too short
    EXPECT_EQ(memory.map(0x1000, 0x1000, file_of(0x2000), 0x1001, true, true), EINVAL);
    EXPECT_EQ(memory.map(0x1000, 0x1000, Fd(), 0, true, true), 0);
    EXPECT_EQ(memory.map(0x1fff, 0x1000, Fd(), 0, true, true), EEXIST);
    EXPECT_EQ(memory.map(0x0, 0x1001, Fd(), 0, true, true), EEXIST);
    EXPECT_EQ(memory.map(0x1400, 0x10, Fd(), 0, true, true), EEXIST);
    EXPECT_EQ(memory.map(0x2000, 0x1000, Fd(), 0, true, true), 0);
    EXPECT_EQ(memory.unmap(0x1800, 0x800), EINVAL);  // half of a mapping
    EXPECT_EQ(memory.unmap(0x1000, 0x1800), EINVAL);
    EXPECT_EQ(memory.unmap(0x0, 0x10000), 0);  // several at once
    EXPECT_EQ(memory.mappings(), 0u);
    EXPECT_EQ(memory.map(UINT64_MAX - 0xfff, 0x1000, Fd(), 0, true, true), 0);
    EXPECT_EQ(memory.unmap(0, UINT64_MAX), EINVAL);  // all but the last byte
    EXPECT_EQ(memory.unmap(UINT64_MAX - 0xfff, 0x1000), 0);
}
