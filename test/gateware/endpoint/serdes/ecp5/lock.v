// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Clocks of a lock in a simulation. It prints what happened as lines "name=number".
//
// +PPM= of the transmit clock. +FOLLOW: the reference clock is off as much, otherwise it has its nominal frequency.
// +SPREAD_PPM= by which both are slower at times, as a spread clock, a triangle of 32 us. From +WANDER_NS= until
// +CALM_NS=, the transmit clock has another frequency every +WANDER_CYCLES= of its cycles, up to +WANDER_PPM= to either
// side. +STOP_NS= stops it. +SYS_PS= period of sys, +END_NS=.

`timescale 1ps/1fs

module bench;
    integer  ppm = 0, spread_ppm = 0, wander_ppm = 0, wander_ns = 0, wander_cycles = 1, calm_ns = 0;
    integer  stop_ns = 0, end_ns = 0, sys_ps = 10000;
    reg      follow = 0;
    reg      sys_clk = 0, refclk_clk = 0, tx_clk = 0;
    integer  cycles = 0, drift = 0;
    realtime phase, slower;

    // The spread in parts per million at this time, from 0 to spread_ppm.
    always @(posedge sys_clk) begin
        phase  = ($realtime - 32.0e6*$floor($realtime/32.0e6))/16.0e6;
        slower = spread_ppm*(phase < 1 ? phase : 2 - phase);
    end
    initial slower = 0;

    always #(sys_ps/2) sys_clk = !sys_clk;
    always #(5000.0*(1 + (follow ? slower - ppm : 0)/1.0e6)) refclk_clk = !refclk_clk;
    always if (stop_ns && $realtime > 1000.0*stop_ns) #1000000 ; else begin
        #(4000.0*(1 + (slower - ppm - drift)/1.0e6)) tx_clk = !tx_clk;
        if (tx_clk) begin
            cycles = cycles + 1;
            if (calm_ns && $realtime > 1000.0*calm_ns) drift = 0;
            else if (wander_ppm && $realtime > 1000.0*wander_ns && cycles % wander_cycles == 0)
                drift = $signed($urandom % (2*wander_ppm)) - wander_ppm;
        end
    end

    wire        locked, refclk_ok;
    wire [23:0] refclk_cycles;
    integer     locks = 0, losses = 0;
    top top(.pcie_free_clk(tx_clk), .*);
    always @(posedge locked) locks = locks + 1;
    always @(negedge locked) losses = losses + 1;

    initial begin
        if ($value$plusargs("PPM=%d", ppm)) ;
        if ($value$plusargs("SPREAD_PPM=%d", spread_ppm)) ;
        if ($value$plusargs("WANDER_PPM=%d", wander_ppm)) ;
        if ($value$plusargs("WANDER_NS=%d", wander_ns)) ;
        if ($value$plusargs("WANDER_CYCLES=%d", wander_cycles)) ;
        if ($value$plusargs("CALM_NS=%d", calm_ns)) ;
        if ($value$plusargs("SYS_PS=%d", sys_ps)) ;
        if ($value$plusargs("STOP_NS=%d", stop_ns)) ;
        if ($value$plusargs("END_NS=%d", end_ns)) ;
        follow = $test$plusargs("FOLLOW");
        #(1000.0*end_ns);
        $display("locked=%0d locks=%0d losses=%0d refclk_ok=%0d refclk_cycles=%0d", locked, locks, losses, refclk_ok,
            refclk_cycles);
        $finish;
    end
endmodule
