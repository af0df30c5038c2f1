// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"
#include "programs/litepcie_simulator/guest_memory.h"
#include "programs/litepcie_simulator/messages.h"

#include <cstdint>
#include <map>
#include <vector>

namespace litepcie::vfio_user {

// The eventfd by which a client learns of an interrupt (eventfd(2)).
class Event {
  public:
    // Whether a file is an eventfd. Writing to another one could end or stop this process, as a pipe does.
    static bool is(const Fd &file);

    explicit Event(Fd file) : file_(std::move(file)) {}
    // Adds 1 to the counter. Does nothing if the counter is full: then the eventfd is already signalled.
    void signal();

  private:
    Fd file_;
};

// The device that the server presents to its client. Functions that return int return 0 or an errno.
class Device {
  public:
    virtual ~Device() = default;
    virtual uint64_t bar_size(unsigned bar) const = 0;  // 0: it has no such BAR
    virtual size_t config_size() const = 0;
    virtual int bar_read(unsigned bar, uint64_t offset, uint8_t *data, size_t bytes) = 0;
    // If not `posted`, it returns only when the card has accepted the write.
    virtual int bar_write(unsigned bar, uint64_t offset, const uint8_t *data, size_t bytes, bool posted) = 0;
    virtual void config_read(unsigned offset, uint8_t *data, size_t bytes) = 0;
    virtual void config_write(unsigned offset, const uint8_t *data, size_t bytes) = 0;
    virtual void reset() = 0;
    virtual unsigned msi_vectors() const = 0;
    virtual unsigned msix_vectors() const = 0;
    // The client wants the messages of MSI-X of a vector, or no longer wants them.
    virtual void route_msix(unsigned vector, bool on) = 0;
};

// The server's side of the protocol without the transport: handles a message and gives the bytes of the reply.
class Server {
  public:
    Server(Device &device, GuestMemory &memory) : device_(device), memory_(memory) {}

    // Returns the reply, or nothing if the message wants none.
    std::vector<uint8_t> handle(Message &message);

    // Signals the eventfd of a vector of MSI-X or MSI, if the client gave one. The thread it wakes sees all memory
    // written before.
    void interrupt(unsigned vector);
    bool interrupt_connected() const { return !msi_.empty() || !msix_.empty(); }
    // Calls the device's route_msix() again for all vectors that the client wants.
    void route_again();
    // The most bytes of data in a message that the client takes, as it announced.
    uint32_t client_transfer() const { return client_transfer_; }

  private:
    std::vector<uint8_t> dispatch(Message &message);
    std::vector<uint8_t> version(const Message &message);
    std::vector<uint8_t> dma_map(Message &message);
    std::vector<uint8_t> dma_unmap(const Message &message);
    std::vector<uint8_t> get_info(const Message &message);
    std::vector<uint8_t> get_region_info(const Message &message);
    std::vector<uint8_t> get_irq_info(const Message &message);
    std::vector<uint8_t> set_irqs(Message &message);
    uint32_t irq_count(uint32_t index) const;
    void connect(uint32_t index, uint32_t vector, Fd event);
    std::vector<uint8_t> region_read(const Message &message);
    std::vector<uint8_t> region_write(const Message &message);
    uint64_t region_size(uint32_t index) const;

    Device &device_;
    GuestMemory &memory_;
    std::map<uint32_t, Event> msi_, msix_;  // by vector; the client enables one of them
    bool negotiated_ = false;
    uint32_t client_transfer_ = kMaxTransfer;
};

}  // namespace litepcie::vfio_user
