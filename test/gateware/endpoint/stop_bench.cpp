// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// A host that ends bus mastering at every moment of what the card sends. Arguments: CASE DWORDS FIRST LAST STEP:
// writes of DWORDS are FIRST, FIRST + STEP, ... LAST cycles old when the host writes. Prints counts, or what is wrong.
#include "scan_host.h"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <deque>
#include <random>
#include <set>

using namespace litepcie;
using namespace litepcie::lane;

namespace {

constexpr uint64_t kWrites = 0x10000000, kReads = 0x20000000, kInterrupts = 0xfee00000;
constexpr unsigned kMsi = 0x48;
constexpr uint32_t kMemory = 2, kMaster = 4;
constexpr uint8_t kLoad = 0x40;     // tag, which no other request of the host has
constexpr uint64_t kSettle = 1200;  // cycles in which all that is on its way arrives
constexpr uint64_t kHeld = 2500;    // cycles for which the host gives no credits back

// What one moment of the sweep does.
struct Options {
    bool held = false, reads = false, interrupts = false, gaps = false;
    bool loads = false;   // the host reads registers
    bool masked = false;  // the host masks MSIs, and writes may still come
};

class Bench {
  public:
    Bench(unsigned dwords, const RootPortOptions &port, const Options &options)
        : dwords_(dwords), random_(1), options_(options), host_({}, port, 1), pins_(host_.pins()),
          requester_(
              {[this](Tlp tlp) { host_.data_link().send(std::move(tlp)); }, [this](Tlp &tlp) { return step(tlp); }}, 1,
              20 * kMillisecond) {
        requester_.other = [](const Tlp &) {};
        train();
    }

    void train() {
        host_.train();
        scan::scan(requester_, kBase);
        set_up();
    }
    void set_up() {
        write(0x10, uint32_t(kBase));
        write(kMsi + 4, uint32_t(kInterrupts));
        write(kMsi, 1u << 16);
    }

    // Bus mastering ends by a write of this register, `age` cycles after the card began to send.
    void moment(unsigned age, unsigned offset, uint32_t value) {
        begin(age);
        const uint64_t asked = host_.cycles;
        write(offset, value);
        longest_ = std::max(longest_, host_.cycles - asked);
        ended_ = true;
        settle();
        check();
        if (options_.interrupts && offset == kCommand)
            expect_interrupt();
    }
    // The moment at which an MSI is not to come any more.
    void mask(unsigned age) {
        moment(age, kMsi, 0);
        write(kMsi, 1u << 16);
        wanted_ = false;
    }
    void function_reset(unsigned age) {
        moment(age, kDeviceControl, 0xa810);
        set_up();
    }
    void sleep(unsigned age) {
        moment(age, kPowerControl, 3);
        write(kPowerControl, 0);
    }
    void clear(unsigned age) { moment(age, kCommand, kMemory); }
    // The host resets the link while the card waits.
    void reset(unsigned age) {
        begin(age);
        Tlp tlp;
        tlp.dw = {0x44000001, 0x00001f0f, 1u << 24 | kCommand, __builtin_bswap32(kMemory)};
        host_.data_link().send(tlp);
        Tlp got;
        for (unsigned left = random_() % 400; left && !step(got); left--)
            ;
        host_.training().hot_reset();
        pins_.pin_read = pins_.pin_interrupt = 0;
        host_.wait_for_end();
        kept_.clear();
        pins_.pin_hold = 0;
        train();
        // Nothing of before comes, and the next stop is like the first one.
        ended_ = true;
        expect(arrived_ <= pins_.pin_sent, "more arrived than was sent");
        settle();
        arrived_ = pins_.pin_sent;
        clear(age);
    }
    // The card is told of the end of the link's power.
    void turn_off(unsigned age) {
        begin(age);
        host_.data_link().send(Tlp::message(0, Tlp::Broadcast, Tlp::PmeTurnOff));
        expect(wait(20 * kMillisecond, [&] { return ended_; }), "PME_Turn_Off is not answered");
        settle();
        check();
        host_.training().hot_reset();
        host_.wait_for_end();
        train();
    }
    // A packet that has no more data holds the completion, but not for ever.
    void stuck(unsigned age) {
        begin(age);
        pins_.pin_hold = 1;
        const uint64_t asked = host_.cycles;
        write(kCommand, kMemory);
        longest_ = host_.cycles - asked;
        pins_.pin_hold = 0;
        settle();
        check();
        clear(age);
    }
    // A write that ends nothing.
    void quick(unsigned) {
        for (const uint32_t value : {kMemory, kMemory, kMemory | kMaster, kMemory | kMaster}) {
            const uint64_t asked = host_.cycles;
            write(kCommand, value);
            longest_ = std::max(longest_, host_.cycles - asked);
        }
        write(kCommand, kMemory);
    }

    uint64_t longest() const { return longest_; }
    uint64_t interrupts() const { return interrupts_; }
    uint64_t reads() const { return reads_; }
    unsigned sent() const { return pins_.pin_sent; }

  private:
    void begin(unsigned age) {
        ended_ = false;
        write(kCommand, kMemory | kMaster);
        release_at_ = options_.held ? host_.cycles + kHeld : 0;
        pins_.pin_dwords = dwords_, pins_.pin_writes = 12;
        pins_.pin_start = 1;
        pass(1);
        pins_.pin_start = 0;
        pins_.pin_read = options_.reads;
        pins_.pin_interrupt = options_.interrupts;
        pass(age);
    }
    void settle() {
        pins_.pin_read = pins_.pin_interrupt = pins_.pin_hold = 0;
        pass(kSettle);
        expect(wait(2 * kHeld, [&] { return !pins_.pin_left && kept_.empty(); }), "the card does not end");
        pass(kSettle);
    }
    void check() {
        expect(arrived_ == pins_.pin_sent, "of " + std::to_string(pins_.pin_sent) + " writes that count as sent, " +
                                               std::to_string(arrived_) + " arrived");
    }

    // One that was taken and has not come is not lost.
    void expect_interrupt() {
        ended_ = false;
        write(kCommand, kMemory | kMaster);
        pass(kSettle);
        expect(!wanted_, "an MSI is lost");
        write(kCommand, kMemory);
        ended_ = true;
    }

    void write(unsigned offset, uint32_t value) { requester_.config_write(0, offset, value); }
    void pass(uint64_t cycles) {
        wait(cycles, [] { return false; });
    }
    bool wait(uint64_t cycles, const std::function<bool()> &done) {
        Tlp tlp;
        for (const uint64_t end = host_.cycles + cycles; host_.cycles < end && !done();)
            expect(!step(tlp), "a completion that nobody asked for");
        return done();
    }
    // A cycle. True if there is a completion.
    bool step(Tlp &tlp) {
        if (options_.gaps && !ended_)
            pins_.pin_hold = random_() % 4 == 0;
        if (options_.loads && !ended_ && random_() % 16 == 0 && host_.data_link().room(TlpClass::NonPosted))
            host_.data_link().send(Tlp::memory_read(0, kLoad, kBase, 4));
        host_.clock();
        wanted_ |= pins_.pin_interrupted;
        for (; !kept_.empty() && release_at_ <= host_.cycles; kept_.pop_front())
            host_.data_link().release(kept_.front());
        if (!host_.data_link().receive(tlp))
            return false;
        if (tlp.is_completion()) {
            host_.data_link().release(tlp);
            return tlp.tag() != kLoad;
        }
        take(tlp);
        kept_.push_back(tlp);
        return false;
    }
    void take(const Tlp &tlp) {
        if (tlp.is_message()) {
            ended_ |= tlp.message_code() == Tlp::PmeToAck;
            return;
        }
        const bool interrupt = tlp.address() == kInterrupts;
        expect(!ended_ || (options_.masked && !interrupt), "it comes after the completion: " + tlp.hex());
        if (tlp.is_memory_read()) {
            reads_++;
            const uint8_t data[4] = {};
            host_.data_link().send(Tlp::completion_data(0, tlp.requester(), tlp.tag(), 4, 0, data, 1));
        } else if (interrupt) {
            interrupts_++;
            wanted_ = false;
        } else {
            const uint32_t number = __builtin_bswap32(tlp.dw[3]);
            expect(tlp.address() == kWrites && tlp.length() == dwords_, "wrong header: " + tlp.hex());
            expect(number >= next_, "wrong order: " + tlp.hex());
            for (size_t i = 3; i < tlp.dw.size(); i++)
                expect(tlp.dw[i] == tlp.dw[3], "wrong data: " + tlp.hex());
            next_ = number + 1;
            arrived_++;
        }
    }

    unsigned dwords_;
    std::minstd_rand random_;
    Options options_;
    Host host_;
    Vtop &pins_;
    scan::Requester requester_;
    std::deque<Tlp> kept_;     // whose credits are not given back
    uint64_t release_at_ = 0;  // cycle
    bool ended_ = false;       // the completion has come
    bool wanted_ = false;      // an MSI was taken, and none has come since
    uint32_t next_ = 0;        // lowest number that the next write may have
    uint64_t arrived_ = 0, interrupts_ = 0, reads_ = 0, longest_ = 0;
};

// The cases that are more than a write of Command.
const std::map<std::string, std::function<void(Bench &, unsigned)>> kCases = {
    {"hot-reset", &Bench::reset}, {"turn-off", &Bench::turn_off}, {"stuck", &Bench::stuck},
    {"quick", &Bench::quick},     {"masked", &Bench::mask},       {"function-reset", &Bench::function_reset},
    {"d3hot", &Bench::sleep}};

}  // namespace

int main(int argc, char **argv) {
    if (argc != 6)
        return 2;
    const std::string what = argv[1];
    const auto number = [&](int i) { return unsigned(atoi(argv[i])); };
    static const std::set<std::string> kFree = {"free", "loads", "quick", "interrupts", "gaps", "masked"};
    Options options;
    options.held = !kFree.count(what);
    options.reads = what == "reads";
    options.loads = what == "loads" || what == "loads-held";
    options.interrupts = what == "interrupts" || what == "masked";
    options.masked = what == "masked";
    options.gaps = what == "gaps" || what == "masked";
    RootPortOptions port = soon();
    port.data_link.sleeps = false;
    if (options.held)
        port.data_link.credits.header[0] = 3, port.data_link.credits.data[0] = 24;
    if (options.reads)
        port.data_link.credits.header[1] = 2;
    unsigned age = number(3);
    const int failed = checked([&] {
        Bench bench(number(2), port, options);
        const auto found = kCases.find(what);
        for (; age <= number(4); age += number(5))
            found == kCases.end() ? bench.clear(age) : found->second(bench, age);
        printf("sent %u interrupts %" PRIu64 " reads %" PRIu64 " longest %" PRIu64 "\n", bench.sent(),
               bench.interrupts(), bench.reads(), bench.longest());
    });
    if (failed)
        printf("at %u\n", age);
    return failed;
}
