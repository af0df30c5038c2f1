// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/vfio_user.h"

#include <gtest/gtest.h>

#include <sys/eventfd.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

using namespace litepcie;
using namespace litepcie::vfio_user;

namespace {
class FakeDevice : public Device {
  public:
    uint64_t bar_size(unsigned bar) const override { return bar == 0 ? 1 << 21 : bar == 4 ? 1 << 12 : 0; }
    size_t config_size() const override { return 4096; }
    int bar_read(unsigned bar, uint64_t offset, uint8_t *data, size_t bytes) override {
        if (offset == 0x666)
            return ETIMEDOUT;
        for (size_t i = 0; i < bytes; i++)
            data[i] = 16 * bar + offset + i;
        return 0;
    }
    int bar_write(unsigned bar, uint64_t offset, const uint8_t *data, size_t bytes, bool posted) override {
        last_bar = bar;
        last_offset = offset;
        last_data.assign(data, data + bytes);
        last_posted = posted;
        return 0;
    }
    void config_read(unsigned, uint8_t *data, size_t bytes) override { memset(data, 0xc0, bytes); }
    void config_write(unsigned offset, const uint8_t *, size_t) override { last_offset = offset; }
    void reset() override { resets++; }
    unsigned msi_vectors() const override { return 2; }
    unsigned msix_vectors() const override { return 4; }
    void route_msix(unsigned vector, bool on) override { routed[vector] = on; }

    unsigned last_bar = 0;
    uint64_t last_offset = 0;
    std::vector<uint8_t> last_data;
    bool last_posted = false;
    int resets = 0;
    std::map<unsigned, bool> routed;
};

// A source of bytes in memory, which gives at most `piece` bytes per read.
class Bytes : public ByteSource {
  public:
    Bytes(std::vector<uint8_t> bytes, size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
    size_t read(uint8_t *data, size_t bytes, std::vector<Fd> &) override {
        size_t now = std::min({bytes, piece_, bytes_.size() - at_});
        memcpy(data, bytes_.data() + at_, now);
        at_ += now;
        return now;
    }

  private:
    std::vector<uint8_t> bytes_;
    size_t piece_, at_ = 0;
};

struct Reply {
    Header header{};
    std::vector<uint8_t> payload;
    bool none = false;
    int error() const { return header.flags & kError ? int(header.error) : 0; }
    template <typename T> T at(size_t offset) const {
        T value;
        EXPECT_LE(offset + sizeof(T), payload.size());
        memcpy(&value, payload.data() + offset, sizeof(T));
        return value;
    }
};

class VfioUserTest : public testing::Test {
  protected:
    VfioUserTest() : server(device, memory) {}

    // Makes a payload of 32 bit words.
    static std::vector<uint8_t> words(std::initializer_list<uint32_t> list) {
        std::vector<uint8_t> bytes(4 * list.size());
        memcpy(bytes.data(), list.begin(), bytes.size());
        return bytes;
    }
    Reply send(uint16_t command, std::vector<uint8_t> payload, uint32_t flags = 0, Fd fd = Fd()) {
        Message message;
        message.header = {uint16_t(++id), command, uint32_t(sizeof(Header) + payload.size()), flags, 0};
        message.payload = std::move(payload);
        if (fd)
            message.fds.push_back(std::move(fd));
        std::vector<uint8_t> bytes = server.handle(message);
        Reply reply;
        reply.none = bytes.empty();
        if (reply.none)
            return reply;
        memcpy(&reply.header, bytes.data(), sizeof(Header));
        reply.payload.assign(bytes.begin() + sizeof(Header), bytes.end());
        EXPECT_EQ(reply.header.id, id);
        EXPECT_EQ(reply.header.command, command);
        EXPECT_EQ(reply.header.size, bytes.size());
        EXPECT_EQ(reply.header.flags & kTypeMask, kTypeReply);
        if (reply.error()) {
            EXPECT_TRUE(reply.payload.empty());  // an error reply is the header only
        }
        return reply;
    }
    // As QEMU 11.1.3 sends it, but for the capabilities.
    static std::vector<uint8_t> version(const std::string &capabilities) {
        const std::string json = "{\"capabilities\": {" + capabilities + "}}";
        std::vector<uint8_t> payload(4 + json.size() + 1);
        memcpy(payload.data() + 4, json.c_str(), json.size());
        return payload;
    }
    static std::vector<uint8_t> version_payload() {
        return version(
            "\"pgsizes\": 4096, \"max_msg_fds\": 16, \"max_dma_maps\": 65535, \"max_data_xfer_size\": 1048576, "
            "\"migration\": {\"max_bitmap_size\": 268435456, \"pgsize\": 4096}, \"write_multiple\": true");
    }
    void negotiate() { ASSERT_EQ(send(kVersion, version_payload()).error(), 0); }
    static std::vector<uint8_t> map(uint64_t address, uint64_t size, uint32_t flags = 3, uint64_t offset = 0) {
        return words({32, flags, uint32_t(offset), uint32_t(offset >> 32), uint32_t(address), uint32_t(address >> 32),
                      uint32_t(size), uint32_t(size >> 32)});
    }

    FakeDevice device;
    GuestMemory memory;
    Server server;
    uint16_t id = 0;
};
}  // namespace

TEST_F(VfioUserTest, Version) {
    EXPECT_EQ(send(kGetInfo, words({16, 0, 0, 0})).error(), EINVAL);  // not allowed before VERSION
    std::vector<uint8_t> asked = version_payload();
    Reply reply = send(kVersion, asked);
    EXPECT_EQ(reply.error(), 0);
    EXPECT_EQ(reply.at<uint32_t>(0), 0u);
    EXPECT_EQ(reply.payload.back(), 0);
    EXPECT_LE(reply.payload.size(), asked.size());  // QEMU accepts no longer reply
    EXPECT_NE(strstr(reinterpret_cast<char *>(reply.payload.data()) + 4, "max_data_xfer_size"), nullptr);
}

TEST_F(VfioUserTest, VersionRefused) {
    EXPECT_EQ(send(kVersion, words({1})).error(), ENOTSUP);
    EXPECT_EQ(send(kVersion, {}).error(), EINVAL);
    EXPECT_EQ(send(kVersion, {0, 0, 0, 0, '{'}).error(), EINVAL);     // no NUL
    EXPECT_EQ(send(kVersion, {0, 0, 0, 0, '{', 0}).error(), EINVAL);  // no JSON
    for (const std::string most : {"0", "-1", "\"many\"", "1.5"})
        EXPECT_EQ(send(kVersion, version("\"max_data_xfer_size\": " + most)).error(), EINVAL) << most;
}

TEST_F(VfioUserTest, Information) {
    negotiate();
    Reply info = send(kGetInfo, words({16, 0, 0, 0}));
    EXPECT_EQ(info.at<uint32_t>(4), 3u);  // reset, PCI
    EXPECT_EQ(info.at<uint32_t>(8), 9u);
    EXPECT_EQ(info.at<uint32_t>(12), 5u);
    for (uint32_t region = 0; region < 9; region++) {
        Reply r = send(kGetRegionInfo, words({32, 0, region, 0, 0, 0, 0, 0}));
        uint64_t size = region == 0 ? 1 << 21 : region == 4 || region == 7 ? 4096 : 0;
        EXPECT_EQ(r.at<uint64_t>(16), size) << region;
        EXPECT_EQ(r.at<uint32_t>(4), size ? 3u : 0u) << region;  // read, write, no mmap
    }
    EXPECT_EQ(send(kGetRegionInfo, words({32, 0, 9, 0, 0, 0, 0, 0})).error(), EINVAL);
    Reply msi = send(kGetIrqInfo, words({16, 0, 1, 0}));
    EXPECT_EQ(msi.at<uint32_t>(4), 1u);
    EXPECT_EQ(msi.at<uint32_t>(12), 2u);
    EXPECT_EQ(send(kGetIrqInfo, words({16, 0, 2, 0})).at<uint32_t>(12), 4u);
    EXPECT_EQ(send(kGetIrqInfo, words({16, 0, 0, 0})).at<uint32_t>(12), 0u);
    EXPECT_EQ(send(kGetIrqInfo, words({16, 0, 3, 0})).error(), EINVAL);
    EXPECT_EQ(send(kGetIrqInfo, words({12, 0, 1, 0})).error(), EINVAL);  // argsz too small
}

TEST_F(VfioUserTest, Regions) {
    negotiate();
    Reply read = send(kRegionRead, words({0x10, 0, 0, 4}));
    EXPECT_EQ(read.payload.size(), 20u);
    EXPECT_EQ(read.at<uint32_t>(12), 4u);
    EXPECT_EQ(read.at<uint32_t>(16), 0x13121110u);
    EXPECT_EQ(send(kRegionRead, words({0, 0, 7, 4096})).payload.size(), 16u + 4096);
    EXPECT_EQ(send(kRegionRead, words({0x10, 0, 4, 4})).at<uint32_t>(16), 0x53525150u);
    EXPECT_EQ(send(kRegionRead, words({0x1000, 0, 4, 1})).error(), EINVAL);
    EXPECT_EQ(send(kRegionRead, words({0x666, 0, 0, 4})).error(), ETIMEDOUT);
    EXPECT_EQ(send(kRegionRead, words({0x200000, 0, 0, 1})).error(), EINVAL);
    EXPECT_EQ(send(kRegionRead, words({0xfffffffe, 0xffffffff, 0, 4})).error(), EINVAL);
    EXPECT_EQ(send(kRegionRead, words({4095, 0, 7, 2})).error(), EINVAL);
    EXPECT_EQ(send(kRegionRead, words({0, 0, 3, 4})).error(), EINVAL);
    EXPECT_EQ(send(kRegionRead, words({0, 0, 0, 0})).error(), EINVAL);
    EXPECT_EQ(send(kRegionRead, words({0, 0, 0})).error(), EINVAL);

    EXPECT_EQ(send(kRegionWrite, words({8, 0, 4, 4, 0xdeadbeef})).payload.size(), 16u);
    EXPECT_EQ(device.last_bar, 4u);
    EXPECT_EQ(device.last_offset, 8u);
    EXPECT_FALSE(device.last_posted);
    EXPECT_TRUE(send(kRegionWrite, words({12, 0, 0, 4, 1}), kNoReply).none);
    EXPECT_TRUE(device.last_posted);
    EXPECT_EQ(device.last_bar, 0u);
    EXPECT_EQ(device.last_offset, 12u);
    EXPECT_TRUE(send(kRegionWrite, words({0, 0, 0, 8, 1}), kNoReply).none);  // wrong, but the client wants no reply
    EXPECT_EQ(send(kRegionWrite, words({0, 0, 0, 8, 1})).error(), EINVAL);
    EXPECT_EQ(send(kRegionWrite, words({4, 0, 7, 2, 6})).error(), EINVAL);
    EXPECT_EQ(send(kDeviceReset, {}).error(), 0);
    EXPECT_EQ(device.resets, 1);
}

TEST_F(VfioUserTest, Dma) {
    negotiate();
    Fd file(memfd_create("ram", MFD_CLOEXEC));
    ASSERT_EQ(ftruncate(file.get(), 0x10000), 0);
    EXPECT_EQ(send(kDmaMap, map(0x100000, 0x8000, 3, 0x1000), 0, Fd(dup(file.get()))).error(), 0);
    EXPECT_EQ(send(kDmaMap, map(0x107000, 0x1000), 0, Fd(dup(file.get()))).error(), EEXIST);
    EXPECT_EQ(send(kDmaMap, map(0xfffc0000, 0x40000, 1)).error(), 0);  // the BIOS, which has no file
    EXPECT_EQ(send(kDmaMap, map(0, 0x1000, 4)).error(), EINVAL);       // the file is to be mapped, and there is none
    EXPECT_EQ(send(kDmaMap, map(0x300000, 0x1000, 7), 0, Fd(dup(file.get()))).error(), 0);
    EXPECT_EQ(send(kDmaMap, map(0x400000, 0x1000, 11), 0, Fd(dup(file.get()))).error(), EINVAL);
    EXPECT_EQ(send(kDmaMap, words({32, 3})).error(), EINVAL);
    const uint8_t data[2] = {0x5a, 0xa5};
    EXPECT_TRUE(memory.write(0x100010, data, 2));
    uint8_t seen[2];
    ASSERT_EQ(pread(file.get(), seen, 2, 0x1010), 2);
    EXPECT_EQ(seen[1], 0xa5);
    std::vector<uint8_t> unmap = words({24, 0, 0x100000, 0, 0x8000, 0});
    EXPECT_EQ(send(kDmaUnmap, unmap).payload, unmap);
    EXPECT_FALSE(memory.write(0x100010, data, 2));
    EXPECT_EQ(send(kDmaUnmap, unmap).error(), 0);                       // QEMU repeats it at reset
    EXPECT_EQ(send(kDmaUnmap, words({24, 2, 0, 0, 0, 0})).error(), 0);  // all
    EXPECT_EQ(memory.mappings(), 0u);
}

TEST_F(VfioUserTest, Interrupts) {
    negotiate();
    int event = eventfd(0, EFD_NONBLOCK);
    server.interrupt(0);  // before there is an eventfd
    EXPECT_EQ(send(kSetIrqs, words({20, 0x24, 1, 0, 1}), 0, Fd(dup(event))).error(), 0);
    server.interrupt(0);
    server.interrupt(0);
    uint64_t count = 0;
    EXPECT_EQ(read(event, &count, sizeof(count)), 8);
    EXPECT_EQ(count, 2u);
    EXPECT_EQ(send(kSetIrqs, words({20, 0x21, 1, 0, 1})).error(), 0);  // loopback trigger
    EXPECT_EQ(read(event, &count, sizeof(count)), 8);
    EXPECT_EQ(send(kSetIrqs, words({20, 0x21, 1, 0, 0})).error(), 0);  // off
    EXPECT_FALSE(server.interrupt_connected());
    server.interrupt(0);
    EXPECT_EQ(read(event, &count, sizeof(count)), -1);
    EXPECT_EQ(send(kSetIrqs, words({20, 0x24, 1, 0, 3})).error(), EINVAL);
    EXPECT_EQ(send(kSetIrqs, words({20, 0x24, 1, 2, 1})).error(), EINVAL);
    EXPECT_EQ(send(kSetIrqs, words({20, 0x24, 7, 0, 0})).error(), EINVAL);
    EXPECT_EQ(send(kSetIrqs, words({20, 0x09, 1, 0, 1})).error(), EINVAL);  // mask
    close(event);
}

TEST_F(VfioUserTest, InterruptsOfMsix) {
    negotiate();
    int event = eventfd(0, EFD_NONBLOCK);
    uint64_t count = 0;
    EXPECT_EQ(send(kSetIrqs, words({20, 0x24, 2, 0, 1})).error(), 0);  // on, and nothing is routed
    EXPECT_FALSE(server.interrupt_connected());
    EXPECT_EQ(send(kSetIrqs, words({20, 0x24, 2, 3, 1}), 0, Fd(dup(event))).error(), 0);
    EXPECT_EQ(device.routed, (std::map<unsigned, bool>{{0, false}, {3, true}}));
    server.interrupt(2);
    EXPECT_EQ(read(event, &count, sizeof(count)), -1);
    server.interrupt(3);
    EXPECT_EQ(read(event, &count, sizeof(count)), 8);
    device.routed.clear();
    server.route_again();
    EXPECT_EQ(device.routed, (std::map<unsigned, bool>{{3, true}}));
    EXPECT_EQ(send(kSetIrqs, words({20, 0x24, 2, 0, 2}), 0, Fd(dup(event))).error(), EINVAL);  // one event for two
    EXPECT_EQ(send(kSetIrqs, words({20, 0x24, 2, 4, 1})).error(), EINVAL);
    EXPECT_EQ(send(kSetIrqs, words({20, 0x21, 2, 0, 0})).error(), 0);  // off
    EXPECT_FALSE(server.interrupt_connected());
    EXPECT_FALSE(device.routed.at(3));
    close(event);
}

TEST_F(VfioUserTest, UnknownAndReplies) {
    negotiate();
    for (uint16_t command : {0, 6, 11, 12, 14, 15, 16, 17, 99})
        EXPECT_EQ(send(command, {}).error(), ENOSYS) << command;
    EXPECT_TRUE(send(kGetInfo, {}, kTypeReply).none);
    EXPECT_EQ(send(kGetInfo, {}, 5).error(), EINVAL);
}

TEST(VfioUserMessage, FramesInAnyPieces) {
    std::vector<uint8_t> stream = make_reply({7, 4, 0, 0, 0}, {1, 2, 3});
    std::vector<uint8_t> second = make_error({8, 5, 0, 0, 0}, 22);
    stream.insert(stream.end(), second.begin(), second.end());
    for (size_t piece : {1, 2, 15, 16, 17, 100}) {
        Bytes source(stream, piece);
        Message message;
        ASSERT_TRUE(read_message(source, message));
        EXPECT_EQ(message.payload, (std::vector<uint8_t>{1, 2, 3}));
        ASSERT_TRUE(read_message(source, message));
        EXPECT_EQ(message.header.error, 22u);
        EXPECT_FALSE(read_message(source, message));
    }
}

TEST(VfioUserMessage, ImpossibleStreams) {
    Message message;
    Bytes cut({1, 2, 3}, 100);
    EXPECT_THROW(read_message(cut, message), StreamError);
    std::vector<uint8_t> whole = make_reply({7, 4, 0, 0, 0}, {1, 2, 3});
    Bytes cut_payload({whole.begin(), whole.end() - 1}, 100);
    EXPECT_THROW(read_message(cut_payload, message), StreamError);
    for (uint32_t size : {0u, 15u, kMaxMessage + 1, 0xffffffffu}) {
        memcpy(whole.data() + 4, &size, 4);
        Bytes wrong(whole, 100);
        try {
            read_message(wrong, message);
            ADD_FAILURE() << size;
        } catch (const StreamError &error) {
            EXPECT_EQ(error.header.id, 7);
        }
    }
}
