// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_host/expected.h"
#include "programs/litepcie_host/stress_side.h"

namespace litepcie {

// The port of the user's logic to host memory: a HostCopier copies dwords between buffers, and a HostMover moves bytes
// between buffers and endpoint memory, while the host gives the card these buffers and takes them back.
class StressHostPort : public StressSide {
  public:
    // The endpoint memory from `endpoint` on is for the mover.
    StressHostPort(ModelDriver &driver, Random &random, uint32_t endpoint);

    void start(bool again) override;
    void feed(bool some) override;
    bool over() override { return early_ || !(copy_.busy || move_.busy || left_); }
    void release(bool function, bool cut) override;
    void restart() override;
    void finish() override;
    void verify() override;
    std::string state() override;

  private:
    // Buffers of the card: what it may only read, what the copier and the mover write, what nobody may write.
    enum Buffer { Source, Copies, Moves, Forbidden, kBuffers };
    static constexpr uint64_t kBufferBytes = 0x2000, kSet = kBuffers * kBufferBytes;
    static constexpr uint64_t kMemory = 0x30000000;  // a set of buffers for the load, and one for the clean run
    static constexpr unsigned kMostWords = 40;
    static constexpr uint32_t kEndpointBytes = 0x1000, kMostBytes = 3000;

    // An operation of the copier or of the mover, with offsets in the buffers `from` and `to`.
    struct Operation {
        bool busy = false, allowed = true, gives_up = false, write = false;
        Buffer from = Source, to = Copies;
        uint32_t at = 0, place = 0, bytes = 0;
    };

    void give();
    void copy();
    void move();
    void poll();
    void copied(bool sure);
    void moved(unsigned reason);
    void read_endpoint(uint32_t place, uint32_t bytes, bool any);
    void settle_endpoint(bool any);
    void stop();
    uint64_t of(Buffer buffer) const { return again_ * kSet + buffer * kBufferBytes; }
    uint32_t address(Buffer buffer, uint32_t at) const { return origin_ + buffer * limit_ + at; }

    uint32_t copier_, mover_, window_, endpoint_at_;
    uint32_t origin_, limit_ = 0;  // of the buffers, at the port
    Expected host_;
    std::vector<uint8_t> endpoint_;
    std::vector<uint8_t> moved_;  // by the last descriptor to the endpoint memory, in which it was not compared yet
    bool again_ = false, early_ = false, unsure_ = false, cut_ = false, lost_ = false;
    unsigned left_ = 0;  // operations of the clean run
    Operation copy_, move_;
    uint32_t submitted_ = 0;
};

}  // namespace litepcie
