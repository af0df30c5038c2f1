// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The DDR of a board with models of the FPGA's cells and of the chips: `Vtop SETTINGS`. Runs the training, then
// traffic, and prints the results as JSON. Ends with status 1 if either does not finish in time.
#include "Vtop.h"
#include "verilated.h"

#include "cells.h"
#include "chips.h"
#include "lane.h"
#include "traffic.h"

namespace {

// Chips that see the same commands: all of them, or those on one side of a register.
struct Side {
    Chips chips;
    std::vector<Lane> lanes;
};

class Board {
  public:
    std::vector<Side> sides;

    Board(const Settings &settings, Vtop &top)
        : top(top), cells(settings), registered(settings.one("registered") != 0), setup(settings.one("setup_ps")) {
        const unsigned all = unsigned(PAD_DQS_P.size()), width = unsigned(PAD_DQ.size()) / all;
        for (unsigned side = 0; side < (registered ? 2 : 1); side++) {
            sides.push_back({Chips(settings, 2 * cells.beat, registered ? side ? "B: " : "A: " : ""), {}});
            for (unsigned n = 0; n < all; n++)
                if (!registered || side == (n >= all / 2))
                    sides.back().lanes.emplace_back(settings, cells, n, width);
        }
    }

    // Just before a rising edge of the controller's clock. `sample` is what the design sees after that edge.
    void clock(uint8_t *sample, void *count) {
        cells.clock(top);
        cells.show_counts(count);
        for (long n = 8 * (cells.edge() - 1); n < 8 * cells.edge(); n++)
            if (!cells.bit(PAD_CLK_P[0], n - 1) && cells.bit(PAD_CLK_P[0], n))
                rise(double(n) * cells.beat + cells.start(PAD_CLK_P[0]));
        for (auto &side : sides)
            for (auto &lane : side.lanes) {
                lane.look();
                lane.show(sample);
            }
    }

    const Cells &delays() const { return cells; }

  private:
    Vtop &top;
    Cells cells;
    const bool registered;
    const double setup;
    Register rcd;
    long edges = 0;
    bool unstable = false;

    unsigned see(const std::vector<Output> &pads, double time, unsigned missing) {
        if (pads.empty())
            return missing;
        unsigned value = 0;
        for (unsigned n = 0; n < pads.size(); n++) {
            const int level = cells.sample(pads[n], time, setup, setup);
            unstable |= level < 0;
            value |= unsigned(level > 0) << n;
        }
        return value;
    }

    void rise(double time) {
        edges++;
        Pins pins{};
        pins.reset_n = see(PAD_RESET_N, time, 1);
        pins.cke = see(PAD_CKE, time, 1) & 1;
        unstable = false;
        pins.selected = !(see(PAD_CS_N, time, 0) & 1);
        pins.act_n = pins.ras_n = pins.cas_n = pins.we_n = true;
        if (pins.selected) {
            pins.act_n = see(PAD_ACT_N, time, 1);
            pins.ras_n = see(PAD_RAS_N, time, 1);
            pins.cas_n = see(PAD_CAS_N, time, 1);
            pins.we_n = see(PAD_WE_N, time, 1);
        }
        if (!(pins.act_n && pins.ras_n && pins.cas_n && pins.we_n)) {
            pins.a = see(PAD_A, time, 0);
            pins.ba = see(PAD_BA, time, 0);
            pins.bg = see(PAD_BG, time, 0);
        }
        pins.unstable = unstable;
        const auto seen = registered ? rcd.clock(pins) : std::array{pins, pins};
        for (unsigned n = 0; n < sides.size(); n++)
            give(sides[n], seen[n], time);
    }

    void give(Side &side, const Pins &pins, double time) {
        const auto access = side.chips.clock(edges, time, pins);
        if (access)
            for (auto &lane : side.lanes)
                lane.obey(*access, time, side.chips.dqss);
    }
};

void print(const Board &board, const Traffic &traffic, long trained, long cycles, const Vtop &top) {
    const auto list = [](const auto &values, auto text) {
        std::string all;
        for (const auto &value : values)
            all += (all.empty() ? "" : ", ") + text(value);
        return "[" + all + "]";
    };
    const auto number = [](auto value) { return std::to_string(long(value)); };
    std::vector<double> reads, writes, dqss;
    std::vector<unsigned> read_taps, write_taps;
    for (const auto &side : board.sides)
        for (const auto &lane : side.lanes) {
            reads.push_back(lane.margins.read);
            writes.push_back(lane.margins.write);
            dqss.push_back(lane.margins.dqss);
        }
    for (unsigned n = 0; n < PAD_DQS_P.size(); n++) {
        write_taps.push_back(board.delays().taps(PAD_DQS_P[n].delay));
        read_taps.push_back(board.delays().taps(PAD_DQ_IN[n * PAD_DQ.size() / PAD_DQS_P.size()].delay));
    }
    std::printf("{\"trained\": %ld, \"cycles\": %ld, \"failed\": %lu, \"reads\": %ld, \"wrong\": %ld,\n", trained,
                cycles, (unsigned long)top.failed, traffic.reads, traffic.wrong);
    std::printf("\"wrong_in\": %s,\n", list(traffic.wrong_in, number).c_str());
    std::printf("\"read_ps\": %s, \"write_ps\": %s, \"dqss_ps\": %s,\n", list(reads, number).c_str(),
                list(writes, number).c_str(), list(dqss, number).c_str());
    std::printf("\"read_taps\": %s, \"write_taps\": %s,\n", list(read_taps, number).c_str(),
                list(write_taps, number).c_str());
    std::printf("\"phase\": %ld, ", board.delays().phases());
    std::printf("\"complaints\": %s}\n", list(complaints, [](const auto &text) { return "\"" + text + "\""; }).c_str());
}

}  // namespace

int main(int, char **argv) {
    const Settings settings(argv[1]);
    Vtop top;
    Board board(settings, top);
    Traffic traffic(settings);
    std::array<uint8_t, DESERIALIZERS> sample{};
    const long limit = long(settings.one("limit"));
    long trained = 0, cycle = 0;
    for (; cycle < limit && !(trained && traffic.done()); cycle++) {
        if (trained)
            traffic.drive(top);
        top.locked = cycle > 20;
        top.clk = 0;
        top.eval();
        board.clock(sample.data(), &top.count);
        if (trained)
            traffic.clock(top);
        top.clk = 1;
        top.eval();
        std::memcpy(&top.sample, sample.data(), sample.size());
        if (!trained && top.done) {
            trained = cycle;
            for (auto &side : board.sides)
                for (auto &lane : side.lanes)
                    lane.margins = Margins();
        }
    }
    print(board, traffic, trained, cycle, top);
    return cycle == limit;
}
