// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"
#include "machine/machine.h"
#include "programs/litepcie_simulator/guest_memory.h"
#include "programs/litepcie_simulator/messages.h"
#include "programs/litepcie_simulator/vfio_user.h"
#include "root/root_complex.h"

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace litepcie {

// A named pipe that takes lines while the simulator runs: faults, "FAULT@N", counted from the next completion; and
// "stats", which asks for the figures that --stats has at the end.
class FaultPipe {
  public:
    // An empty path: no pipe. Throws std::runtime_error if the pipe cannot be opened.
    explicit FaultPipe(const std::string &path);
    // Adds the faults that were written since the last call. Returns whether figures were asked for. Throws
    // std::invalid_argument for any other line.
    bool take(FaultInjector &faults);

  private:
    Fd pipe_;
    std::string rest_;  // the beginning of an incomplete line
};

// A file with values that loads of BAR0 return in place of the card's, as a card with another bitstream would. It is
// read again when it was replaced or written.
//
// Lines are "OFFSET VALUE" or "OFFSET VALUE AFTER": with AFTER, so many loads of the dword give the card's value first,
// counted from the reading of the file. "#" begins a comment.
class RegisterOverrides {
  public:
    // An empty path: no file. Throws UsageError, in one line, if the file cannot be read or has a bad line.
    RegisterOverrides(const std::string &path, uint64_t bar0_size);
    // Puts the values of the file into `data`, which a load of `offset` returned. Throws UsageError.
    void apply(uint64_t offset, uint8_t *data, size_t bytes);

  private:
    struct Value {
        uint32_t value;
        uint64_t after;
    };

    bool changed();
    void read();

    std::string path_;
    uint64_t bar0_size_;
    struct stat read_ = {};
    std::map<uint64_t, Value> values_;  // by offset
};

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
    uint64_t bar_size(unsigned bar) const override { return shape_.bars[bar]; }
    size_t config_size() const override { return Machine::kConfigBytes; }
    int bar_read(unsigned bar, uint64_t offset, uint8_t *data, size_t bytes) override;
    int bar_write(unsigned bar, uint64_t offset, const uint8_t *data, size_t bytes, bool posted) override;
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

// The program litepcie_simulator, whatever its card is: parses the command line, serves a client, and returns the exit
// status. `add_options`: adds those of the machine. `stats`: the file for figures, or empty, once they are parsed.
int simulator_program(int argc, char **argv, const std::function<void(CommandLine &)> &add_options,
                      const std::string &stats, const MakeMachine &make);

}  // namespace litepcie
