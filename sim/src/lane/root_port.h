// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/data_link.h"
#include "lane/fault_injector.h"
#include "lane/loopback_master.h"
#include "lane/receiver.h"
#include "lane/training.h"
#include "lane/transmitter.h"

namespace litepcie::lane {

struct RootPortOptions {
    TrainingOptions training;
    DataLinkOptions data_link;
    unsigned skips = 3;          // SKP symbols of a set; 0: 1 to 5
    unsigned skip_interval = 0;  // symbols between two SKP sets; 0: random ones
    unsigned damage_every = 0;   // one TLP of the card in so many arrives damaged, on average; 0: none
};

// A root port with one lane: one symbol in, one symbol out.
class RootPort {
  public:
    RootPort(const RootPortOptions &options, uint64_t seed);

    Symbol step(Symbol symbol);

    Training &training() { return training_; }
    const Training &training() const { return training_; }
    DataLink &data_link() { return data_link_; }
    const DataLink &data_link() const { return data_link_; }
    FaultInjector &faults() { return faults_; }
    const Receiver &receiver() const { return receiver_; }
    const Transmitter &transmitter() const { return transmitter_; }
    const LoopbackMaster &loopback_master() const { return master_; }
    uint64_t idle_sets() const { return idle_sets_; }  // EIOS received
    uint64_t damaged() const { return damaged_; }
    uint64_t injected() const { return faults_.injected(); }

  private:
    void take(Symbol symbol);
    Symbol give();
    Symbol give_data();
    Symbol give_loopback();
    const Packet *next_packet();

    std::minstd_rand random_;
    Receiver receiver_;
    Transmitter transmitter_;
    Training training_;
    DataLink data_link_;
    FaultInjector faults_;
    LoopbackMaster master_;
    unsigned damage_every_;
    uint64_t damaged_ = 0, idle_sets_ = 0;
    Training::Send loaded_ = Training::Send::Silence;  // what the transmitter holds
    bool was_active_ = false;
};

}  // namespace litepcie::lane
