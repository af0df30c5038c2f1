// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers

`timescale 1ns / 1ps  // As the core has it.

// A standalone core whose stream 0 is a pair of AXI4-Stream ports, with logic of the user between them.
//
// The ports that are left are those of the core's PHY boundary. Every port is in the clock domain of sys_clk.
module axi_stream_top (
    output wire  [7:0] msi_dat,
    input  wire        msi_ready,
    output wire        msi_valid,
    input  wire        phy_bus_master_enable,
    output wire        phy_error_completer_abort,
    output wire        phy_error_completion_timeout,
    output wire        phy_error_poisoned,
    output wire        phy_error_unexpected_completion,
    output wire        phy_error_unsupported_request,
    input  wire        phy_extended_tag,
    input  wire        phy_function_reset,
    output wire        phy_function_reset_done,
    input  wire [15:0] phy_id,
    input  wire        phy_link_up,
    input  wire [15:0] phy_max_payload_size,
    input  wire [15:0] phy_max_request_size,
    input  wire        phy_msi_enable,
    input  wire        phy_no_snoop_enable,
    input  wire        phy_rcb_128,
    input  wire        phy_relaxed_ordering_enable,
    input  wire  [7:0] rx_be,
    input  wire [63:0] rx_dat,
    input  wire        rx_first,
    input  wire        rx_last,
    output wire        rx_ready,
    input  wire        rx_valid,
    input  wire        sys_clk,
    input  wire        sys_rst,
    output wire  [7:0] tx_be,
    output wire [63:0] tx_dat,
    output wire        tx_first,
    output wire        tx_last,
    input  wire        tx_ready,
    output wire        tx_valid
);

    // From the host.
    wire        from_host_tvalid, from_host_tready, from_host_tlast;
    wire [63:0] from_host_tdata;
    wire  [7:0] from_host_tkeep;

    // To the host.
    wire        to_host_tvalid, to_host_tready, to_host_tlast;
    wire [63:0] to_host_tdata;
    wire  [7:0] to_host_tkeep;

    // AXI4-Stream has no mark for the first beat of a packet: it is the one after tlast.
    reg to_host_first = 1'b1;
    always @(posedge sys_clk)
        if (sys_rst)
            to_host_first <= 1'b1;
        else if (to_host_tvalid & to_host_tready)
            to_host_first <= to_host_tlast;

    // The rules of the core's streams are those of AXI4-Stream: a beat stays until accepted, and byte 0 is in bits 7:0.
    // tkeep has no gap, and only the last beat of a packet may be partial. A packet without bytes is not allowed.
    litepcie_core core (
        .msi_dat(msi_dat),
        .msi_ready(msi_ready),
        .msi_valid(msi_valid),
        .phy_bus_master_enable(phy_bus_master_enable),
        .phy_error_completer_abort(phy_error_completer_abort),
        .phy_error_completion_timeout(phy_error_completion_timeout),
        .phy_error_poisoned(phy_error_poisoned),
        .phy_error_unexpected_completion(phy_error_unexpected_completion),
        .phy_error_unsupported_request(phy_error_unsupported_request),
        .phy_extended_tag(phy_extended_tag),
        .phy_function_reset(phy_function_reset),
        .phy_function_reset_done(phy_function_reset_done),
        .phy_id(phy_id),
        .phy_link_up(phy_link_up),
        .phy_max_payload_size(phy_max_payload_size),
        .phy_max_request_size(phy_max_request_size),
        .phy_msi_enable(phy_msi_enable),
        .phy_no_snoop_enable(phy_no_snoop_enable),
        .phy_rcb_128(phy_rcb_128),
        .phy_relaxed_ordering_enable(phy_relaxed_ordering_enable),
        .rx_be(rx_be),
        .rx_dat(rx_dat),
        .rx_first(rx_first),
        .rx_last(rx_last),
        .rx_ready(rx_ready),
        .rx_valid(rx_valid),
        .sys_clk(sys_clk),
        .sys_rst(sys_rst),
        .tx_be(tx_be),
        .tx_dat(tx_dat),
        .tx_first(tx_first),
        .tx_last(tx_last),
        .tx_ready(tx_ready),
        .tx_valid(tx_valid),
        .stream0_source_valid(from_host_tvalid),
        .stream0_source_ready(from_host_tready),
        /* verilator lint_off PINCONNECTEMPTY */
        .stream0_source_first(),
        /* verilator lint_on PINCONNECTEMPTY */
        .stream0_source_last(from_host_tlast),
        .stream0_source_dat(from_host_tdata),
        .stream0_source_be(from_host_tkeep),
        .stream0_sink_valid(to_host_tvalid),
        .stream0_sink_ready(to_host_tready),
        .stream0_sink_first(to_host_first),
        .stream0_sink_last(to_host_tlast),
        .stream0_sink_dat(to_host_tdata),
        .stream0_sink_be(to_host_tkeep)
    );

    // The user's logic. Put your own here.
    invert user (
        .aclk(sys_clk),
        .aresetn(~sys_rst),
        .s_axis_tvalid(from_host_tvalid),
        .s_axis_tready(from_host_tready),
        .s_axis_tdata(from_host_tdata),
        .s_axis_tkeep(from_host_tkeep),
        .s_axis_tlast(from_host_tlast),
        .m_axis_tvalid(to_host_tvalid),
        .m_axis_tready(to_host_tready),
        .m_axis_tdata(to_host_tdata),
        .m_axis_tkeep(to_host_tkeep),
        .m_axis_tlast(to_host_tlast)
    );

endmodule

// Inverts each byte, a beat per cycle, one cycle later.
module invert (
    input  wire        aclk,
    input  wire        aresetn,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,
    input  wire [63:0] s_axis_tdata,
    input  wire  [7:0] s_axis_tkeep,
    input  wire        s_axis_tlast,
    output reg         m_axis_tvalid,
    input  wire        m_axis_tready,
    output reg  [63:0] m_axis_tdata,
    output reg   [7:0] m_axis_tkeep,
    output reg         m_axis_tlast
);

    assign s_axis_tready = ~m_axis_tvalid | m_axis_tready;

    always @(posedge aclk) begin
        if (s_axis_tready) begin
            m_axis_tvalid <= s_axis_tvalid;
            m_axis_tdata  <= ~s_axis_tdata;
            m_axis_tkeep  <= s_axis_tkeep;
            m_axis_tlast  <= s_axis_tlast;
        end
        if (~aresetn)
            m_axis_tvalid <= 1'b0;
    end

endmodule
