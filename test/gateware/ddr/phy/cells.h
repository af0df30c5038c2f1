// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Timing of Xilinx's serializers and delays. A serializer sends a bit per beat (UG471, UG571); a delay delays its
// signal by its taps.
//
// Times are picoseconds from the first edge of the controller's clock, at the FPGA's pins. A cycle has no simulation
// steps: serialized bits are kept, and evaluated when something samples them.
#pragma once

#include "settings.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

struct Output {
    int serializer, delay;
    bool late;      // Its clock, and so its output, is a quarter of the chips' cycle late.
    bool tristate;  // It can release its pin.
};
struct Input {
    int deserializer, delay;
};

#include "dut.h"

class Cells {
  public:
    static constexpr int FLOATING = -1, UNSTABLE = -2;
    const double beat, cycle;  // Half a cycle of the chips, and a cycle of the controller.

    explicit Cells(const Settings &settings)
        : beat(settings.one("beat_ps")), cycle(8 * beat), serial(settings.one("serializer_beats") * beat),
          deserial(settings.one("deserializer_beats") * beat), tristate(settings.one("tristate_beats") * beat),
          modulus(unsigned(settings.one("taps"))), vtc(long(settings.one("vtc_cycles"))),
          step(settings.one("phase_ps")) {
        // Delays of UltraScale are set to times, which they keep as taps after an alignment offset (UG571).
        const double tap_ps = settings.one("tap_ps"), spread = settings.one("tap_spread");
        const bool times = modulus > 32;
        std::uniform_real_distribution<double> both(-1, 1);
        std::mt19937 rng(unsigned(settings.one("seed")));
        for (unsigned n = 0; n < DELAYS; n++) {
            tap[n] = tap_ps * (1 + spread * both(rng));
            const double offset = settings.one("align_taps") * (1 + spread * both(rng));
            first[n] = unsigned(times ? std::lround(offset + FIRST_TAP[n] / tap[n]) : FIRST_TAP[n]);
        }
        count = first;
    }

    // A rising edge of the controller's clock: samples the design's outputs before it.
    template <class Top> void clock(const Top &top) {
        Words &now = history[unsigned(++last) % HISTORY];
        std::memcpy(now.word.data(), &top.word, SERIALIZERS);
        std::memcpy(now.floating.data(), &top.floating, (SERIALIZERS + 7) / 8);
        shift(top.phase);
        PerDelay reset, move, en_vtc;
        std::memcpy(reset.data(), &top.reset, reset.size());
        std::memcpy(move.data(), &top.move, move.size());
        std::memcpy(en_vtc.data(), &top.vtc, en_vtc.size());
        moved = last == FIRST || reset != PerDelay() || move != PerDelay();
        if (en_vtc != PerDelay())
            kept = last;
        for (unsigned n = 0; moved && n < DELAYS; n++) {
            const uint8_t mask = uint8_t(1 << n % 8);
            if (reset[n / 8] & mask)
                count[n] = first[n];
            else if (move[n / 8] & mask) {
                if (last - kept < vtc)
                    complain("a delay moves too early after EN_VTC");
                count[n] = (count[n] + 1) % modulus;
            }
        }
    }

    // Shows the delays' taps to the design after the edge, if they changed.
    void show_counts(void *port) {
        if (!moved)
            return;
        std::array<uint8_t, (9 * DELAYS + 7) / 8> packed{};
        for (unsigned bit = 0; bit < 9 * DELAYS; bit++)
            packed[bit / 8] |= uint8_t((count[bit / 9] >> bit % 9 & 1) << bit % 8);
        std::memcpy(port, packed.data(), packed.size());
    }

    long edge() const { return last; }
    double delay(int n) const { return n < 0 ? 0 : count[unsigned(n)] * tap[unsigned(n)]; }
    unsigned taps(int n) const { return n < 0 ? 0 : count[unsigned(n)]; }

    // When the first bit was sampled of the word that a deserializer shows after the last edge.
    double sampled() const { return double(last) * cycle - deserial; }

    // The values of all pins are known until this time.
    double known() const { return double(last + 1) * cycle + std::min(serial, tristate); }

    // Bit n of a pin starts at start(pin) + n beats.
    double start(const Output &pin) const {
        return serial + (pin.late ? beat / 2 + double(phase) * step : 0) + delay(pin.delay);
    }

    int bit(const Output &pin, long n) const {
        return history[unsigned(n >> 3) % HISTORY].word[unsigned(pin.serializer)] >> (n & 7) & 1;
    }

    bool floats(const Output &pin, double time) const {
        if (!pin.tristate)
            return false;
        const auto of = unsigned(long(std::floor((time - tristate) / cycle)));
        return history[of % HISTORY].floating[unsigned(pin.serializer) / 8] >> pin.serializer % 8 & 1;
    }

    // Value of a pin for a receiver that needs it stable for `setup` before and `hold` after `time`. `margin` gets the
    // time to spare.
    int sample(const Output &pin, double time, double setup, double hold, double *margin = nullptr) const {
        const double place = (time - start(pin)) / beat;
        const long n = long(std::floor(place));
        const double before = (place - double(n)) * beat - setup, after = beat - hold - (place - double(n)) * beat;
        if (margin)
            *margin = std::min({*margin, before, after});
        if (floats(pin, time - setup) || floats(pin, time + hold))
            return FLOATING;
        if ((before < 0 && bit(pin, n - 1) != bit(pin, n)) || (after < 0 && bit(pin, n + 1) != bit(pin, n)))
            return UNSTABLE;
        return bit(pin, n);
    }

    long phases() const { return phase; }

  private:
    // An MMCM takes a step only after it has done the one before, twelve cycles later (UG472).
    void shift(unsigned move) {
        if (!(move & 1))
            return;
        if (last - stepped <= 12)
            complain("the phase moves too early after the step before");
        stepped = last;
        phase += move & 2 ? 1 : -1;
    }

    static constexpr unsigned HISTORY = 64;  // Cycles of the controller.
    static constexpr long FIRST = 16;        // Earlier cycles are looked up too.
    using PerDelay = std::array<uint8_t, (DELAYS + 7) / 8>;
    struct Words {
        std::array<uint8_t, SERIALIZERS> word;
        std::array<uint8_t, (SERIALIZERS + 7) / 8> floating;
    };
    const double serial, deserial, tristate;
    const unsigned modulus;
    const long vtc;  // Cycles after a change of EN_VTC in which delays must not move (UG571).
    const double step;  // Of the phase of the late serializers' clock.
    long phase = 0, stepped = -1000000;  // Steps so far; cycle of the last one.
    long last = FIRST - 1;
    std::array<Words, HISTORY> history{};
    std::array<double, DELAYS> tap;
    std::array<unsigned, DELAYS> count, first;
    bool moved = true;
    long kept = -1000000;  // Last cycle in which EN_VTC kept the delay's time.
};
