// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "lane.h"

#include <string>
#include <vector>

// A host with one root port, which is pcievhost's model. The model's state is global, so there is one in a process.
namespace judge {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kBar0 = 0xfe000000, kMessage = 0x30100, kMessageData = 0x4321;

extern Lane *lane;
inline const Figures &seen() { return lane->monitor().figures(); }

// Ends the process of the case, if it is wrong.
void expect(bool right, const std::string &what);

// From Detect to L0, by the model. `tests`: ENABLE_DISABLE or ENABLE_LOOPBACK of the model, the ways that it takes once
// from Configuration.Linkwidth.Start.
void train(int tests = 0, bool infinite_credits = false);
void flow_control();
void idle(unsigned symbols);
// Until the card has no TLP to send again. The model would not survive one that is cut by Recovery.
void settle();
// Recovery, begun by the host. `hot_reset` ends with the link in Detect.
void recover(bool hot_reset = false);
// The other side asked for L1: agrees, and lets the lane sleep.
void enter_l1();

uint32_t config_read(unsigned offset);
void config_write(unsigned offset, uint32_t value);
// Offset of a capability in configuration space.
unsigned capability(unsigned id);
// BAR0, memory and bus mastering on, MPS and MRRS of 128, and MSI to kMessage.
void set_up();

// `status` is that of the completion.
Bytes read(uint32_t address, unsigned bytes, unsigned status = 0);
void write(uint32_t address, const Bytes &data);
uint32_t read_dword(uint32_t address);
void write_dword(uint32_t address, uint32_t value);

}  // namespace judge
