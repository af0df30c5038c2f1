// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Timing of the data of one DQS: what a chip samples of the FPGA's pins, and what the FPGA samples of the chip's pins.
#pragma once

#include "cells.h"
#include "chips.h"

#include <deque>
#include <limits>
#include <unordered_map>

// Smallest margins so far, in picoseconds.
struct Margins {
    double read = 1e9;   // Of valid bits around a deserializer's sample.
    double write = 1e9;  // The same around an edge of DQS at the chip.
    double dqss = 1e9;   // Of the distance between DQS and the chip's clock.
};

class Lane {
  public:
    using Burst = std::array<uint8_t, 8>;
    Margins margins;
    const double clock_ps;  // Delay of clock and commands from the FPGA to the chip.

    // Bits of the bus from `first` on, which belong to DQS `number`.
    Lane(const Settings &settings, const Cells &cells, unsigned number, unsigned width)
        : clock_ps(settings.of("clock_ps", number)), cells(cells), dqs(PAD_DQS_P[number]), number(number), width(width),
          data_ps(settings.of("data_ps", number)), access_ps(settings.of("access_ps", number)),
          setup(settings.one("setup_ps")), lost(settings.one("dqsq_ps") + settings.one("sample_setup_ps")),
          skew_ps(settings.one("skew_ps")), inverted(settings.one("ddr4") != 0), dead(settings.of("dead", number) != 0),
          deaf(settings.of("deaf", number) != 0), rng(unsigned(settings.one("seed")) + number) {
        std::uniform_real_distribution<double> both(-skew_ps, skew_ps);
        for (auto &bit : skew)
            bit = both(rng);
    }

    // A command; the edge of its clock was at the FPGA's pins at `time`.
    void obey(const Access &access, double time, double dqss) {
        const double edge = time + clock_ps + access.latency * 2 * cells.beat;
        if (access.write)
            writes.push_back({edge, dqss * 2 * cells.beat, access.burst, access.masked});
        else
            reads.push_back({edge + access_ps + data_ps, access.burst, {}});
    }

    // Processes the part of the bus's history that is known by now.
    void look() {
        while (!writes.empty() && writes.front().time + 10 * cells.beat < cells.known()) {
            take(writes.front());
            writes.pop_front();
        }
        while (!reads.empty() && reads.front().time + 40 * cells.beat < cells.sampled())
            reads.pop_front();
        for (auto &read : reads)
            if (!read.data && read.time < cells.sampled() + 8 * cells.beat)
                read.data = stored(read.burst);
    }

    // Eight bits per deserializer, from `sample` on.
    void show(uint8_t *sample) {
        if (reads.empty())
            return;
        for (unsigned bit = 0; bit < width; bit++) {
            const Input &input = PAD_DQ_IN[number * width + bit];
            uint8_t word = 0;
            for (unsigned n = 0; n < 8; n++)
                word |= uint8_t(seen(bit, cells.sampled() + n * cells.beat - cells.delay(input.delay)) << n);
            sample[input.deserializer] = word;
        }
    }

  private:
    struct Write {
        double time, dqss;  // When DQS should rise at the chip, and its tolerance.
        uint64_t burst;
        bool masked;
    };
    struct Read {
        double time;  // Time of the first beat at the FPGA's pins.
        uint64_t burst;
        std::optional<Burst> data;  // Set when it is about to be sampled.
    };
    const Cells &cells;
    const Output dqs;
    const unsigned number, width;
    const double data_ps, access_ps, setup, lost, skew_ps;
    const bool inverted, dead, deaf;  // The mask is inverted; the chip never drives; it never sees DQS.
    std::mt19937 rng;
    std::array<double, 8> skew;
    std::unordered_map<uint64_t, Burst> memory;
    std::deque<Write> writes;
    std::deque<Read> reads;

    bool garbage() { return rng() & 1; }

    Burst &stored(uint64_t burst) {
        const auto [place, fresh] = memory.try_emplace(burst);
        if (fresh)
            for (auto &byte : place->second)
                byte = uint8_t(rng());
        return place->second;
    }

    // The bit of DQS that rises nearest to the expected time, if all eight edges follow; otherwise none.
    std::optional<long> strobe(double time, double dqss) {
        const double place = (time - cells.start(dqs)) / cells.beat;
        long first = std::lround(place);
        if (!cells.bit(dqs, first))
            first += place > double(first) ? 1 : -1;
        for (int n = -1; n < 8; n++) {
            const double middle = (double(first + n) + 0.5) * cells.beat + cells.start(dqs);
            if (cells.floats(dqs, middle) || cells.bit(dqs, first + n) != !(n & 1))
                return {};
        }
        const double left = dqss - std::abs(place - double(first)) * cells.beat;
        margins.dqss = std::min(margins.dqss, left);
        if (deaf || left < 0)
            return {};
        return first;
    }

    void take(const Write &write) {
        Burst &data = stored(write.burst);
        const auto first = strobe(write.time - data_ps, write.dqss);
        for (unsigned n = 0; n < 8; n++) {
            const double time = first ? double(*first + n) * cells.beat + cells.start(dqs) : 0;
            bool masked = false;
            if (first && write.masked && !PAD_DM.empty()) {
                const int level = cells.sample(PAD_DM[number], time, setup, setup, &margins.write);
                masked = level < 0 ? garbage() : (level != 0) != inverted;
            }
            uint8_t byte = 0;
            for (unsigned bit = 0; bit < width; bit++) {
                const Output &pin = PAD_DQ[number * width + bit];
                const int level =
                    first ? cells.sample(pin, time - skew[bit], setup, setup, &margins.write) : Cells::UNSTABLE;
                byte |= uint8_t((level < 0 ? garbage() : level != 0) << bit);
            }
            if (!masked)
                data[n] = byte;
        }
    }

    // A bit at the FPGA's pins at a given time.
    bool seen(unsigned bit, double time) {
        for (const auto &read : reads) {
            const double place = (time - skew[bit] - read.time) / cells.beat;
            if (place < 0 || place >= 8)
                continue;
            const double before = (place - std::floor(place)) * cells.beat, after = cells.beat - before;
            const double left = std::min(before, after) - lost;
            margins.read = std::min(margins.read, left);
            if (dead || left < 0 || !cells.floats(PAD_DQ[number * width + bit], time))
                return garbage();
            return (*read.data)[unsigned(place)] >> bit & 1;
        }
        return garbage();
    }
};
