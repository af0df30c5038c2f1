// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"
#include "programs/litepcie_simulator/messages.h"
#include "root/host_memory.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

namespace litepcie {

// Memory that is shared with the client: a part of a file, mapped until destruction. The client can make the file
// shorter at any time, and an access past its end raises SIGBUS. The handler then puts empty memory where the mapping
// was, so that the access ends, and the object is lost().
class SharedMemory {
  public:
    SharedMemory() = default;
    SharedMemory(SharedMemory &&other) noexcept;
    SharedMemory &operator=(SharedMemory &&) = delete;
    ~SharedMemory();

    // Maps `bytes` bytes of `file` from `offset`; to be called once. Returns 0 or an errno: EINVAL if the file is
    // shorter.
    int map(const Fd &file, uint64_t offset, uint64_t bytes, bool readable, bool writable);
    explicit operator bool() const { return memory_ && !lost_; }

    // Copy bytes from or to the memory. False if it is lost, and then what was copied means nothing.
    bool read(uint64_t offset, uint8_t *data, size_t bytes);
    bool write(uint64_t offset, const uint8_t *data, size_t bytes);

  private:
    static void on_bus_error(int signal);
    bool copy(void *to, const void *from, size_t bytes);

    uint8_t *memory_ = nullptr;
    uint64_t bytes_ = 0;
    bool lost_ = false;
};

// Memory that the client has not shared: it moves the bytes itself, by VFIO_USER_DMA_READ and VFIO_USER_DMA_WRITE.
//
// One thread accesses the memory, another one take()s the replies. An access waits for its reply, but not while the
// client itself waits(): QEMU serves no DMA while its processor waits for a register. Reads then arrive later, writes
// are posted, and settle() tells when the client has done them.
//
// A client that does not answer in time is not asked again, so that it costs the time once. Nothing waits after
// close().
//
// Layout: in the specification the count of a message has 64 bits. In QEMU 10.1 and 10.2 it has 32, and all data is
// four bytes earlier in messages of the same length. Bytes that are not zero tell which it is. Until then a message has
// four bytes of data at most, so that a reply to a read has zeros where the other layout has data, and what was written
// is read again (write_first()).
class ClientMemory : public HostMemory {
  public:
    // Sends the bytes of a message; false if the connection has ended.
    using Send = std::function<bool(const std::vector<uint8_t> &)>;

    static constexpr unsigned kReplySeconds = 5;

    explicit ClientMemory(unsigned reply_milliseconds = 1000 * kReplySeconds) : reply_time_(reply_milliseconds) {}

    // Memory can be accessed from now on.
    void open(Send send);
    // The most bytes in a message that the client takes or gives.
    void set_most(uint32_t bytes) { most_ = bytes; }
    void close();

    // The client waits for one more reply, or has got one.
    void waits(bool begins);
    // Makes the writes that were posted, and waits until the client has done all. False if it waits again before that.
    bool settle();
    bool settled();

    // False if the client refuses, answers with other bytes than asked for, or not in time. Some bytes may have been
    // transferred then. A write is only posted while the client waits.
    bool read(uint64_t address, uint8_t *data, size_t bytes) override;
    bool write(uint64_t address, const uint8_t *data, size_t bytes) override;
    bool at_once(uint64_t, size_t) override { return false; }
    std::shared_ptr<Fetch> fetch(uint64_t address, size_t bytes) override;
    // Waits too, but not while the client waits.
    bool arrived(const Fetch &fetch) override;
    // Begins to fetch a part of what `fetch` has room for.
    void fetch_part(const std::shared_ptr<Fetch> &fetch, uint64_t address, size_t bytes);

    // A reply of the client.
    void take(vfio_user::Message message);

  private:
    enum class Layout { Unknown, Count64, Count32 };
    enum class Result { Done, Refused, Interrupted };
    using Clock = std::chrono::steady_clock;
    using Lock = std::unique_lock<std::mutex>;
    using FetchPtr = std::shared_ptr<Fetch>;

    // A message that waits for its reply. Without `fetch` it is a write.
    struct Asked {
        uint64_t address;
        uint32_t bytes;
        FetchPtr fetch;
        Clock::time_point until;
    };
    // What is to be done when the client does not wait.
    struct Posted {
        uint64_t address;
        std::vector<uint8_t> data;  // of a write
        FetchPtr fetch;
        size_t bytes;  // of a fetch
    };

    void ask(Lock &lock, uint64_t address, size_t bytes, const uint8_t *data, const FetchPtr &fetch);
    void ask_pieces(Lock &lock, uint64_t address, size_t bytes, const uint8_t *data, const FetchPtr &fetch);
    void answer(const Asked &asked, const vfio_user::Message &message);
    const uint8_t *data_of(const vfio_user::Message &message, size_t bytes);
    void decide(Layout layout);

    bool fetching(const Fetch &fetch) const;
    bool writing() const;
    // Waits as long as `still`; not while the client waits, unless `patient`. False if it is so still.
    template <typename Still> bool wait(Lock &lock, Still still, bool patient = false);
    void expire();
    void fail_all();
    Result write_pieces(Lock &lock, uint64_t address, const uint8_t *data, size_t bytes);
    Result write_all(Lock &lock, uint64_t address, const uint8_t *data, size_t bytes, size_t &done);
    Result write_first(Lock &lock, uint64_t address, const uint8_t *data, size_t bytes);
    Result read_zeros(Lock &lock, uint64_t address, size_t bytes);

    const std::chrono::milliseconds reply_time_;
    Send send_;
    uint32_t most_ = vfio_user::kMaxTransfer;
    uint16_t id_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<uint16_t, Asked> asked_;  // by id
    std::deque<Posted> posted_;
    Layout layout_ = Layout::Unknown;
    int waiting_ = 0;       // replies that the client waits for
    bool refused_ = false;  // a write, since this was asked last
    bool open_ = false;
};

// The guest's memory as the vfio-user client maps it for the card. The card cannot access what is not mapped. What the
// client maps without a file is accessed by messages to it (ClientMemory).
class GuestMemory : public HostMemory {
  public:
    static constexpr size_t kMostMappings = 65535;  // the default of max_dma_maps in the protocol

    // Without `client`, the card cannot access memory that is mapped without a file.
    explicit GuestMemory(ClientMemory *client = nullptr) : client_(client) {}

    // Maps `bytes` bytes of `file`, starting at `offset`, at `address`; without a file, those of the client at the same
    // address. Returns 0 or an errno: EEXIST if the range overlaps a mapping; EINVAL if it is empty,
    // exceeds the address space, or is longer than the file; ENOSPC if there are kMostMappings.
    int map(uint64_t address, uint64_t bytes, Fd file, uint64_t offset, bool readable, bool writable);
    // Removes all mappings inside the range; there may be none. Returns 0, or EINVAL if one is only partly inside.
    int unmap(uint64_t address, uint64_t bytes);
    void unmap_all();

    // False also if the client has made a file shorter than its mapping; then some bytes may have been transferred.
    bool read(uint64_t address, uint8_t *data, size_t bytes) override;
    bool write(uint64_t address, const uint8_t *data, size_t bytes) override;
    // False if a byte is accessed by messages.
    bool at_once(uint64_t address, size_t bytes) override;
    std::shared_ptr<Fetch> fetch(uint64_t address, size_t bytes) override;
    bool arrived(const Fetch &fetch) override { return !client_ || client_->arrived(fetch); }
    size_t mappings() const { return mappings_.size(); }

  private:
    struct Mapping {
        uint64_t bytes;
        SharedMemory memory;  // nothing without a file
        bool readable, writable, by_message;
    };
    using Map = std::map<uint64_t, Mapping>;

    Map::iterator find(uint64_t address);
    // Whether all bytes are mapped for the access.
    bool covered(uint64_t address, size_t bytes, bool write);
    template <typename Move> bool access(uint64_t address, size_t bytes, bool write, Move move);

    ClientMemory *const client_;
    Map mappings_;
    Map::iterator last_ = mappings_.end();  // the mapping that was used last
};

}  // namespace litepcie
