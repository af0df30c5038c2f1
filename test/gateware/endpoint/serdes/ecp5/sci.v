// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Registers of DCUA, for its body beside dcua.v: 64 of the channel and 64 of both. What they do is not modelled.

    reg  [7:0] registers [0:127];
    wire [5:0] sci_address = {D_SCIADDR5, D_SCIADDR4, D_SCIADDR3, D_SCIADDR2, D_SCIADDR1, D_SCIADDR0};
    wire [6:0] sci_place   = {D_SCIENAUX && D_SCISELAUX, sci_address};
    wire       sci_on      = D_SCIENAUX && D_SCISELAUX || CH0_SCIEN && CH0_SCISEL;
    integer    sci_n;
    initial for (sci_n = 0; sci_n < 128; sci_n = sci_n + 1) registers[sci_n] = sci_n;
    always @(posedge D_SCIWSTN) if (sci_on)
        registers[sci_place] = {D_SCIWDATA7, D_SCIWDATA6, D_SCIWDATA5, D_SCIWDATA4, D_SCIWDATA3, D_SCIWDATA2,
            D_SCIWDATA1, D_SCIWDATA0};
    assign {D_SCIRDATA7, D_SCIRDATA6, D_SCIRDATA5, D_SCIRDATA4, D_SCIRDATA3, D_SCIRDATA2, D_SCIRDATA1, D_SCIRDATA0}
        = D_SCIRD && sci_on ? registers[sci_place] : 8'hff;
