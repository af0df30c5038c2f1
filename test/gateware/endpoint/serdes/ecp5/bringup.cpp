// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The serial port of the image for bring-up: the first argument is the path that a program opens. Time begins with
// 400 us, in which the lane trains; after that it goes on quickly only while somebody asks.
#include "Vbench.h"
#include "Vbench__Dpi.h"
#include "card/serial_port.h"

#include <cstdio>

constexpr unsigned kBit = 8;      // cycles of a bit of the serial port
constexpr unsigned kTurn = 2000;  // cycles between two looks at it
constexpr uint64_t kBegin = 40000;
constexpr int kIdleMilliseconds = 2;

static litepcie::soft::Uart uart(kBit);
static litepcie::soft::SerialPort *port;
static uint64_t cycle;

extern "C" int serial_step(int level) {
    if (++cycle == kBegin) {
        uart.from_card.clear();  // of before the reset
        puts("ready"), fflush(stdout);
    }
    if (cycle >= kBegin && cycle % kTurn == 0)
        port->exchange(uart.from_card, uart.to_card, -1, uart.idle() ? kIdleMilliseconds : 0);
    return uart.step(level != 0);
}

int main(int argc, char **argv) {
    litepcie::soft::SerialPort own(argv[1]);
    port = &own;
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vbench top(&context);
    for (top.eval(); top.eventsPending(); top.eval())
        context.time(top.nextTimeSlot());
    return 1;
}
