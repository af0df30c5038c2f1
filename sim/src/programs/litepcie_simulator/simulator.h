// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "machine/machine.h"
#include "programs/litepcie_simulator/client_memory.h"
#include "programs/litepcie_simulator/fault_pipe.h"
#include "programs/litepcie_simulator/message_queue.h"
#include "programs/litepcie_simulator/register_overrides.h"
#include "programs/litepcie_simulator/socket.h"
#include "programs/litepcie_simulator/vfio_user.h"

namespace litepcie {

// A machine as the device of a vfio-user client such as QEMU. One thread reads the socket. The calling thread does all
// other work, and runs the simulated clock while the machine is busy.
//
// This folder is the program litepcie_simulator: the vfio-user protocol, its socket, and the memory of the guest.
class Simulator : private vfio_user::Device {
  public:
    // `stats`: path of the file for figures, or empty. `faults`: path of a named pipe that faults come from
    // (FaultPipe), or empty. `registers`: path of a file with values of registers (RegisterOverrides), or empty.
    Simulator(const MakeMachine &make, const std::string &stats, const std::string &faults,
              const std::string &registers);

    // Serves the client until it closes the socket, `stop` becomes readable, or the card breaks a rule (Violation).
    // Throws vfio_user::StreamError if the client's stream is malformed.
    void serve(ClientSocket &client);
    const Machine &machine() const { return *machine_; }

  private:
    uint64_t bar0_size() const override { return shape_.bar0_size; }
    size_t config_size() const override { return Machine::kConfigBytes; }
    int bar0_read(uint64_t offset, uint8_t *data, size_t bytes) override;
    int bar0_write(uint64_t offset, const uint8_t *data, size_t bytes, bool posted) override;
    void config_read(unsigned offset, uint8_t *data, size_t bytes) override {
        machine_->config_read(offset, data, bytes);
    }
    void config_write(unsigned offset, const uint8_t *data, size_t bytes) override;
    // QEMU resets a device with its bus: by a hot reset of the port above, or with the whole machine. A function level
    // reset comes as a write of Device Control.
    void reset() override { machine_->reset_bus(); }
    unsigned msi_vectors() const override { return shape_.msi_vectors; }
    unsigned msix_vectors() const override { return shape_.msix_vectors; }
    void route_msix(unsigned vector, bool on) override;

    void read_client(ClientSocket &client);
    void answer_stream_error(ClientSocket &client);
    void run(ClientSocket &client);
    // An interrupt follows what the card has written before.
    void interrupt(uint8_t vector);
    void settle();

    ClientMemory client_memory_;
    GuestMemory memory_{&client_memory_};
    std::unique_ptr<Machine> machine_;
    Machine::Shape shape_;
    vfio_user::Server server_;
    MessageQueue queue_;
    FaultPipe faults_;
    RegisterOverrides registers_;
    std::string stats_;
    std::vector<uint8_t> interrupts_;  // that wait for writes by message
    std::exception_ptr reader_error_;
};

}  // namespace litepcie
