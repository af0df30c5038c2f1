// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Clocks, slot and partner of the channel in a simulation. The partner sends COM, then a counter that goes through
// the data symbols, again and again. It prints what happened as lines "name=number".
//
// +LOOPBACK gives the channel its own signal. Otherwise: +PPM= of the partner's clock, +SHIFT_PS= of its bits,
// +INVERT, +START_NS= of its signal, +ERROR_AT_NS= for one wrong bit. +REFCLK_PS= period, +REFCLK_STOP_NS=,
// +REFCLK_START_NS= again, +GAP_NS= of 1 us of idle, +SKP for a SKP ordered set each time the counter begins again,
// +COMPLIANCE sends the compliance pattern after an odd number of COM, so that the disparity is wrong for it.
// +PERST_NS= when the slot asserts its reset again, +POLARITY, +ALIGN, +DETECT_NS=, +END_NS=.

`timescale 1ps/1fs

module bench;
    integer refclk_ps = 10000, ppm = 0, shift_ps = 0, start_ns = 0, end_ns = 100000, error_ns = 0, stop_ns = 0;
    integer again_ns = 0;
    integer perst_ns = 0, detect_ns = 0, gap_ns = 0;
    reg     sys_clk = 0, refclk = 0, perst_n = 0, polarity = 0, strict = 0, align = 0, detect = 0, invert = 0, loopback = 0;
    reg     skp = 0;
    always #5000 sys_clk = !sys_clk;
    always
        if (!stop_ns || $realtime < 1000.0*stop_ns || again_ns && $realtime > 1000.0*again_ns)
            #(refclk_ps/2.0) refclk = !refclk;
        else
            #1000000 ;

    wire        pcie_clk, pcie_rst, pcie_rx_clk, pcie_rx_rst, tx_p, tx_n, rx_p, rx_n;
    wire        ready, rx_ready, rx_valid, rx_overflow, rx_idle, detect_done, detect_present, refclk_ok;
    wire [23:0] refclk_cycles;
    wire [15:0] rx_data;
    wire [1:0]  rx_k, rx_error;
    wire [7:0]  missing;
    reg  [15:0] tx_data = 0;
    reg  [1:0]  tx_k = 0, tx_idle = 3;
    reg         tx_negative = 0, compliance = 0;

    top top(.clk_p(refclk), .clk_n(!refclk), .*);

    // Transmitter: COM in the lower half, then a counter.
    reg [7:0] sent = 0;
    always @(posedge pcie_clk) begin
        tx_idle <= pcie_rst || !ready || $realtime < 1000.0*start_ns ? 2'b11 : 2'b00;
        tx_data <= sent[3:0] == 0 ? {sent, 8'hbc} : {sent, ~sent};
        tx_k    <= sent[3:0] == 0 ? 2'b01 : 2'b00;
        sent    <= sent + 1;
        if (compliance) begin
            // 15 words that turn the disparity, then the pattern.
            tx_data     <= sent[0] && sent[7:4] ? 16'h4abc : 16'hb5bc;
            tx_k        <= sent == 15 ? 2'b00 : 2'b01;
            tx_negative <= !sent[0] && sent[7:4];
        end
    end

    // The compliance pattern in the bits of the lane, and the one with the other disparity.
    localparam [39:0] NEGATIVE = {10'h2aa, 10'h283, 10'h155, 10'h17c}, POSITIVE = {10'h2aa, 10'h17c, 10'h155, 10'h283};
    reg  [39:0] lane = 0;
    realtime    level_since = 0;
    reg         level = 0;
    integer     patterns = 0, reversed = 0, bits;
    always @(tx_p) begin
        for (bits = ($realtime - level_since)/(refclk_ps/25.0); bits > 0; bits = bits - 1) begin
            lane = {level, lane[39:1]};
            if (lane == NEGATIVE) patterns = patterns + 1;
            if (lane == POSITIVE) reversed = reversed + 1;
            if (bits > 40) bits = 1;
        end
        level       = tx_p;
        level_since = $realtime;
    end

    // Partner: COM, then 31 data symbols as above.
    reg [10:0] encode [0:1023];
    reg [10:0] code;
    reg        bit_ = 0, idle = 1, disparity = 0;
    reg [7:0]  count = 0;
    integer    n, skip;
    realtime   ui;
    initial $readmemh("encode.hex", encode);
    task symbol(input [8:0] value);
        begin
            code      = encode[{disparity, value}];
            disparity = code[10];
            for (n = 0; n < 10; n = n + 1) begin
                bit_ = code[n] ^ invert;
                if (error_ns && $realtime > 1000.0*error_ns) begin
                    bit_     = !bit_;
                    error_ns = 0;
                end
                #(ui);
            end
        end
    endtask
    initial begin
        #1;
        ui = 400.0*(1.0 - ppm/1.0e6);
        #(1000.0*start_ns + shift_ps + 1);
        idle = 0;
        forever begin
            if (skp && count == 0) begin
                symbol(9'h1bc);
                for (skip = 0; skip < 3; skip = skip + 1) symbol(9'h11c);
            end
            symbol(count[3:0] == 0 ? 9'h1bc : {1'b0, ~count});
            symbol({1'b0, count});
            count = count + 1;
            if (gap_ns && $realtime > 1000.0*gap_ns && $realtime < 1000.0*gap_ns + 20000) begin
                idle = 1;
                #1000000 idle = 0;
            end
        end
    end
    assign rx_p = loopback ? tx_p : !idle && bit_;
    assign rx_n = loopback ? tx_n : !idle && !bit_;

    // Receiver: each COM is followed by the counter, in order, or by the SKP of an ordered set. Until the first COM of each
    // start, wrong symbols do not count: the alignment is not known.
    reg       aligned = 0;
    integer   words = 0, skips = 0, overflows = 0, wrong = 0, errors = 0, coms = 0, resets = 0;
    task received(input [8:0] value, input bad);
        begin
            if (bad) errors = errors + aligned;
            else if (value == 9'h1bc) begin
                coms    = coms + 1;
                aligned = 1;
            end else if (value == 9'h11c) skips = skips + 1;
            else if (value[8]) wrong = wrong + aligned;
        end
    endtask
    integer   stream_errors = 0;
    reg [8:0] history = 0;
    reg       phase = 0, synced = 0, com = 0;
    reg [7:0] expected = 0;
    task stream(input [8:0] value, input bad);
        begin
            if (com && value != 9'h11c) begin
                if (synced && (phase || expected[3:0] != 0)) stream_errors = stream_errors + 1;
                phase = 1;
            end
            com = value == 9'h1bc;
            if (bad) synced = 0;
            else if (value == 9'h1bc || value == 9'h11c) ;
            else if (phase) begin
                if (synced && value != {1'b0, expected}) stream_errors = stream_errors + 1;
                if (history == 9'h1bc) begin synced = 1; expected = value; end
                expected = expected + 1;
                phase    = 0;
            end else begin
                if (synced && value != {1'b0, ~expected}) stream_errors = stream_errors + 1;
                phase = 1;
            end
            history = value;
        end
    endtask
    always @(posedge pcie_rx_clk) if (pcie_rx_rst) {synced, aligned} = 0; else if (rx_valid) begin
        words = words + 1;
        received({rx_k[0], rx_data[7:0]},  rx_error[0]);
        stream({rx_k[0], rx_data[7:0]},  rx_error[0]);
        received({rx_k[1], rx_data[15:8]}, rx_error[1]);
        stream({rx_k[1], rx_data[15:8]}, rx_error[1]);
    end
    always @(posedge pcie_clk) if (rx_overflow) overflows = overflows + 1;
    // What was wrong counts since the last reset of the receiver: a signal that is lost is noise until then.
    always @(posedge pcie_rx_rst) begin
        resets        = resets + 1;
        errors        = 0;
        wrong         = 0;
        stream_errors = 0;
    end
    integer ready_ns = 0, rx_ready_ns = 0;
    always @(posedge ready) ready_ns = $realtime/1000;
    always @(posedge rx_ready) rx_ready_ns = $realtime/1000;

    always @(posedge sys_clk) strict <= rx_ready === 1 && $realtime > 1000.0*(rx_ready_ns + 1000);
    initial begin
        if ($value$plusargs("REFCLK_PS=%d", refclk_ps)) ;
        if ($value$plusargs("REFCLK_STOP_NS=%d", stop_ns)) ;
        if ($value$plusargs("REFCLK_START_NS=%d", again_ns)) ;
        if ($value$plusargs("PPM=%d", ppm)) ;
        if ($value$plusargs("SHIFT_PS=%d", shift_ps)) ;
        if ($value$plusargs("START_NS=%d", start_ns)) ;
        if ($value$plusargs("ERROR_AT_NS=%d", error_ns)) ;
        if ($value$plusargs("GAP_NS=%d", gap_ns)) ;
        if ($value$plusargs("PERST_NS=%d", perst_ns)) ;
        if ($value$plusargs("DETECT_NS=%d", detect_ns)) ;
        if ($value$plusargs("END_NS=%d", end_ns)) ;
        invert   = $test$plusargs("INVERT");
        polarity = $test$plusargs("POLARITY");
        align    = $test$plusargs("ALIGN");
        skp      = $test$plusargs("SKP");
        loopback = $test$plusargs("LOOPBACK");
        compliance = $test$plusargs("COMPLIANCE");
        #1000000 perst_n = 1;
        if (detect_ns) begin
            #(1000.0*(detect_ns - 1000));
            @(posedge pcie_clk) detect <= 1;
            @(posedge pcie_clk) detect <= 0;
        end
        if (perst_ns) #(1000.0*perst_ns - $realtime) perst_n = 0;
        #(1000.0*end_ns - $realtime);
        $display("ready=%0d rx_ready=%0d rx_idle=%0d ready_ns=%0d rx_ready_ns=%0d", ready && !pcie_rst, rx_ready,
            rx_idle, ready_ns, rx_ready_ns);
        $display("words=%0d wrong=%0d errors=%0d coms=%0d resets=%0d synced=%0d stream_errors=%0d", words, wrong, errors,
            coms, resets, synced, stream_errors);
        $display("skips=%0d overflows=%0d", skips, overflows);
        $display("detect_done=%0d present=%0d missing=%0d", detect_done, detect_present, missing);
        $display("refclk_ok=%0d refclk_cycles=%0d tx_lane=%0d", refclk_ok, refclk_cycles, tx_p !== tx_n);
        $display("patterns=%0d reversed=%0d", patterns, reversed);
        $finish;
    end
endmodule
