// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Model of memory chips: modes, open rows, and times between commands (JESD79-3, JESD79-4). Chips that see the same
// commands share a model.
#pragma once

#include "settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

// The pins at a rising edge of the clock; with `unstable`, the command is not valid.
struct Pins {
    bool reset_n, cke, selected, unstable;
    bool act_n, ras_n, cas_n, we_n;
    unsigned a, ba, bg;
};

// A read or a write of eight beats.
struct Access {
    bool write;
    uint64_t burst;  // Bank, row and column, in one number.
    int latency;     // Cycles from its command to the first beat.
    bool masked;     // The data mask applies.
};

// Differences between DDR3 and DDR4, in cycles unless noted.
struct Standard {
    bool ddr4;
    unsigned modes;  // Registers that must be written.
    long to_mode, to_other, dll, calibration;
    double dqss;  // How early or late DQS may be.
};
constexpr Standard DDR3{false, 4, 4, 12, 512, 512, 0.25}, DDR4{true, 7, 8, 24, 597, 1024, 0.27};

class Chips {
  public:
    const Standard standard;
    const double dqss;

    Chips(const Settings &settings, double clock_ps, const char *side)
        : standard(settings.one("ddr4") != 0 ? DDR4 : DDR3),
          dqss(settings.one("dqss") > 0 ? settings.one("dqss") : standard.dqss), clock_ps(clock_ps), side(side),
          reset_ps(settings.one("reset_us") * 1e6), cke_ps(settings.one("cke_us") * 1e6),
          rcd(cycles(settings.one("rcd_ns"))), rp(cycles(settings.one("rp_ns"))), rfc(cycles(settings.one("rfc_ns"))),
          wr(cycles(settings.one("wr_ns"))), wtr(std::max(4L, cycles(settings.one("wtr_ns")))) {}

    bool ready() const { return mode_set + 1 == 1u << standard.modes && calibrated; }

    // Edge n of the clock, at `time` in ps.
    std::optional<Access> clock(long n, double time, const Pins &pins) {
        edge = n;
        power(time, pins);
        if (!pins.cke || !pins.selected)
            return {};
        if (pins.unstable) {
            wrong("a command is not stable around the clock's edge");
            return {};
        }
        return command(pins);
    }

  private:
    struct Bank {
        bool open = false;
        unsigned row = 0;
        long opened = NEVER, closed = NEVER, read = NEVER, written = NEVER;
    };
    static constexpr long NEVER = -1000000;

    const double clock_ps;
    const std::string side;
    const double reset_ps, cke_ps;
    const long rcd, rp, rfc, wr, wtr;
    double reset_since = 0, released = 0;
    bool was_reset_n = false, was_cke = false;
    long edge = 0, woken = NEVER, mode_at = NEVER, dll_at = NEVER, refreshed = NEVER, calibrated_at = NEVER;
    long accessed = NEVER, write_ends = NEVER;
    unsigned mode_set = 0;
    bool calibrated = false, masked = true;
    bool vref_training = false, referred = false;  // DDR4: VrefDQ was written in its training mode.
    int cl = 0, cwl = 0;
    std::array<Bank, 16> banks;

    long cycles(double ns) const { return long(std::ceil(ns * 1000 / clock_ps - 1e-9)); }
    void wrong(const std::string &what) const { complain(side + what); }
    void need(bool kept, const char *what) const {
        if (!kept)
            wrong(what);
    }
    void since(long before, long min, const char *what) const { need(edge - before >= min, what); }

    // JESD79-3 3.3.1, JESD79-4 3.3.1.
    void power(double time, const Pins &pins) {
        if (!pins.reset_n && was_reset_n)
            reset_since = time;
        if (pins.reset_n && !was_reset_n) {
            need(time - reset_since >= reset_ps, "RESET# is low for too short a time");
            need(!pins.cke && !was_cke, "CKE is not low when RESET# rises");
            released = time;
            mode_set = 0;
            calibrated = referred = false;
        }
        if (pins.cke && !was_cke) {
            need(pins.reset_n && time - released >= cke_ps, "CKE rises too early after RESET#");
            woken = edge;
        }
        was_reset_n = pins.reset_n;
        was_cke = pins.cke;
    }

    std::optional<Access> command(const Pins &pins) {
        if (standard.ddr4 && !pins.act_n) {
            activate(pins, pins.a | pins.we_n << 14 | pins.cas_n << 15 | pins.ras_n << 16);
            return {};
        }
        const unsigned bank = pins.ba | pins.bg << 2;
        const bool a10 = pins.a >> 10 & 1;
        switch (pins.ras_n << 2 | pins.cas_n << 1 | pins.we_n) {
        case 0: set_mode(standard.ddr4 ? pins.ba | (pins.bg & 1) << 2 : bank, pins.bg >> 1, pins.a); return {};
        case 1: refresh(); return {};
        case 2: precharge(bank, a10); return {};
        case 3:
            if (standard.ddr4)
                wrong("a reserved command");
            else
                activate(pins, pins.a);
            return {};
        case 4:
        case 5: return access(bank, pins.a, (pins.ras_n << 2 | pins.cas_n << 1 | pins.we_n) == 4);
        case 6: calibrate(a10); return {};
        default: return {};
        }
    }

    void initialised(const char *what) const {
        need(ready(), what);
        since(mode_at, standard.to_other, "tMOD");
        since(refreshed, rfc, "tRFC");
        since(calibrated_at, standard.calibration, "tZQinit");
    }

    void set_mode(unsigned number, bool other_side, unsigned value) {
        if (other_side)  // It is for the chips that see inverted bits.
            return;
        since(woken, std::max(5L, rfc + cycles(10)), "tXPR");
        since(mode_at, standard.to_mode, "tMRD");
        need(number < standard.modes, "a mode register that does not exist");
        mode_at = edge;
        mode_set |= 1u << number;
        if (number == 0)
            set_latency(value);
        if (number == 1) {
            need((value & 1) == standard.ddr4, "the DLL is off");
            need(!(value & (0x18 | 1 << 7 | 1 << 12)), "additive latency, write leveling or outputs off");
        }
        if (number == 2)
            cwl = standard.ddr4 ? std::array{9, 10, 11, 12, 14, 16, 18, 20}[value >> 3 & 7] : int(value >> 3 & 7) + 5;
        if (number == 3)
            need(!(value >> 2 & 3), "the multi purpose register or gear-down mode is on");
        if (number == 4)
            need(!(value >> 6), "a command latency, or a preamble of two cycles");
        if (number == 5) {
            masked = value >> 10 & 1;
            need(!(value & (7 | 3 << 11)), "parity or inverted data are on");
        }
        if (number == 6) {
            referred = referred || (vref_training && value >> 7 & 1);
            vref_training = value >> 7 & 1;
        }
    }

    void set_latency(unsigned value) {
        const unsigned code = (value >> 4 & 7) << 1 | (value >> 2 & 1), write = value >> 9 & 7;
        need(!(value & 3), "bursts are not of eight beats");
        if (value >> 8 & 1)
            dll_at = edge;
        if (standard.ddr4) {
            cl = std::array{9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 23, 17, 19, 21}[code];
            need(std::array{10, 12, 14, 16, 18, 20, 24, 22}[write] >= wr, "the write recovery is less than tWR");
        } else {
            cl = code & 1 ? int(code >> 1) + 12 : int(code >> 1) + 4;
            need(std::array{16, 5, 6, 7, 8, 10, 12, 14}[write] >= wr, "the write recovery is less than tWR");
        }
    }

    void calibrate(bool is_long) {
        need(mode_set + 1 == 1u << standard.modes, "a calibration before all mode registers are written");
        since(mode_at, standard.to_other, "tMOD");
        need(closed(), "a calibration while a row is open");
        if (is_long && !calibrated)
            calibrated_at = edge;
        calibrated = calibrated || is_long;
    }

    bool closed() const {
        return std::none_of(banks.begin(), banks.end(),
                            [&](const Bank &bank) { return bank.open || edge - bank.closed < rp; });
    }

    void activate(const Pins &pins, unsigned row) {
        Bank &bank = banks[pins.ba | pins.bg << 2];
        initialised("a row is opened before the chips are initialised");
        need(!bank.open, "a row is opened in a bank with an open row");
        since(bank.closed, rp, "tRP");
        bank.open = true;
        bank.row = row;
        bank.opened = edge;
    }

    void precharge(unsigned number, bool all) {
        initialised("a row is closed before the chips are initialised");
        for (unsigned n = 0; n < banks.size(); n++) {
            Bank &bank = banks[n];
            if ((all || n == number) && bank.open) {
                since(bank.written, cwl + 4 + wr, "tWR");
                since(bank.read, 4, "tRTP");
                bank.open = false;
                bank.closed = edge;
            }
        }
    }

    void refresh() {
        initialised("a refresh before the chips are initialised");
        need(closed(), "a refresh while a row is open");
        refreshed = edge;
    }

    std::optional<Access> access(unsigned number, unsigned a, bool write) {
        Bank &bank = banks[number];
        initialised("data before the chips are initialised");
        need(!standard.ddr4 || (referred && !vref_training), "data without a reference voltage");
        since(dll_at, standard.dll, "tDLLK");
        need(bank.open, "data of a bank without an open row");
        since(bank.opened, rcd, "tRCD");
        since(accessed, 4, "tCCD");
        need((a & 7) == 0, "a burst that does not begin at a multiple of eight columns");
        if (!write)
            since(write_ends, wtr, "tWTR");
        accessed = edge;
        (write ? bank.written : bank.read) = edge;
        if (write)
            write_ends = edge + cwl + 4;
        if (a >> 10 & 1) {
            bank.open = false;
            bank.closed = edge + (write ? cwl + 4 + wr : 4);
        }
        const unsigned column = (a & 0x3ff) | (a >> 11 & 1) << 10;
        return Access{write, uint64_t(number) << 40 | uint64_t(bank.row) << 16 | column, write ? cwl : cl, masked};
    }
};

// The register between a board and the chips of an RDIMM (JESD82-31). It delays commands by a clock, or more if
// configured so; its B side inverts some bits; commands for the register itself do not reach the chips.
class Register {
  public:
    // The signals that the chips on its sides A and B see at an edge.
    std::array<Pins, 2> clock(const Pins &pins) {
        Pins now = pins;
        if (!pins.reset_n)
            delay = 2;
        if (pins.cke && pins.selected && own(pins)) {
            if (!pins.unstable)
                write(pins.a);
            now.selected = false;
        }
        held.push_back(now);
        while (held.size() > 1 + delay)
            held.pop_front();
        if (held.size() <= delay)
            return {};
        Pins a = held.front(), b = a;
        a.reset_n = b.reset_n = pins.reset_n;
        b.a ^= 0x2bf8;  // A3 to A9, A11, A13.
        b.ba ^= 3;
        b.bg ^= 3;
        return {a, b};
    }

  private:
    size_t delay = 2;  // In clocks: its own, and one that it adds until configured otherwise.
    std::deque<Pins> held;

    static bool own(const Pins &pins) {
        return pins.act_n && !pins.ras_n && !pins.cas_n && !pins.we_n && (pins.ba | pins.bg << 2) == 7;
    }

    // A control word: its number and four bits; some have eight bits.
    void write(unsigned a) {
        if (a >> 4 == 0xf)
            delay = (a & 7) == 4 ? 1 : 2 + (a & 3);
        if (a >> 4 == 0x0 && a & 1)
            complain("the register's B side is not inverted");
    }
};
