// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Behaviour of channel 0 of DCUA for Icarus Verilog, in PCI Express mode with two symbols per clock cycle or one, with
// its own clock tolerance compensation, or with code words of ten bits instead of symbols. This text goes into the body
// of the module: yosys' library gives ports and parameters (simulator.py).
//
// The line is serial, so any bit alignment and any clock offset is possible. Analogue properties are not modelled.
// Options come from the command line: +PLL_LOCK_NS=, +CDR_LOCK_NS=, +PRESENT=, +NO_DONE, +DEAD_TX, +DEAD_RX. What
// boards have shown, each alone: +NO_SIGNAL: loss of signal is always told; +CHATTER_NS=: period in which it is told for
// 1 us; +SIGNAL: it is never told; +NO_ROUTE: the reference clock gets to this block only; +STATUS=: status of every
// symbol; +WANDERING: the recovered clock wanders, and the lock is told; +UNMUTE_NS= until the transmitter sends after
// electrical idle. +PPM= of the line: beyond the limit of CDR_LOL_SET the CDR does not lock.

    integer pll_lock_ns = 5000, cdr_lock_ns = 2000, present = 1, chatter_ns = 0, status = -1, unmute_ns = 0, ppm = 0;
    reg     no_done = 0, no_signal = 0, signal = 0, dead_tx = 0, dead_rx = 0, wandering = 0;
    reg [10:0] encode [0:1023];   // {disparity, K, data} -> {disparity, code, bit a lowest}.
    reg [10:0] decode [0:2047];   // {disparity, code} -> {disparity error, undecodable, K, data}.
    reg        turns  [0:2047];   // {disparity, code} -> disparity afterwards.

    initial begin
        $readmemh("encode.hex", encode);
        $readmemh("decode.hex", decode);
        $readmemh("turns.hex", turns);
        if ($value$plusargs("PLL_LOCK_NS=%d", pll_lock_ns)) ;
        if ($value$plusargs("CDR_LOCK_NS=%d", cdr_lock_ns)) ;
        if ($value$plusargs("PRESENT=%d", present)) ;
        if ($value$plusargs("CHATTER_NS=%d", chatter_ns)) ;
        if ($value$plusargs("STATUS=%d", status)) ;
        if ($value$plusargs("UNMUTE_NS=%d", unmute_ns)) ;
        if ($value$plusargs("PPM=%d", ppm)) ;
        wandering = $test$plusargs("WANDERING");
        signal    = $test$plusargs("SIGNAL");
        no_signal = $test$plusargs("NO_SIGNAL");
        no_done = $test$plusargs("NO_DONE");
        dead_tx = $test$plusargs("DEAD_TX");
        dead_rx = $test$plusargs("DEAD_RX");
    end

    // Reference clock: its period, and whether it runs ------------------------------------------------------------

    realtime edge_before = 0, period = 0;
    wire reference = $test$plusargs("NO_ROUTE") ? bench.refclk : D_REFCLKI;
    always @(posedge reference) begin
        period      = $realtime - edge_before;
        edge_before = $realtime;
    end

    // Transmit PLL: 25 times the reference clock, or half of that -------------------------------------------------

    wire powered = D_MACROPDB == "0b1" && D_TXPLL_PWDNB == "0b1" && CH0_TPWDNB == "0b1" && CH0_RPWDNB == "0b1"
        && D_FFC_MACROPDB && CH0_FFC_TXPWDNB && CH0_FFC_RXPWDNB && !D_FFC_MACRO_RST && !D_FFC_DUAL_RST;
    reg      pll_locked = 0, tx_good = 0;
    realtime ui = 400;            // Picoseconds per bit.
    realtime pll_since = 0;
    always begin
        #100000;
        if (D_FFC_TRST || !powered || $realtime - edge_before > 100000) begin
            pll_since  = $realtime;
            pll_locked = 0;
        end else if ($realtime - pll_since > 1000.0*pll_lock_ns) begin
            ui         = period/25*(CH0_FFC_RATE_MODE_TX ? 2 : 1);
            pll_locked = 1;
        end
        if (!pll_locked) tx_good = 0;
    end
    assign D_FFS_PLOL = !pll_locked;
    // A FIFO that is reset without a stable clock passes garbage, without a flag.
    always @(negedge CH0_FFC_LANE_TX_RST) tx_good = pll_locked;

    // Transmitter -------------------------------------------------------------------------------------------------

    wire [23:0] tx_now = {CH0_FF_TX_D_23, CH0_FF_TX_D_22, CH0_FF_TX_D_21, CH0_FF_TX_D_20, CH0_FF_TX_D_19,
        CH0_FF_TX_D_18, CH0_FF_TX_D_17, CH0_FF_TX_D_16, CH0_FF_TX_D_15, CH0_FF_TX_D_14, CH0_FF_TX_D_13,
        CH0_FF_TX_D_12, CH0_FF_TX_D_11, CH0_FF_TX_D_10, CH0_FF_TX_D_9, CH0_FF_TX_D_8, CH0_FF_TX_D_7, CH0_FF_TX_D_6,
        CH0_FF_TX_D_5, CH0_FF_TX_D_4, CH0_FF_TX_D_3, CH0_FF_TX_D_2, CH0_FF_TX_D_1, CH0_FF_TX_D_0};
    wire        tx_geared  = CH0_TX_GEAR_MODE == "0b1";
    wire        tx_clocked = CH0_FF_TX_H_CLK_EN == CH0_TX_GEAR_MODE && CH0_FF_TX_F_CLK_DIS == CH0_TX_GEAR_MODE;
    wire        tx_raw     = CH0_ENC_BYPASS == "0b1";
    reg  [23:0] tx_word = 24'h800800, tx_sent;
    reg  [11:0] tx_symbol;
    reg  [10:0] tx_code;
    reg         tx_clock = 0, tx_bit = 0, tx_idle = 1, tx_disparity = 0;
    integer     n;
    always @(posedge CH0_FF_TXI_CLK) tx_word <= tx_now;
    always begin
        if (D_FFC_TRST || dead_tx || D_SYNC_LOCAL_EN != "0b1" || !tx_clocked || !powered) begin
            tx_clock = 0;
            tx_idle  = 1;
            #10000;
        end else if (!pll_locked) begin
            tx_clock = !tx_clock;
            tx_idle  = 1;
            #(4000 + $urandom % 400000);
        end else for (n = 0; n < (tx_geared ? 20 : 10); n = n + 1) begin
            if (n == 0) begin
                tx_sent  = tx_word;
                tx_clock = 1;
            end
            if (n == (tx_geared ? 10 : 5)) tx_clock = 0;
            if (n % 10 == 0) begin
                tx_symbol    = n ? tx_sent[23:12] : tx_sent[11:0];
                if (tx_symbol[9] && !tx_raw) tx_disparity = tx_symbol[10];
                tx_code      = tx_raw ? {1'b0, tx_symbol[9:0]} : encode[{tx_disparity, tx_symbol[8:0]}];
                tx_disparity = tx_code[10];
                tx_idle      = CH0_FFC_EI_EN || !tx_raw && tx_symbol[11];
            end
            tx_bit = tx_good ? tx_code[n % 10] : $urandom;
            #(ui);
        end
    end
    assign CH0_FF_TX_PCLK = tx_clock;
    reg muted = 1;
    always @(tx_idle) begin : mute
        muted = 1;
        if (!tx_idle) #(1000.0*unmute_ns) muted = tx_idle;
    end
    assign CH0_HDOUTP = !tx_idle && !muted && tx_bit;
    assign CH0_HDOUTN = !tx_idle && !muted && !tx_bit;

    // Receiver detection ------------------------------------------------------------------------------------------

    reg      detect_done = 0;
    realtime idle_since = 0, detect_since = 0, pulse_since = 0;
    always @(posedge tx_idle) idle_since = $realtime;
    always @(posedge CH0_FFC_PCIE_DET_EN) detect_since = $realtime;
    always @(posedge CH0_FFC_PCIE_CT) pulse_since = $realtime;
    always @(negedge CH0_FFC_PCIE_CT)
        if (CH0_PCIE_MODE == "0b1" && tx_idle && !no_done && $realtime - idle_since >= 120000
            && CH0_FFC_PCIE_DET_EN && pulse_since - detect_since >= 120000 && $realtime - pulse_since >= 4*10*ui) begin
            repeat (8) #1000000 ; // A longer delay overflows in Verilator.
            detect_done = CH0_FFC_PCIE_DET_EN;
        end
    always @(negedge CH0_FFC_PCIE_DET_EN) detect_done = 0;
    assign CH0_FFS_PCIE_DONE = detect_done;
    assign CH0_FFS_PCIE_CON = detect_done && present;

    // Receiver: loss of signal, lock of the CDR -------------------------------------------------------------------

    reg      los = 1, cdr_locked = 0, rx_good = 0;
    realtime signal_at = -1e9, cdr_since = 0, line_edge = 0;
    wire     [1:0] lol_set = D_CDR_LOL_SET == "0b11" ? 3 : D_CDR_LOL_SET == "0b10" ? 2 : D_CDR_LOL_SET == "0b01";
    wire     in_range = (ppm < 0 ? -ppm : ppm) <= (lol_set == 0 ? 1000 : lol_set == 1 ? 2000 : lol_set == 2 ? 4000 : 300);
    always @(CH0_HDINP) line_edge = $realtime;
    always begin
        #10000;
        if (CH0_HDINP !== CH0_HDINN) signal_at = $realtime;
        los = CH0_FFC_RRST || $realtime - signal_at > 10000;
        if (los || !powered) begin
            cdr_since  = $realtime;
            cdr_locked = 0;
        end else if (in_range && $realtime - cdr_since > 1000.0*cdr_lock_ns) begin
            cdr_locked = 1;
        end
        if (!cdr_locked) rx_good = 0;
    end
    reg      chatter = 0;
    initial #1 if (chatter_ns) forever begin
        #(1000.0*chatter_ns - 1000000) chatter = 1;
        #1000000 chatter = 0;
    end
    assign CH0_FFS_RLOS = (los || no_signal || chatter) && !signal;
    assign CH0_FFS_RLOL = !cdr_locked;
    always @(negedge CH0_FFC_LANE_RX_RST) rx_good = cdr_locked && $realtime - cdr_since > 1000.0*cdr_lock_ns + 100000;

    // Receiver: bits, symbols, words ------------------------------------------------------------------------------

    localparam [9:0] COMMA_A = 10'h283, COMMA_B = 10'h17c;
    wire        rx_geared  = CH0_RX_GEAR_MODE == "0b1";
    wire        rx_clocked = CH0_FF_RX_H_CLK_EN == CH0_RX_GEAR_MODE && CH0_FF_RX_F_CLK_DIS == CH0_RX_GEAR_MODE;
    wire        rx_raw     = CH0_DEC_BYPASS == "0b1";
    wire        rx_ctc     = CH0_CTC_BYPASS == "0b0";
    wire        aligns = CH0_WA_BYPASS == "0b0" && CH0_LSM_DISABLE == "0b0" && CH0_ENABLE_CG_ALIGN == "0b1" && CH0_FFC_SIGNAL_DETECT
        && CH0_UDF_COMMA_A == "0x283" && CH0_UDF_COMMA_B == "0x17c" && CH0_UDF_COMMA_MASK == "0x3ff";
    reg  [9:0]  shifted = 0;
    reg  [10:0] found;
    reg  [23:0] rx_word = 0;
    reg  [11:0] rx_first = 0, rx_symbol;
    reg         rx_clock = 0, rx_half = 0, rx_disparity = 0;
    integer     bits = 0, faults = 8;   // 8 faults: searches the comma.
    integer     since = 0;              // Bits since the lock, so that none from before is part of a comma.
    realtime    rx_ui;
    always begin
        if (dead_rx || !rx_clocked) begin
            rx_clock = 0;
            #10000;
        end else if (!cdr_locked || wandering) begin
            rx_clock = !rx_clock;       // Wanders from 1 to 90 MHz.
            rx_word  = $urandom;
            faults   = 8;
            since    = 0;
            #(5500 + $urandom % 500000);
        end else begin
            rx_ui   = period/25*(CH0_FFC_RATE_MODE_RX ? 2 : 1);
            shifted = {CH0_HDINP ^ CH0_FFC_SB_INV_RX, shifted[9:1]};
            bits    = bits + 1;
            since   = since + (since < 10);
            if (aligns && since == 10 && faults == 8 && (shifted == COMMA_A || shifted == COMMA_B)) begin
                bits   = 10;
                faults = 0;
            end
            if (bits >= 10) begin
                bits         = 0;
                found        = decode[{rx_disparity, shifted}];
                rx_disparity = turns[{rx_disparity, shifted}];
                rx_symbol    = rx_raw ? {2'd0, shifted} : found[9] ? {3'd4, 9'h1ee} : found[10] ? {3'd7, found[8:0]} : {3'd0, found[8:0]};
                if (faults != 8) faults = found[9] ? faults + 1 : faults ? faults - 1 : 0;
                if (!rx_good) rx_symbol = $urandom & 12'h0ff;
                if (status >= 0 && !rx_raw) rx_symbol[11:9] = status;
                if (rx_ctc)   compensate(rx_symbol);
                rx_half      = rx_geared && !rx_half;
                rx_clock     = !rx_half;
                if (rx_half) rx_first = rx_symbol;
                else if (!rx_ctc) rx_word <= #700 rx_geared ? {rx_symbol, rx_first} : {12'd0, rx_symbol};
            end
            if (!rx_geared && bits == 5) rx_clock = 0;
            // An edge of the line in the last bit sets the phase: the next bit is sampled in its middle.
            if ($realtime - line_edge < rx_ui) #(line_edge + 1.5*rx_ui - $realtime) ;
            else                               #(rx_ui) ;
        end
    end

    // Clock tolerance compensation: adds or removes COM SKP SKP SKP ------------------------------------------------

    wire        matching = CH0_MATCH_4_ENABLE == "0b1" && CH0_CC_MATCH_1 == "0x1bc" && CH0_CC_MATCH_2 == "0x11c"
        && CH0_CC_MATCH_3 == "0x11c" && CH0_CC_MATCH_4 == "0x11c" && D_LOW_MARK == "0d4" && D_HIGH_MARK == "0d12";
    reg  [11:0] store [0:15];
    reg  [47:0] window = 0;       // The last four symbols, the newest lowest.
    reg         overrun = 0, underrun = 0, reading = 0;
    integer     written = 0, read = 0, dropped = 0, m;
    task push(input [11:0] value);
        if (written - read == 16) overrun = 1;
        else begin
            store[written % 16] = value;
            written             = written + 1;
        end
    endtask
    task compensate(input [11:0] value);
        begin
            window = {window[35:0], value};
            if (matching && window == 48'h1bc11c11c11c) begin
                if (written - read > 12) dropped = 4;
                else if (written - read < 4)
                    for (m = 0; m < 4; m = m + 1) push(m ? 12'h11c : 12'h1bc);
            end
            if (dropped) dropped = dropped - 1;
            else         push(window[47:36]);
        end
    endtask
    always @(posedge CH0_FF_EBRD_CLK) if (rx_ctc && CH0_SEL_SD_RX_CLK == "0b0") begin
        if (!reading) reading = written - read >= 8;
        else if (written - read < 2) underrun = 1;
        else begin
            rx_word <= #700 {store[(read + 1) % 16], store[read % 16]};
            read    = read + 2;
        end
    end
    always @(posedge CH0_FFC_LANE_RX_RST) begin
        reading  = 0;
        read     = written;
        overrun  = 0;
        underrun = 0;
    end
    assign CH0_FFS_CC_OVERRUN = overrun;
    assign CH0_FFS_CC_UNDERRUN = underrun;

    assign CH0_FF_RX_PCLK = rx_clock;
    assign {CH0_FF_RX_D_23, CH0_FF_RX_D_22, CH0_FF_RX_D_21, CH0_FF_RX_D_20, CH0_FF_RX_D_19, CH0_FF_RX_D_18,
        CH0_FF_RX_D_17, CH0_FF_RX_D_16, CH0_FF_RX_D_15, CH0_FF_RX_D_14, CH0_FF_RX_D_13, CH0_FF_RX_D_12,
        CH0_FF_RX_D_11, CH0_FF_RX_D_10, CH0_FF_RX_D_9, CH0_FF_RX_D_8, CH0_FF_RX_D_7, CH0_FF_RX_D_6, CH0_FF_RX_D_5,
        CH0_FF_RX_D_4, CH0_FF_RX_D_3, CH0_FF_RX_D_2, CH0_FF_RX_D_1, CH0_FF_RX_D_0} = rx_word;
