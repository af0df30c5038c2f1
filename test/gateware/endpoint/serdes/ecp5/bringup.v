// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// The image for bring-up with the behavioural DCU, in Verilator: clocks, slot, and a lane that comes back to its begin.
// Its serial port is in bringup.cpp. +IDLE: no lane comes back. +STATUS= is in the place of each symbol's status.

`timescale 1ps/1fs

module bench;
    import "DPI-C" function int serial_step(input int level);

    reg  sys_clk = 0, refclk = 0, perst_n = 0, received = 1;
    wire sent, tx_p, tx_n;
    wire idle = $test$plusargs("IDLE");
    always #5000 sys_clk = !sys_clk;
    always #5000 refclk = !refclk;
    initial #1000000 perst_n = 1;
    always @(posedge sys_clk) received <= serial_step({31'd0, sent}) != 0;

    top top(.clk100(sys_clk), .serial_tx(sent), .serial_rx(received), .pcie_x1_clk_p(refclk), .pcie_x1_clk_n(!refclk),
        .pcie_x1_perst(perst_n), .pcie_x1_tx_p(tx_p), .pcie_x1_tx_n(tx_n), .pcie_x1_rx_p(!idle && tx_p),
        .pcie_x1_rx_n(!idle && tx_n));
endmodule
