// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/lane_host.h"

#include "litepcie_regs.h"
#include "machine/lane_machine.h"
#include "programs/litepcie_host/host_driver.h"
#include "programs/litepcie_host/transfer_run.h"

#include <poll.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <random>

namespace litepcie::soft {

// Host ----------------------------------------------------------------------------------------------------------------

namespace {

constexpr uint8_t kBus = 1;
constexpr uint64_t kBase = 0xfe000000;  // of the BARs
constexpr unsigned kExpressId = 0x10, kDeviceControl = 0x08;
constexpr unsigned kTurn = 2000;  // cycles between two looks at a serial port
constexpr int kIdleMilliseconds = 10;
constexpr uint64_t kPatience = kLaneHz / 20;  // 50 ms: the longest time that a completion may take

}  // namespace

LaneHost::LaneHost(const LaneSettings &settings, uint64_t seed)
    : lane_(settings.wires, settings.port, seed), errors_(kBus << 8),
      requester_({
                     [this](Tlp tlp) { lane_.port().data_link().send(std::move(tlp)); },
                     [this](Tlp &tlp) {
                         clock();
                         const bool came = lane_.port().data_link().receive(tlp);
                         if (came)
                             lane_.port().data_link().release(tlp);
                         return came && !errors_.take(tlp);
                     },
                 },
                 kBus, kPatience) {
    for (const auto &[fault, every] : settings.faults)
        lane_.port().faults().arm(fault, every);
}

bool LaneHost::run_until(const std::function<bool()> &done, uint64_t limit) {
    for (const uint64_t end = cycle_ + limit; cycle_ < end && !done();)
        clock();
    return done();
}

bool LaneHost::train(uint64_t limit) {
    return run_until([this] { return lane_.port().data_link().up(); }, limit);
}

void LaneHost::serve(SerialPort &port, int stop) {
    Uart &uart = card_->serial();
    pollfd stopped = {stop, POLLIN, 0};
    while (poll(&stopped, 1, 0) == 0) {
        // Time goes on while nobody asks, but it takes little of the processor's.
        port.exchange(uart.from_card, uart.to_card, stop, uart.idle() ? kIdleMilliseconds : 0);
        for (unsigned i = 0; i < kTurn; i++)
            clock();
    }
}

bool LaneHost::reset_link(bool disable, unsigned requests, uint64_t cycles, uint64_t limit) {
    lane::DataLink &link = lane_.port().data_link();
    const uint8_t data[4] = {1, 2, 3, 4};
    for (unsigned i = 0; i < requests; i++)
        link.send(i % 3 ? Tlp::memory_read(0, uint8_t(i & 31), address(0), 4)
                        : Tlp::memory_write(0, address(0x28), data, 4));
    run_until([] { return false; }, cycles);
    lane::Training &training = lane_.port().training();
    disable ? training.disable() : training.hot_reset();
    if (!run_until([&link] { return !link.up(); }, limit))
        return false;
    if (disable) {
        run_until([] { return false; }, kLaneHz / 1000);
        training.enable();
    }
    // What came before is not for the requests that follow.
    for (Tlp tlp; link.receive(tlp); link.release(tlp))
        errors_.take(tlp);
    return train(limit);
}

const scan::Function &LaneHost::scan(unsigned mps, bool report) {
    found_ = scan::scan(requester_, kBase, mps);
    if (found_.bars.empty())
        throw scan::ScanError("the card has no BAR");
    lane_.port().data_link().set_mps(found_.mps);
    if (report)
        report_errors();
    return found_;
}

void LaneHost::report_errors() {
    const unsigned control = found_.find(kExpressId)->offset + kDeviceControl;
    errors_.set_device_control(ErrorMessages::kAll);
    requester_.config_write(0, control, requester_.config_read(0, control).value | ErrorMessages::kAll, 3);
}

uint64_t LaneHost::address(uint32_t offset) const {
    if (offset >= found_.bars.at(0).size)
        throw scan::ScanError("the offset is outside BAR0");
    return found_.bars[0].address + offset;
}

uint32_t LaneHost::read(uint32_t offset) {
    const auto answer = requester_.memory_read(address(offset));
    if (answer.status != CplStatus::Success)
        throw scan::ScanError("the card did not answer a read of a register with data");
    return answer.value;
}

void LaneHost::write(uint32_t offset, uint32_t value) { requester_.memory_write(address(offset), value); }

// Transfers -----------------------------------------------------------------------------------------------------------

void run_transfers(const ModelOptions &host, const LaneSettings &settings, const RunOptions &options,
                   const std::string &json) {
    Arena memory;
    LaneMachine machine(memory, host, settings);
    HostDriver driver(machine, memory);
    driver.set_up({options.mps, options.mrrs});
    const Identity identity = driver.identify();
    RunConditions conditions;
    conditions.data_width = identity.data_width;
    conditions.clock_hz = identity.clock_hz;
    conditions.machine_hz = kLaneHz;
    conditions.completion_bytes = host.completion_bytes;
    conditions.latency_ns = host.latency_ns;
    conditions.update_fc = host.update_fc;
    RunReport report(conditions, identity, options);
    std::string failure;
    try {
        TransferRun run(driver, identity, options);
        for (uint64_t i = 0; i < options.iterations; i++)
            report.add(run.iterate());
        report.print();
    } catch (const HostError &error) {
        failure = error.what();
    }
    if (!host.stats.empty())
        machine.write_figures(host.stats, "");
    if (!json.empty())
        report.write_json(json, failure);
    if (!failure.empty())
        throw HostError(failure);
}

// Stops ---------------------------------------------------------------------------------------------------------------

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
