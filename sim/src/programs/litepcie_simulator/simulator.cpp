// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/simulator.h"

#include "common/program.h"
#include "referee/tlp_checker.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace litepcie {

// Faults from a Pipe --------------------------------------------------------------------------------------------------

FaultPipe::FaultPipe(const std::string &path) {
    if (path.empty())
        return;
    // We open the pipe for writing too: without a writer, reads would return the end of file.
    pipe_ = Fd(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (!pipe_)
        throw std::runtime_error("cannot open the pipe " + path + ": " + strerror(errno));
}

bool FaultPipe::take(FaultInjector &faults) {
    bool stats = false;
    char text[256];
    ssize_t bytes;
    while (pipe_ && (bytes = read(pipe_.get(), text, sizeof(text))) > 0)
        rest_.append(text, size_t(bytes));
    for (size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1)) {
        const std::string line = rest_.substr(0, end);
        if (line == "stats")
            stats = true;
        else
            faults.add_next(line);
    }
    return stats;
}

// Registers -----------------------------------------------------------------------------------------------------------

RegisterOverrides::RegisterOverrides(const std::string &path, uint64_t bar0_size) : path_(path), bar0_size_(bar0_size) {
    if (!path_.empty() && changed())
        read();
}

bool RegisterOverrides::changed() {
    struct stat now;
    if (stat(path_.c_str(), &now))
        throw UsageError("--registers: cannot read " + path_ + ": " + strerror(errno));
    const bool same = now.st_ino == read_.st_ino && now.st_size == read_.st_size &&
                      now.st_mtim.tv_sec == read_.st_mtim.tv_sec && now.st_mtim.tv_nsec == read_.st_mtim.tv_nsec;
    read_ = now;
    return !same;
}

void RegisterOverrides::read() {
    std::ifstream file(path_);
    std::string line;
    values_.clear();
    for (unsigned number = 1; std::getline(file, line); number++) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string offset, value, after = "0", more;
        if (!(words >> offset))
            continue;
        const std::string where = "--registers: " + path_ + ", line " + std::to_string(number);
        if (!(words >> value) || ((words >> after) && (words >> more)))
            throw UsageError(where + ": '" + line + "' is not OFFSET VALUE or OFFSET VALUE AFTER");
        const uint64_t at = parse_number(where + ": OFFSET", offset, 0, bar0_size_ - 4);
        if (at % 4)
            throw UsageError(where + ": OFFSET: '" + offset + "' is not a multiple of 4");
        values_[at] = {uint32_t(parse_number(where + ": VALUE", value, 0, UINT32_MAX)),
                       parse_number(where + ": AFTER", after, 0, UINT32_MAX)};
    }
    if (file.bad())
        throw UsageError("--registers: cannot read " + path_ + ": " + strerror(errno));
}

void RegisterOverrides::apply(uint64_t offset, uint8_t *data, size_t bytes) {
    if (path_.empty())
        return;
    if (changed())
        read();
    for (auto one = values_.lower_bound(offset & ~uint64_t(3)); one != values_.end() && one->first < offset + bytes;
         ++one) {
        if (one->second.after) {
            one->second.after--;
            continue;
        }
        for (unsigned byte = 0; byte < 4; byte++) {
            const uint64_t at = one->first + byte;
            if (at >= offset && at < offset + bytes)
                data[at - offset] = uint8_t(one->second.value >> 8 * byte);
        }
    }
}

// Simulator -----------------------------------------------------------------------------------------------------------

namespace {

constexpr size_t kLoadBytes = 64;       // most bytes of one memory read from host to card
constexpr unsigned kMostStores = 8192;  // posted writes (TLPs) that may wait for the card

}  // namespace

Simulator::Simulator(const MakeMachine &make, const std::string &stats, const std::string &faults,
                     const std::string &registers)
    : machine_(make(memory_)), shape_(machine_->shape()), server_(*this, memory_), faults_(faults),
      registers_(registers, shape_.bars[0]), stats_(stats) {
    machine_->on_interrupt = [this](uint8_t vector) { interrupt(vector); };
}

int Simulator::bar_read(unsigned bar, uint64_t offset, uint8_t *data, size_t bytes) {
    // A read that the card does not answer gives all ones, as on a real machine.
    while (bytes) {
        size_t now = std::min({bytes, kLoadBytes, size_t(4096 - offset % 4096)});
        machine_->bar_load(bar, offset, data, now);
        if (bar == 0)
            registers_.apply(offset, data, now);
        offset += now;
        data += now;
        bytes -= now;
    }
    return 0;
}

int Simulator::bar_write(unsigned bar, uint64_t offset, const uint8_t *data, size_t bytes, bool posted) {
    machine_->bar_store(bar, offset, data, bytes);
    const uint64_t deadline = machine_->cycle() + Machine::kLoadTimeoutUs * shape_.clock_hz / 1000000;
    while (machine_->stores() > (posted ? kMostStores : 0)) {
        if (machine_->cycle() > deadline)
            return ETIMEDOUT;
        machine_->step();
    }
    return 0;
}

void Simulator::config_write(unsigned offset, const uint8_t *data, size_t bytes) {
    const bool before = machine_->msix_on();
    machine_->config_write(offset, data, bytes);
    // A reset of the function has erased the table.
    if (!before && machine_->msix_on())
        server_.route_again();
}

// QEMU keeps the guest's table and its masks to itself, and gives an event for each vector. As the VFIO of a host's
// kernel does, this writes the card's table: the data of a message is the number of the vector.
void Simulator::route_msix(unsigned vector, bool on) {
    const uint32_t entry[4] = {kInterruptAddress, 0, vector, !on};
    const uint32_t bar = shape_.msix_table & 7;
    machine_->bar_store(bar, shape_.msix_table - bar + sizeof(entry) * vector, reinterpret_cast<const uint8_t *>(entry),
                        sizeof(entry));
}

void Simulator::read_client(ClientSocket &client) {
    try {
        vfio_user::Message message;
        while (vfio_user::read_message(client, message))
            if (message.is_reply()) {
                client_memory_.take(std::move(message));
            } else {
                if (message.wants_reply())
                    client_memory_.waits(true);
                queue_.push(std::move(message));
            }
    } catch (...) {
        if (!client.stopped())  // a stop in the middle of a message is no error of the client
            reader_error_ = std::current_exception();
    }
    client_memory_.close();
    queue_.close(client.stopped());
}

void Simulator::interrupt(uint8_t vector) {
    if (client_memory_.settled())
        server_.interrupt(vector);
    else
        interrupts_.push_back(vector);
}

void Simulator::settle() {
    if (client_memory_.settled() || client_memory_.settle())
        for (; !interrupts_.empty(); interrupts_.erase(interrupts_.begin()))
            server_.interrupt(interrupts_.front());
}

// A malformed message gets an error reply, if its header is known.
void Simulator::answer_stream_error(ClientSocket &client) {
    try {
        if (reader_error_)
            std::rethrow_exception(reader_error_);
    } catch (const vfio_user::StreamError &stream) {
        client.send(vfio_user::make_error(stream.header, EINVAL));
    } catch (const std::exception &) {
        // serve() throws it again.
    }
}

void Simulator::run(ClientSocket &client) {
    while (true) {
        machine_->busy_clock().start();
        while (queue_.empty() && machine_->busy())
            machine_->step();
        machine_->busy_clock().stop();
        std::optional<vfio_user::Message> message = queue_.pop();
        if (!message) {
            answer_stream_error(client);
            return;
        }
        // The pipe is read before the message is handled: what was written before the guest's access counts for it.
        if (faults_.take(machine_->faults()) && !stats_.empty())
            machine_->write_figures(stats_, "");
        machine_->busy_clock().start();
        std::vector<uint8_t> reply = server_.handle(*message);
        client_memory_.set_most(server_.client_transfer());
        machine_->busy_clock().stop();
        if (!reply.empty() && !client.send(reply))
            return;
        if (message->wants_reply())
            client_memory_.waits(false);
        settle();
    }
}

void Simulator::serve(ClientSocket &client) {
    client_memory_.open([&client](const std::vector<uint8_t> &bytes) { return client.send(bytes); });
    std::thread reader([this, &client] { read_client(client); });
    std::exception_ptr error;
    try {
        run(client);
    } catch (...) {
        error = std::current_exception();
    }
    client.shut();
    queue_.close();
    reader.join();
    if (error)
        std::rethrow_exception(error);
    if (reader_error_)
        std::rethrow_exception(reader_error_);
}

// Program -------------------------------------------------------------------------------------------------------------

namespace {

int serve(const std::string &path, const std::string &faults, const std::string &registers, const std::string &stats,
          const MakeMachine &make) {
    StopSignals signals;  // The program then writes its figures, and removes the socket's file.
    ListeningSocket socket(path);
    Simulator simulator(make, stats, faults, registers);
    printf("listening on %s\n", path.c_str());
    fflush(stdout);
    std::string violation;
    std::exception_ptr error;
    if (Fd connection = socket.accept(signals.fd())) {
        ClientSocket client(std::move(connection), signals.fd());
        try {
            simulator.serve(client);
        } catch (const Violation &broken) {
            violation = broken.what();
            fprintf(stderr, "the card broke a rule of PCI Express at cycle %llu: %s\n",
                    (unsigned long long)simulator.machine().cycle(), broken.what());
        } catch (...) {
            error = std::current_exception();
        }
    }
    fputs(simulator.machine().broken_rules().c_str(), stderr);
    if (!stats.empty())
        simulator.machine().write_figures(stats, violation);
    if (error)
        std::rethrow_exception(error);
    return violation.empty() ? signals.exit_status() : kExitViolation;
}

}  // namespace

int simulator_program(int argc, char **argv, const std::function<void(CommandLine &)> &add_options,
                      const std::string &stats, const MakeMachine &make) {
    const char *const name = "litepcie_simulator";
    try {
        CommandLine line(name, "serves the card to QEMU's vfio-user-pci on a UNIX socket");
        std::string path, faults, registers;
        line.text("--socket", "PATH", "UNIX socket to listen on", path);
        line.text(
            "--inject-pipe", "PATH",
            "named pipe that takes lines FAULT@N, counted from the next completion, and \"stats\": write the file "
            "of --stats before the guest's next access",
            faults);
        line.text("--registers", "FILE",
                  "file with lines OFFSET VALUE: loads of this dword of BAR0 return VALUE; the file may change",
                  registers);
        add_options(line);
        if (!line.parse(argc, argv))
            return 0;
        if (path.empty())
            throw UsageError("--socket PATH is missing");
        return serve(path, faults, registers, stats, make);
    } catch (const UsageError &error) {
        fprintf(stderr, "%s: %s\n", name, error.what());
        return kExitUsage;
    } catch (const SocketInUse &error) {
        fprintf(stderr, "%s: %s\n", name, error.what());
        return kExitSocketInUse;
    } catch (const std::exception &error) {
        fprintf(stderr, "%s: %s\n", name, error.what());
        return kExitMismatch;
    }
}

}  // namespace litepcie
