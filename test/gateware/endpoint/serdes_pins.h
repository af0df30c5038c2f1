// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane/root_port.h"

// One cycle of the lane, with the ports of the SerDes that a Verilated module has. `inputs` are its own until then.
template <typename Top>
void clock_lane(litepcie::lane::SerDesLane &lane, Top &top, litepcie::lane::SerDesInputs &inputs) {
    litepcie::lane::SerDesOutputs outputs;
    outputs.tx_data = top.serdes_tx_data, outputs.tx_k = top.serdes_tx_k, outputs.tx_idle = top.serdes_tx_idle;
    outputs.polarity = top.serdes_polarity, outputs.detect = top.serdes_detect;
    lane.clock(outputs, inputs);
    top.serdes_rx_data = inputs.rx_data, top.serdes_rx_k = inputs.rx_k, top.serdes_rx_error = inputs.rx_error;
    top.serdes_rx_valid = inputs.rx_valid, top.serdes_rx_idle = inputs.rx_idle;
    top.serdes_rx_overflow = inputs.rx_overflow, top.serdes_ready = inputs.ready;
    top.serdes_detect_done = inputs.detect_done, top.serdes_detect_present = inputs.detect_present;
}
