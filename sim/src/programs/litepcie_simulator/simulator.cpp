// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/simulator.h"

#include "referee/tlp_checker.h"

#include <algorithm>
#include <cerrno>
#include <thread>

namespace litepcie {

namespace {

constexpr size_t kLoadBytes = 64;       // most bytes of one memory read from host to card
constexpr unsigned kMostStores = 8192;  // posted writes (TLPs) that may wait for the card

}  // namespace

Simulator::Simulator(const MakeMachine &make, const std::string &stats, const std::string &faults,
                     const std::string &registers)
    : machine_(make(memory_)), shape_(machine_->shape()), server_(*this, memory_), faults_(faults),
      registers_(registers, shape_.bar0_size), stats_(stats) {
    machine_->on_interrupt = [this](uint8_t vector) { interrupt(vector); };
}

int Simulator::bar0_read(uint64_t offset, uint8_t *data, size_t bytes) {
    // A read that the card does not answer gives all ones, as on a real machine.
    while (bytes) {
        size_t now = std::min({bytes, kLoadBytes, size_t(4096 - offset % 4096)});
        machine_->load(offset, data, now);
        registers_.apply(offset, data, now);
        offset += now;
        data += now;
        bytes -= now;
    }
    return 0;
}

int Simulator::bar0_write(uint64_t offset, const uint8_t *data, size_t bytes, bool posted) {
    machine_->store(offset, data, bytes);
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
    machine_->store(shape_.msix_table + sizeof(entry) * vector, reinterpret_cast<const uint8_t *>(entry),
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

}  // namespace litepcie
