// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/pio_run.h"

#include "programs/litepcie_host/script_json.h"

#include <cstdio>
#include <random>

namespace litepcie {

PioFigures run_pio(ModelDriver &driver, const Identity &identity, const PioOptions &o) {
    if (o.length % o.store_bytes || o.length > identity.window_size)
        throw HostError("length of " + std::to_string(o.length) + " bytes is not whole stores of " +
                        std::to_string(o.store_bytes) + " bytes within the window of " +
                        std::to_string(identity.window_size) + " bytes");
    Model &model = driver.model();
    std::mt19937_64 random(1);
    std::vector<uint8_t> data(o.length), back(o.length);
    for (uint8_t &byte : data)
        byte = random() >> 32;

    PioFigures figures;
    uint64_t start = model.cycle();
    for (uint64_t i = 0; i < o.length; i += o.store_bytes)
        model.store(identity.window_offset + i, data.data() + i, o.store_bytes);
    driver.flush();
    figures.write_cycles = model.cycle() - start;

    // The processor waits for each load. On its way through the root complex, both ways together, it takes as long as a
    // read of the card.
    const uint64_t host = cycles_of(model.options().latency_ns, model.info().clock_hz);
    start = model.cycle();
    for (uint64_t i = 0; i < o.length; i += 4) {
        if (!model.load(identity.window_offset + i, back.data() + i, 4))
            throw HostError("the card did not answer a load of the window at " + std::to_string(i));
        driver.run(host);
    }
    figures.read_cycles = model.cycle() - start;
    for (uint64_t i = 0; i < o.length; i++)
        expect("window byte " + std::to_string(i), back[i], unsigned(data[i]));
    return figures;
}

void report_pio(const Model &model, const PioOptions &o, const PioFigures &figures, const std::string &json) {
    const CardInfo &card = model.info();
    const double write = double(o.length) * card.clock_hz / figures.write_cycles;
    const double read = double(o.length) * card.clock_hz / figures.read_cycles;
    printf("pio: %llu bytes, Gen%u x%u, %u bit at %.0f MHz: stores of %u bytes %.1f MB/s, loads of 4 bytes %.1f MB/s\n",
           (unsigned long long)o.length, card.gen, card.lanes, card.data_width, card.clock_hz / 1e6, o.store_bytes,
           write / 1e6, read / 1e6);
    if (!json.empty())
        write_json_file(json, {{"ok", true},
                               {"gen", card.gen},
                               {"lanes", card.lanes},
                               {"datapath_bits", card.data_width},
                               {"clock_hz", card.clock_hz},
                               {"sequence", "pio"},
                               {"length", o.length},
                               {"store_bytes", o.store_bytes},
                               {"write_bytes_per_second", write},
                               {"read_bytes_per_second", read}});
}

}  // namespace litepcie
