// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/vfio_user.h"

#include <nlohmann/json.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace litepcie::vfio_user {

// Events --------------------------------------------------------------------------------------------------------------

bool Event::is(const Fd &file) {
    char name[64];
    const std::string link = "/proc/self/fd/" + std::to_string(file.get());
    const ssize_t length = readlink(link.c_str(), name, sizeof(name));
    return length > 0 && std::string(name, length) == "anon_inode:[eventfd]";
}

void Event::signal() {
    // A write to a full eventfd would wait. O_NONBLOCK is not set here, because the client's reads would get it too.
    pollfd event{file_.get(), POLLOUT, 0};
    if (poll(&event, 1, 0) != 1 || !(event.revents & POLLOUT))
        return;
    const uint64_t one = 1;
    if (write(file_.get(), &one, sizeof(one)) != sizeof(one))
        return;  // it has become full in between
}

// Server --------------------------------------------------------------------------------------------------------------

namespace {

constexpr uint32_t kRegions = 9, kIrqs = 5;
constexpr uint32_t kBars = 6, kConfig = 7;  // the first regions are the BARs
constexpr uint32_t kIrqIntx = 0, kIrqMsi = 1, kIrqMsix = 2, kIrqErr = 3;
constexpr uint32_t kInfoReset = 1, kInfoPci = 2;
constexpr uint32_t kRegionReadable = 1, kRegionWritable = 2;
constexpr uint32_t kIrqEventfd = 1;
constexpr uint32_t kDataNone = 1, kDataBool = 2, kDataEventfd = 4, kActionMask = 8, kActionUnmask = 16,
                   kActionTrigger = 32;
constexpr uint32_t kMapRead = 1, kMapWrite = 2, kMapFile = 4, kUnmapAll = 2;

struct DmaMap {
    uint32_t argsz, flags;
    uint64_t offset, address, size;
};
struct DmaUnmap {
    uint32_t argsz, flags;
    uint64_t address, size;
};
struct Info {
    uint32_t argsz, flags, regions, irqs;
};
struct RegionInfo {
    uint32_t argsz, flags, index, cap_offset;
    uint64_t size, offset;
};
struct IrqInfo {
    uint32_t argsz, flags, index, count;
};
struct SetIrqs {
    uint32_t argsz, flags, index, start, count;
};
struct RegionAccess {
    uint64_t offset;
    uint32_t region, count;
};
static_assert(sizeof(DmaMap) == 32 && sizeof(DmaUnmap) == 24 && sizeof(Info) == 16 && sizeof(RegionInfo) == 32 &&
                  sizeof(IrqInfo) == 16 && sizeof(SetIrqs) == 20 && sizeof(RegionAccess) == 16,
              "payloads of vfio-user");

// Thrown to refuse a request with this errno.
struct Refusal {
    int error;
};

// The structure at the start of a payload. Refuses a payload that is too short, or whose own size field is too small.
template <typename T> T structure(const Message &message) {
    T value;
    if (message.payload.size() < sizeof(T))
        throw Refusal{EINVAL};
    memcpy(&value, message.payload.data(), sizeof(T));
    return value;
}

template <typename T> T sized_structure(const Message &message) {
    T value = structure<T>(message);
    if (value.argsz < sizeof(T))
        throw Refusal{EINVAL};
    return value;
}

template <typename T> std::vector<uint8_t> bytes_of(const T &value) {
    auto *begin = reinterpret_cast<const uint8_t *>(&value);
    return {begin, begin + sizeof(value)};
}

// The most bytes of data in a message that the client takes, of its capabilities. Others of them are not used.
uint32_t transfer_of(const nlohmann::json &said) {
    if (said.is_discarded())
        throw Refusal{EINVAL};
    const nlohmann::json::json_pointer path("/capabilities/max_data_xfer_size");
    if (!said.is_object() || !said.contains(path))
        return kMaxTransfer;
    const nlohmann::json &most = said.at(path);
    if (!most.is_number_unsigned() || most.get<uint64_t>() == 0)
        throw Refusal{EINVAL};
    return uint32_t(std::min<uint64_t>(most.get<uint64_t>(), kMaxTransfer));
}

void check(int error) {
    if (error)
        throw Refusal{error};
}

}  // namespace

std::vector<uint8_t> Server::handle(Message &message) {
    const bool wants_reply = message.wants_reply();
    if (message.is_reply())
        return {};  // replies have a way of their own (ClientMemory)
    try {
        if ((message.header.flags & kTypeMask) != kTypeCommand)
            throw Refusal{EINVAL};
        std::vector<uint8_t> payload = dispatch(message);
        if (wants_reply)
            return make_reply(message.header, payload);
    } catch (const Refusal &refusal) {
        if (wants_reply)
            return make_error(message.header, refusal.error);
    }
    return {};
}

std::vector<uint8_t> Server::dispatch(Message &message) {
    if (!negotiated_ && message.header.command != kVersion)
        throw Refusal{EINVAL};
    switch (message.header.command) {
    case kVersion: return version(message);
    case kDmaMap: return dma_map(message);
    case kDmaUnmap: return dma_unmap(message);
    case kGetInfo: return get_info(message);
    case kGetRegionInfo: return get_region_info(message);
    case kGetIrqInfo: return get_irq_info(message);
    case kSetIrqs: return set_irqs(message);
    case kRegionRead: return region_read(message);
    case kRegionWrite: return region_write(message);
    case kDeviceReset: device_.reset(); return {};
    }
    throw Refusal{ENOSYS};
}

std::vector<uint8_t> Server::version(const Message &message) {
    struct Version {
        uint16_t major, minor;
    };
    Version asked = structure<Version>(message);
    if (asked.major != 0)
        throw Refusal{ENOTSUP};
    if (message.payload.size() > sizeof(Version)) {
        const char *text = reinterpret_cast<const char *>(message.payload.data()) + sizeof(Version);
        size_t length = message.payload.size() - sizeof(Version);
        if (text[length - 1] != 0)
            throw Refusal{EINVAL};
        client_transfer_ = transfer_of(nlohmann::json::parse(text, text + length - 1, nullptr, false));
    }
    negotiated_ = true;
    nlohmann::json capabilities = {{"capabilities", {{"max_msg_fds", kMaxFds}, {"max_data_xfer_size", kMaxTransfer}}}};
    std::string text = capabilities.dump();
    std::vector<uint8_t> payload(sizeof(Version) + text.size() + 1);  // version 0.0
    memcpy(payload.data() + sizeof(Version), text.c_str(), text.size() + 1);
    return payload;
}

std::vector<uint8_t> Server::dma_map(Message &message) {
    DmaMap map = sized_structure<DmaMap>(message);
    // Newer clients say that the file is to be mapped (VFIO_USER_F_DMA_REGION_MMAP of libvfio-user).
    const bool no_file = map.flags & kMapFile && message.fds.empty();
    if (map.flags & ~(kMapRead | kMapWrite | kMapFile) || message.fds.size() > 1 || no_file)
        throw Refusal{EINVAL};
    Fd file = message.fds.empty() ? Fd() : std::move(message.fds[0]);
    check(memory_.map(map.address, map.size, std::move(file), map.offset, map.flags & kMapRead, map.flags & kMapWrite));
    return {};
}

std::vector<uint8_t> Server::dma_unmap(const Message &message) {
    DmaUnmap unmap = sized_structure<DmaUnmap>(message);
    if (unmap.flags & ~kUnmapAll)
        throw Refusal{EINVAL};
    if (unmap.flags & kUnmapAll)
        memory_.unmap_all();
    else
        check(memory_.unmap(unmap.address, unmap.size));
    return bytes_of(unmap);
}

std::vector<uint8_t> Server::get_info(const Message &message) {
    sized_structure<Info>(message);
    return bytes_of(Info{sizeof(Info), kInfoReset | kInfoPci, kRegions, kIrqs});
}

uint64_t Server::region_size(uint32_t index) const {
    return index < kBars ? device_.bar_size(index) : index == kConfig ? device_.config_size() : 0;
}

std::vector<uint8_t> Server::get_region_info(const Message &message) {
    RegionInfo info = sized_structure<RegionInfo>(message);
    if (info.index >= kRegions)
        throw Refusal{EINVAL};
    uint64_t size = region_size(info.index);
    return bytes_of(
        RegionInfo{sizeof(RegionInfo), size ? kRegionReadable | kRegionWritable : 0, info.index, 0, size, 0});
}

std::vector<uint8_t> Server::get_irq_info(const Message &message) {
    IrqInfo info = sized_structure<IrqInfo>(message);
    // There is no error interrupt. The client tries to enable it unless this request is refused.
    if (info.index >= kIrqs || info.index == kIrqErr)
        throw Refusal{EINVAL};
    const uint32_t count = irq_count(info.index);
    return bytes_of(IrqInfo{sizeof(IrqInfo), count ? kIrqEventfd : 0, info.index, count});
}

uint32_t Server::irq_count(uint32_t index) const {
    return index == kIrqMsi ? device_.msi_vectors() : index == kIrqMsix ? device_.msix_vectors() : 0;
}

void Server::connect(uint32_t index, uint32_t vector, Fd event) {
    std::map<uint32_t, Event> &events = index == kIrqMsix ? msix_ : msi_;
    const bool on = bool(event);
    if (on)
        events.insert_or_assign(vector, Event(std::move(event)));
    else
        events.erase(vector);
    if (index == kIrqMsix)
        device_.route_msix(vector, on);
}

std::vector<uint8_t> Server::set_irqs(Message &message) {
    SetIrqs set = sized_structure<SetIrqs>(message);
    const uint32_t data = set.flags & (kDataNone | kDataBool | kDataEventfd);
    const uint32_t action = set.flags & (kActionMask | kActionUnmask | kActionTrigger);
    const uint32_t count = set.index < kIrqs ? irq_count(set.index) : 0;
    if (set.index >= kIrqs || set.flags & ~(data | action) || set.start > count || set.count > count - set.start)
        throw Refusal{EINVAL};
    if (action != kActionTrigger || (set.count && data == kDataBool))
        throw Refusal{EINVAL};  // there is no masking, and MSI has no boolean trigger
    // The client sends an event for each vector, or none for all of them.
    if (data == kDataEventfd && !message.fds.empty() && message.fds.size() != set.count)
        throw Refusal{EINVAL};
    if (set.count && data != kDataNone && data != kDataEventfd)
        throw Refusal{EINVAL};
    if (!std::all_of(message.fds.begin(), message.fds.end(), Event::is))
        throw Refusal{EINVAL};
    if (!set.count && data == kDataNone)
        for (uint32_t vector = 0; vector < count; vector++)
            connect(set.index, vector, Fd());
    for (uint32_t i = 0; i < set.count; i++) {
        if (data == kDataNone)
            interrupt(set.start + i);
        else
            connect(set.index, set.start + i, message.fds.empty() ? Fd() : std::move(message.fds[i]));
    }
    return {};
}

std::vector<uint8_t> Server::region_read(const Message &message) {
    RegionAccess access = structure<RegionAccess>(message);
    uint64_t size = region_size(access.region);
    if (!access.count || access.count > kMaxTransfer || access.offset > size || access.count > size - access.offset)
        throw Refusal{EINVAL};
    std::vector<uint8_t> reply = bytes_of(access);
    reply.resize(sizeof(access) + access.count);
    uint8_t *data = reply.data() + sizeof(access);
    if (access.region == kConfig)
        device_.config_read(access.offset, data, access.count);
    else
        check(device_.bar_read(access.region, access.offset, data, access.count));
    return reply;
}

std::vector<uint8_t> Server::region_write(const Message &message) {
    RegionAccess access = structure<RegionAccess>(message);
    uint64_t size = region_size(access.region);
    if (!access.count || access.offset > size || access.count > size - access.offset ||
        message.payload.size() - sizeof(access) != access.count)
        throw Refusal{EINVAL};
    const uint8_t *data = message.payload.data() + sizeof(access);
    if (access.region == kConfig)
        device_.config_write(access.offset, data, access.count);
    else
        check(device_.bar_write(access.region, access.offset, data, access.count, !message.wants_reply()));
    return bytes_of(access);
}

void Server::route_again() {
    for (const auto &event : msix_)
        device_.route_msix(event.first, true);
}

void Server::interrupt(unsigned vector) {
    std::map<uint32_t, Event> &events = msix_.empty() ? msi_ : msix_;
    const auto event = events.find(vector);
    if (event == events.end())
        return;
    std::atomic_thread_fence(std::memory_order_release);
    event->second.signal();
}

}  // namespace litepcie::vfio_user
