// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/run_options.h"

namespace litepcie {

namespace {

constexpr uint64_t kMost = 1 << 30;

}  // namespace

void add_run_options(CommandLine &line, RunOptions &o, bool pio) {
    std::vector<std::string> sequences = {"write", "read", "read-then-write", "write-then-read", "read-and-write"};
    if (pio)
        sequences.push_back("pio");
    line.choice("--sequence",
                pio ? "transfers of an iteration: read is host to card, write is card to host; pio: stores and loads "
                      "of the processor (write-then-read)"
                    : "move data by DMA and print the rates; read is host to card, write is card to host (none)",
                o.sequence, sequences);
    line.number("--length", "BYTES", "length of a transfer (100000)", o.length, 1, kMost);
    line.number("--iterations", "N", "number of iterations; each is measured (20)", o.iterations, 1, 1000000);
    line.number("--batch", "N", "transfers per doorbell, measured as one (1)", o.batch, 1, 100000);
    line.flag("--direct", "write the first descriptor of a doorbell into the card's registers, not only into the ring",
              o.direct);
    line.choice("--mrrs", "Max_Read_Request_Size, bytes (512)", o.mrrs, {128, 256, 512, 1024, 2048, 4096});
    line.number("--host-offset", "BYTES", "offset of the buffers from a 4 KiB boundary (0)", o.host_offset, 0, kMost);
    line.number("--endpoint-offset", "BYTES", "offset in the card's memory (0)", o.endpoint_offset, 0, UINT32_MAX);
    line.number("--descriptor-bytes", "BYTES", "longest descriptor; 0: 8 MiB (0)", o.descriptor_bytes, 0,
                (1 << 24) - 1);
    line.choice("--address-bits", "address of the buffers: below (32) or above (64) 4 GiB (32)", o.address_bits,
                {32, 64});
}

}  // namespace litepcie
