// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/stop_run.h"

#include "litepcie_regs.h"
#include "machine/lane_machine.h"
#include "programs/litepcie_host/dma_engine.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <random>

namespace litepcie::soft {

namespace {

// Host addresses.
constexpr uint64_t kControl = 0x100000, kReaderRing = kControl, kWriterRing = 0x110000, kReaderStatus = 0x120000,
                   kWriterStatus = 0x120040, kControlBytes = 0x21000;
constexpr uint64_t kSource = 0x10000000, kTarget = 0x20000000, kBytes = 64 << 10;
constexpr unsigned kRingLog2 = 6, kMostDescriptors = 12, kLongest = 6000;
constexpr unsigned kMostAge = 6000, kMostPause = 3000;  // cycles of the lane: until a stop, and until its end
constexpr uint8_t kUntouched = 0xa5;
constexpr unsigned kCommand = 4;
constexpr uint16_t kMemory = 2, kMaster = 4;
constexpr uint32_t kTimeoutUs = 100;  // of reads that are lost

class StopRun {
  public:
    StopRun(const ModelOptions &host, const LaneSettings &settings, unsigned mps)
        : random_(host.seed), machine_(memory_, host, settings), driver_(machine_, memory_) {
        driver_.set_up({mps, 512});
        driver_.identify();
        driver_.write(LITEPCIE_TIMEOUT_US, kTimeoutUs);
        memory_.add_region(kControl, kControlBytes);
        memory_.add_region(kSource, kBytes);
        memory_.add_region(kTarget, kBytes);
        std::generate_n(source(), kBytes, [this] { return uint8_t(random_() >> 8); });
        // No byte of the data is like one that was not written.
        std::replace(source(), source() + kBytes, kUntouched, uint8_t(0));
        DmaEngine reader(driver_, Direction::Reader);
        reader.configure({kReaderRing, kRingLog2, kReaderStatus});
        reader.add({kSource, 0, uint32_t(kBytes)});
        reader.doorbell();
        if (reader.wait().reason != LITEPCIE_REASON_NONE)
            throw HostError("the reader stopped");
        writer_ = std::make_unique<DmaEngine>(driver_, Direction::Writer);
    }

    // One transfer with up to three stops. Returns how many.
    uint64_t transfer() {
        memset(target(), kUntouched, kBytes);
        writer_->configure({kWriterRing, kRingLog2, kWriterStatus});
        std::vector<Descriptor> list(2 + below(kMostDescriptors - 1));
        uint32_t at = 0;
        for (Descriptor &d : list) {
            d.length = 1 + below(std::min<uint64_t>(kLongest, kBytes / kMostDescriptors));
            d.host = kTarget + at, d.endpoint = at, d.interrupt = true;
            at += d.length + below(3);
            writer_->add(d);
        }
        writer_->doorbell();
        const unsigned stops = 1 + below(3);
        for (unsigned i = 0; i < stops; i++) {
            driver_.run(below(kMostAge));
            command(kMemory);
            driver_.run(below(kMostPause));
            command(kMemory | kMaster);
        }
        check(list, writer_->wait());
        return stops;
    }
    void print(uint64_t stops) const {
        printf("bus mastering ended %" PRIu64 " times: %" PRIu64 " transfers ended by it, %" PRIu64 " not, %" PRIu64
               " by a timeout; %" PRIu64 " bytes were reported and are right\n",
               stops, ended_, complete_, timeouts_, bytes_);
    }

  private:
    unsigned below(uint64_t count) { return unsigned((random_() >> 4) % count); }
    uint8_t *source() { return memory_.at(kSource, kBytes); }
    uint8_t *target() { return memory_.at(kTarget, kBytes); }
    void command(uint16_t value) { machine_.config_write(kCommand, reinterpret_cast<const uint8_t *>(&value), 2); }

    void check(const std::vector<Descriptor> &list, const EngineReport &report) {
        if (report.reason == LITEPCIE_REASON_TIMEOUT)
            timeouts_++;
        else if (report.reason == LITEPCIE_REASON_BUS_MASTER)
            ended_++;
        else if (report.reason == LITEPCIE_REASON_NONE)
            complete_++;
        else
            throw HostError(std::string("the writer stopped: ") + reason_name(report.reason));
        uint64_t bytes = 0;
        for (size_t i = 0; i < list.size(); i++) {
            const uint64_t sure = i < report.completed    ? list[i].length
                                  : i == report.completed ? report.stopped_bytes
                                                          : 0;
            bytes += sure;
            for (uint32_t n = 0; n < list[i].length; n++) {
                const uint64_t at = list[i].endpoint + n;
                const uint8_t is = target()[at], must = source()[at];
                if (is != must && (n < sure || is != kUntouched))
                    throw HostError("byte " + std::to_string(n) + " of descriptor " + std::to_string(i) + " is " +
                                    std::to_string(is) + ", not " + std::to_string(must) + "; reported are " +
                                    std::to_string(report.completed) + " descriptors and " +
                                    std::to_string(report.stopped_bytes) + " bytes, reason " +
                                    reason_name(report.reason));
            }
        }
        bytes_ += bytes;
    }

    std::minstd_rand random_;
    Arena memory_;
    LaneMachine machine_;
    HostDriver driver_;
    std::unique_ptr<DmaEngine> writer_;
    uint64_t ended_ = 0, complete_ = 0, timeouts_ = 0, bytes_ = 0;
};

}  // namespace

void run_stops(const ModelOptions &host, const LaneSettings &settings, unsigned mps, uint64_t stops) {
    StopRun run(host, settings, mps);
    uint64_t done = 0;
    while (done < stops)
        done += run.transfer();
    run.print(done);
}

}  // namespace litepcie::soft
