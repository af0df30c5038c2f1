// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// A slot for a card with the link behind the channel: clocks, and a root port that trains the lane bit by bit. It sends
// InitFC afterwards, and no TLP. It prints the registers and the snapshot of the lane as lines "name=number".
//
// +PPM= of the root port's clock, +END_NS=.

`timescale 1ps/1fs

module bench;
    integer ppm = 0, end_ns = 450000, place, word;
    reg     sys_clk = 0, refclk = 0, perst_n = 0, sample = 0;
    always #5000 sys_clk = !sys_clk;
    always #5000 refclk  = !refclk;

    wire        tx_p, tx_n, sampled;
    wire [6:0]  locks;
    wire [23:0] refclk_cycles;
    reg         bit_ = 0, idle = 1;
    top top(.clk_p(refclk), .clk_n(!refclk), .rx_p(!idle && bit_), .rx_n(!idle && !bit_), .*);

    // Receiver: bits, aligned by COM, then training sets. What is in a row was the same.
    reg [10:0] encode [0:1023];
    reg [10:0] decode [0:2047];
    reg        turns  [0:2047];
    reg [9:0]  shifted = 0;
    reg [10:0] found;
    reg [23:0] now, last = 0;        // Identifier, lane, link; 9'h1f7 is PAD, kept as ff.
    reg        disparity_in = 0;
    integer    bits = 0, at = 16, row = 0;
    realtime   ui = 400, edge_at = 0;
    always @(tx_p) edge_at = $realtime;
    always begin
        if (tx_p === tx_n) begin
            at  = 16;
            row = 0;
        end
        shifted = {tx_p, shifted[9:1]};
        bits    = bits + 1;
        if (shifted == 10'h283 || shifted == 10'h17c) bits = 10;
        if (bits == 10) begin
            bits         = 0;
            found        = decode[{disparity_in, shifted}];
            disparity_in = turns[{disparity_in, shifted}];
            if (found[8:0] == 9'h1bc)                       at = 0;
            else if (at == 0 && found[8:0] == 9'h11c)       at = 16; // SKP.
            else if (at < 16) begin
                at = at + 1;
                if (at == 1)  now[7:0]   = found[8] ? 8'hff : found[7:0];
                if (at == 2)  now[15:8]  = found[8] ? 8'hff : found[7:0];
                if (at == 15) begin
                    now[23:16] = found[7:0];
                    row        = now == last ? row + 1 : 1;
                    last     = now;
                    at         = 16;
                end
            end
        end
        if ($realtime - edge_at < 400) #(edge_at + 600 - $realtime) ;
        else                           #400 ;
    end

    // Transmitter.
    reg [10:0] code;
    reg        disparity = 0;
    reg [15:0] lfsr;
    integer    n, m, symbols = 0, sent = 0, phase = 0;
    task coded(input [8:0] value);
        begin
            code      = encode[{disparity, value}];
            disparity = code[10];
            symbols   = symbols + 1;
            for (n = 0; n < 10; n = n + 1) begin
                bit_ = code[n];
                #(ui);
            end
        end
    endtask
    task advance;
        for (m = 0; m < 8; m = m + 1) lfsr = {lfsr[14:0], 1'b0} ^ (lfsr[15] ? 16'h0039 : 16'h0);
    endtask
    task symbol(input [8:0] value);     // Scrambled.
        begin
            for (m = 0; m < 8; m = m + 1) code[m] = lfsr[15 - m];
            advance;
            coded(value[8] ? value : {1'b0, value[7:0] ^ code[7:0]});
        end
    endtask
    task skip;
        if (symbols >= 1350) begin
            coded(9'h1bc);
            for (place = 0; place < 3; place = place + 1) coded(9'h11c);
            symbols = 0;
            lfsr    = 16'hffff;
        end
    endtask
    task set(input [8:0] link, input [8:0] lane, input [7:0] identifier);
        begin
            coded(9'h1bc);
            coded(link);
            coded(lane);
            coded(9'h0ff);
            coded(9'h002);
            coded(9'h000);
            for (place = 0; place < 10; place = place + 1) coded({1'b0, identifier});
            sent = sent + 1;
            lfsr = 16'hffff;
            for (place = 0; place < 15; place = place + 1) advance;
        end
    endtask
    task dllp(input [47:0] bytes);
        begin
            symbol(9'h15c);
            for (place = 5; place >= 0; place = place - 1) symbol({1'b0, bytes[8*place +: 8]});
            symbol(9'h1fd);
        end
    endtask
    localparam [8:0] PAD = 9'h1f7;
    task next(input integer to);
        begin
            phase = to;
            sent  = 0;
            row   = 0;
        end
    endtask
    initial begin
        $readmemh("encode.hex", encode);
        $readmemh("decode.hex", decode);
        $readmemh("turns.hex", turns);
        if ($value$plusargs("PPM=%d", ppm)) ;
        if ($value$plusargs("END_NS=%d", end_ns)) ;
        ui = 400.0*(1.0 - ppm/1.0e6);
        #1000000 perst_n = 1;
        // A root port finds a receiver after the card has power.
        repeat (5) #1000000 ;
        #77 idle = 0;
        forever begin
            skip;
            case (phase)
                0: begin // Polling.Active
                    set(PAD, PAD, 8'h4a);
                    if (sent >= 64 && row >= 8 && last[15:0] == 16'hffff) next(1);
                end
                1: begin // Polling.Configuration
                    set(PAD, PAD, 8'h45);
                    if (sent >= 16 && row >= 8 && last == 24'h45ffff) next(2);
                end
                2: begin // Configuration.Linkwidth.Start
                    set(9'h001, PAD, 8'h4a);
                    if (row >= 2 && last == 24'h4aff01) next(3);
                end
                3: begin // Configuration.Lanenum.Wait
                    set(9'h001, 9'h000, 8'h4a);
                    if (row >= 2 && last == 24'h4a0001) next(4);
                end
                4: begin // Configuration.Complete, and Recovery
                    set(9'h001, 9'h000, 8'h45);
                    if (sent >= 16 && row >= 8 && last == 24'h450001) next(5);
                end
                5: begin // L0
                    dllp(48'h40080080f35a);
                    dllp(48'h50080001b1f6);
                    dllp(48'h60000000d892);
                    dllp(48'hc00800808925);
                    dllp(48'hd0080001cb89);
                    dllp(48'he0000000a2ed);
                    for (place = 0; place < 64; place = place + 1) symbol(9'h000);
                    if (row >= 2 && last == 24'h4a0001) next(4);
                end
            endcase
            // The card has begun anew.
            if (phase > 1 && row >= 32 && last[15:0] == 16'hffff) next(0);
        end
    end

    initial begin
        #1 ;
        repeat (end_ns/1000 - 20) #1000000 ; // A longer delay overflows in Verilator.
        @(posedge sys_clk) sample <= 1;
        @(posedge sys_clk) sample <= 0;
        repeat (10) #1000000 ;
        $display("locks=%0d refclk_cycles=%0d sampled=%0d phase=%0d", locks, refclk_cycles, sampled, phase);
        for (word = 0; word < 256; word = word + 1) $display("%0d=%0d", word, top.snapshot[word]);
        $finish;
    end
endmodule
