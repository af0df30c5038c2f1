// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// verilog-pcie's example design on the simulator's streams of TLPs. The design has a TLP's header beside its payload,
// with the first dword in the highest bits; the simulator has the payload after the header.
`timescale 1ns / 1ps
module verilog_pcie (
    input  wire         clk,
    input  wire         rst,
    output wire         tx_req_valid,
    input  wire         tx_req_ready,
    output wire         tx_req_last,
    output wire [255:0] tx_req_dat,
    output wire [31:0]  tx_req_be,
    output wire         tx_cmp_valid,
    input  wire         tx_cmp_ready,
    output wire         tx_cmp_last,
    output wire [255:0] tx_cmp_dat,
    output wire [31:0]  tx_cmp_be,
    input  wire         rx_req_valid,
    output wire         rx_req_ready,
    input  wire         rx_req_first,
    input  wire         rx_req_last,
    input  wire [255:0] rx_req_dat,
    input  wire [31:0]  rx_req_be,
    input  wire         rx_cmp_valid,
    output wire         rx_cmp_ready,
    input  wire         rx_cmp_first,
    input  wire         rx_cmp_last,
    input  wire [255:0] rx_cmp_dat,
    input  wire [31:0]  rx_cmp_be,
    input  wire [2:0]   rx_bar,
    input  wire [15:0]  id,
    input  wire [15:0]  max_payload_size,
    input  wire [15:0]  max_request_size,
    input  wire         extended_tag,
    input  wire         rcb_128,
    input  wire         link_up,
    input  wire         msix_enable,
    input  wire         msix_function_mask
);
    // Code of a size from 128 to 4096 bytes.
    function [2:0] code(input [15:0] bytes);
        code = bytes[12] ? 5 : bytes[11] ? 4 : bytes[10] ? 3 : bytes[9] ? 2 : bytes[8] ? 1 : 0;
    endfunction

    // A hard block resets the design while the link is down.
    reg core_rst = 1;
    always @(posedge clk)
        core_rst <= rst | ~link_up;

    // Host to card.
    wire [255:0] req_data, cpl_data;
    wire [7:0]   req_strb, cpl_strb;
    wire [127:0] req_hdr, cpl_hdr;
    wire         req_valid, req_sop, req_eop, req_ready, cpl_valid, cpl_sop, cpl_eop, cpl_ready, stall;
    verilog_pcie_split requests (
        .clk(clk), .rst(core_rst),
        .in_valid(rx_req_valid), .in_ready(rx_req_ready), .in_first(rx_req_first), .in_last(rx_req_last),
        .in_dat(rx_req_dat), .in_be(rx_req_be),
        .valid(req_valid), .ready(req_ready), .sop(req_sop), .eop(req_eop), .hdr(req_hdr), .data(req_data),
        .strb(req_strb)
    );
    verilog_pcie_split completions (
        .clk(clk), .rst(core_rst),
        .in_valid(rx_cmp_valid), .in_ready(rx_cmp_ready), .in_first(rx_cmp_first), .in_last(rx_cmp_last),
        .in_dat(rx_cmp_dat), .in_be(rx_cmp_be),
        .valid(cpl_valid), .ready(cpl_ready & ~stall), .sop(cpl_sop), .eop(cpl_eop), .hdr(cpl_hdr), .data(cpl_data),
        .strb(cpl_strb)
    );

    // Card to host: messages of MSI-X first, as they follow what is sent already; then reads, then writes.
    wire [255:0] wr_data, ans_data;
    wire [7:0]   wr_strb, ans_strb;
    wire [127:0] wr_hdr, rd_hdr, msix_hdr, ans_hdr;
    wire [31:0]  msix_data;
    wire         wr_valid, wr_eop, wr_ready, rd_valid, rd_ready, msix_valid, msix_ready, ans_valid, ans_eop, ans_ready;
    wire [4:0]   wr_seq, rd_seq;
    wire         join_ready;
    reg          busy = 0;      // `last` has begun a TLP, or waits
    reg  [2:0]   last = 0;
    wire [2:0]   want = {msix_valid, rd_valid, wr_valid};
    wire [2:0]   pick = busy ? last : want[2] ? 3'b100 : want[1] ? 3'b010 : 3'b001;
    wire         ends = ~pick[0] | wr_eop;
    assign {msix_ready, rd_ready, wr_ready} = pick & {3{join_ready}};
    always @(posedge clk) begin
        last <= pick;
        if (want & pick)
            busy <= ~(join_ready & ends);
        if (core_rst)
            busy <= 0;
    end
    verilog_pcie_join sent_requests (
        .clk(clk), .rst(core_rst),
        .valid(|(want & pick)), .ready(join_ready), .eop(ends),
        .hdr(pick[2] ? msix_hdr : pick[1] ? rd_hdr : wr_hdr), .data(pick[2] ? {224'b0, msix_data} : wr_data),
        .strb(pick[2] ? 8'h01 : pick[1] ? 8'h00 : wr_strb),
        .out_valid(tx_req_valid), .out_ready(tx_req_ready), .out_last(tx_req_last), .out_dat(tx_req_dat),
        .out_be(tx_req_be)
    );
    verilog_pcie_join sent_completions (
        .clk(clk), .rst(core_rst),
        .valid(ans_valid), .ready(ans_ready), .eop(ans_eop), .hdr(ans_hdr), .data(ans_data), .strb(ans_strb),
        .out_valid(tx_cmp_valid), .out_ready(tx_cmp_ready), .out_last(tx_cmp_last), .out_dat(tx_cmp_dat),
        .out_be(tx_cmp_be)
    );

    // The design learns which of its requests have left.
    reg [4:0] wr_sent, rd_sent;
    reg       wr_sent_valid = 0, rd_sent_valid = 0;
    always @(posedge clk) begin
        {wr_sent, rd_sent} <= {wr_seq, rd_seq};
        wr_sent_valid <= wr_valid & wr_ready & wr_eop & ~core_rst;
        rd_sent_valid <= rd_valid & rd_ready & ~core_rst;
    end

    // The limits of completions are those of the design's boards with UltraScale+.
    example_core_pcie #(
        .TLP_DATA_WIDTH(256), .TX_SEQ_NUM_WIDTH(5), .READ_CPLH_FC_LIMIT(256), .READ_CPLD_FC_LIMIT(2048 - 256)
    ) core (
        .clk(clk), .rst(core_rst),
        .rx_req_tlp_data(req_data), .rx_req_tlp_strb(req_strb), .rx_req_tlp_hdr(req_hdr), .rx_req_tlp_bar_id(rx_bar),
        .rx_req_tlp_func_num(8'b0), .rx_req_tlp_valid(req_valid), .rx_req_tlp_sop(req_sop), .rx_req_tlp_eop(req_eop),
        .rx_req_tlp_ready(req_ready),
        .tx_cpl_tlp_data(ans_data), .tx_cpl_tlp_strb(ans_strb), .tx_cpl_tlp_hdr(ans_hdr),
        .tx_cpl_tlp_valid(ans_valid), .tx_cpl_tlp_sop(), .tx_cpl_tlp_eop(ans_eop), .tx_cpl_tlp_ready(ans_ready),
        .rx_cpl_tlp_data(cpl_data), .rx_cpl_tlp_strb(cpl_strb), .rx_cpl_tlp_hdr(cpl_hdr), .rx_cpl_tlp_error(4'b0),
        .rx_cpl_tlp_valid(cpl_valid & ~stall), .rx_cpl_tlp_sop(cpl_sop), .rx_cpl_tlp_eop(cpl_eop),
        .rx_cpl_tlp_ready(cpl_ready),
        .tx_rd_req_tlp_hdr(rd_hdr), .tx_rd_req_tlp_seq(rd_seq), .tx_rd_req_tlp_valid(rd_valid),
        .tx_rd_req_tlp_sop(), .tx_rd_req_tlp_eop(), .tx_rd_req_tlp_ready(rd_ready),
        .tx_wr_req_tlp_data(wr_data), .tx_wr_req_tlp_strb(wr_strb), .tx_wr_req_tlp_hdr(wr_hdr),
        .tx_wr_req_tlp_seq(wr_seq), .tx_wr_req_tlp_valid(wr_valid), .tx_wr_req_tlp_sop(), .tx_wr_req_tlp_eop(wr_eop),
        .tx_wr_req_tlp_ready(wr_ready),
        .s_axis_rd_req_tx_seq_num(rd_sent), .s_axis_rd_req_tx_seq_num_valid(rd_sent_valid),
        .s_axis_wr_req_tx_seq_num(wr_sent), .s_axis_wr_req_tx_seq_num_valid(wr_sent_valid),
        .tx_msix_wr_req_tlp_data(msix_data), .tx_msix_wr_req_tlp_strb(), .tx_msix_wr_req_tlp_hdr(msix_hdr),
        .tx_msix_wr_req_tlp_valid(msix_valid), .tx_msix_wr_req_tlp_sop(), .tx_msix_wr_req_tlp_eop(),
        .tx_msix_wr_req_tlp_ready(msix_ready),
        .bus_num(id[15:8]), .ext_tag_enable(extended_tag), .rcb_128b(rcb_128),
        .max_read_request_size(code(max_request_size)), .max_payload_size(code(max_payload_size)),
        .msix_enable(msix_enable), .msix_mask(msix_function_mask),
        .status_error_cor(), .status_error_uncor(),
        .rx_cpl_stall(stall)
    );
endmodule

// Splits a TLP into its header and its payload.
module verilog_pcie_split (
    input  wire         clk,
    input  wire         rst,
    input  wire         in_valid,
    output wire         in_ready,
    input  wire         in_first,
    input  wire         in_last,
    input  wire [255:0] in_dat,
    input  wire [31:0]  in_be,
    output wire         valid,
    input  wire         ready,
    output wire         sop,
    output wire         eop,
    output wire [127:0] hdr,
    output wire [255:0] data,
    output wire [7:0]   strb
);
    reg [255:0] kept = 0;       // the beat before this one; its highest dwords have not been passed on
    reg [127:0] header = 0;
    reg         four = 0;       // dwords of the header: 4, not 3
    reg         starts = 0;     // no payload of this TLP has been passed on
    reg         flush = 0;      // `kept` was the last beat, and `left` of its dwords have not been passed on
    reg [7:0]   left = 0;       // one bit each

    wire [7:0]   here  = {in_be[28], in_be[24], in_be[20], in_be[16], in_be[12], in_be[8], in_be[4], in_be[0]};
    wire         wide  = in_first ? in_dat[29] : four;
    wire         whole = in_first & in_last;
    wire [511:0] both  = {whole ? 256'b0 : in_dat, whole ? in_dat : kept};
    wire [15:0]  bits  = {whole ? 8'b0 : here, whole ? here : 8'hff};
    wire [7:0]   rest  = wide ? here >> 4 : here >> 3;

    assign valid    = flush | (in_valid & (~in_first | in_last));
    assign in_ready = ~flush & (ready | (in_first & ~in_last));
    assign sop      = ~flush & (whole | starts);
    assign eop      = flush | whole | (in_last & rest == 0);
    assign hdr      = whole ? {in_dat[31:0], in_dat[63:32], in_dat[95:64], in_dat[127:96]} : header;
    assign data     = flush ? (four ? kept >> 128 : kept >> 96) : wide ? both >> 128 : both >> 96;
    assign strb     = flush ? left : wide ? bits >> 4 : bits >> 3;

    always @(posedge clk) begin
        if (flush & ready)
            flush <= 0;
        if (in_valid & in_ready) begin
            kept   <= in_dat;
            left   <= rest;
            flush  <= in_last & ~in_first & rest != 0;
            starts <= in_first & ~in_last;
            if (in_first) begin
                four   <= in_dat[29];
                header <= {in_dat[31:0], in_dat[63:32], in_dat[95:64], in_dat[127:96]};
            end
        end
        if (rst)
            {flush, starts} <= 0;
    end
endmodule

// Joins a header and a payload.
module verilog_pcie_join (
    input  wire         clk,
    input  wire         rst,
    input  wire         valid,
    output wire         ready,
    input  wire         eop,
    input  wire [127:0] hdr,
    input  wire [255:0] data,
    input  wire [7:0]   strb,
    output wire         out_valid,
    input  wire         out_ready,
    output wire         out_last,
    output wire [255:0] out_dat,
    output wire [31:0]  out_be
);
    reg         first = 1;      // the next beat begins a TLP
    reg         four = 0;       // dwords of the header: 4, not 3
    reg         flush = 0;      // the TLP ends with what is in `after`
    reg [127:0] after = 0;      // dwords that did not fit into the beat before
    reg [3:0]   left = 0;       // one bit for each of them

    wire         wide   = first ? hdr[125] : four;
    wire [127:0] begins = first ? {hdr[31:0], hdr[63:32], hdr[95:64], hdr[127:96]} : after;
    wire [383:0] both   = wide ? {data, begins} : {32'b0, data, begins[95:0]};
    wire [11:0]  bits   = wide ? {strb, 4'hf} : {1'b0, strb, 3'h7};
    wire [7:0]   words  = flush ? {4'b0, left} : bits[7:0];

    assign ready     = out_ready & ~flush;
    assign out_valid = flush | valid;
    assign out_last  = flush | (eop & bits[11:8] == 0);
    assign out_dat   = flush ? {128'b0, after} : both[255:0];
    genvar n;
    generate
        for (n = 0; n < 8; n = n + 1)
            assign out_be[4*n +: 4] = {4{words[n]}};
    endgenerate

    always @(posedge clk) begin
        if (flush & out_ready)
            flush <= 0;
        if (valid & ready) begin
            after <= both[383:256];
            left  <= bits[11:8];
            flush <= eop & bits[11:8] != 0;
            first <= eop;
            four  <= wide;
        end
        if (rst)
            {first, flush} <= 2'b10;
    end
endmodule
