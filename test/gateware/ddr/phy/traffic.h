// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// A client of LiteDRAM's crossbar that writes and reads lines all over the memory, and checks their contents.
#pragma once

#include "dut.h"  // LINE_BYTES, ADDRESS_BITS
#include "settings.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <unordered_map>
#include <vector>

// Writes some lines whole, accesses them at random (with byte masks if the memory has them), then reads each.
class Traffic {
  public:
    using Line = std::array<uint8_t, LINE_BYTES>;
    using Enable = std::array<uint8_t, (LINE_BYTES + 7) / 8>;
    long reads = 0, wrong = 0;
    std::vector<long> wrong_in = std::vector<long>(LINE_BYTES);

    explicit Traffic(const Settings &settings)
        : masks(settings.one("masks") != 0), left(long(settings.one("accesses"))), rng(unsigned(settings.one("seed"))) {
        for (unsigned n = 0; n < LINES; n++)
            lines.push_back(uint32_t(rng()) & ((1u << ADDRESS_BITS) - 1));
    }

    bool done() const { return left <= -long(LINES) && !offered && writes.empty() && wanted.empty(); }

    // Drives a cycle's inputs, and then evaluates what was accepted.
    template <class Top> void drive(Top &top) {
        if (!offered && left > -long(LINES) && rng() % 4)
            choose();
        top.command_valid = offered;
        top.command_we = write;
        top.command_addr = address;
        top.write_valid = !writes.empty();
        if (!writes.empty()) {
            std::memcpy(&top.write_data, writes.front().first.data(), LINE_BYTES);
            std::memcpy(&top.write_we, writes.front().second.data(), sizeof(Enable));
        }
    }
    template <class Top> void clock(const Top &top) {
        if (top.write_valid && top.write_ready)
            writes.pop_front();
        if (top.read_valid)
            compare(reinterpret_cast<const uint8_t *>(&top.read_data));
        if (top.command_valid && top.command_ready) {
            offered = false;
            if (!write)
                wanted.push_back(memory[address]);
        }
    }

  private:
    static constexpr unsigned LINES = 128;
    const bool masks;
    long left;  // Random accesses left; below 0, the last reads.
    std::mt19937 rng;
    std::vector<uint32_t> lines;
    unsigned filled = 0;
    bool offered = false, write = false;
    uint32_t address = 0;
    std::unordered_map<uint32_t, Line> memory;
    std::deque<std::pair<Line, Enable>> writes;
    std::deque<Line> wanted;

    void choose() {
        offered = true;
        const bool filling = filled < LINES;
        write = filling || (left > 0 && rng() % 2);
        if (filling)
            address = lines[filled++];
        else
            address = left > 0 ? lines[rng() % LINES] : lines[unsigned(-left)];
        left -= !filling;
        if (!write)
            return;
        Line data;
        Enable enable;
        for (auto &byte : data)
            byte = uint8_t(rng());
        for (auto &byte : enable)
            byte = filling || !masks || rng() % 2 ? 0xff : uint8_t(rng());
        Line &line = memory[address];
        for (unsigned n = 0; n < LINE_BYTES; n++)
            if (enable[n / 8] >> n % 8 & 1)
                line[n] = data[n];
        writes.emplace_back(data, enable);
    }

    void compare(const uint8_t *data) {
        if (wanted.empty()) {
            complain("read data without a command");
            return;
        }
        reads++;
        bool equal = true;
        for (unsigned n = 0; n < LINE_BYTES; n++)
            if (data[n] != wanted.front()[n]) {
                wrong_in[n]++;
                equal = false;
            }
        wrong += !equal;
        wanted.pop_front();
    }
};
