// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "read_check.h"

#include "csr.h"

#include <cstring>

namespace litepcie {

namespace {

constexpr size_t kDword = 4;
constexpr uint64_t kDrainCycles = 200;  // without a word, after which none comes

}  // namespace

void fill_dwords(uint8_t *bytes, size_t count) {
    for (uint32_t i = 0; i < count / kDword; i++)
        memcpy(bytes + i * kDword, &i, kDword);
}

void ReadCheck::start(uint32_t bytes) { driver_.write(CSR_PCIE_CHECK_LENGTH_ADDR, bytes / kDword); }

void ReadCheck::finish(uint64_t bytes) {
    // Stock's buffers still have words when its last completion came.
    uint32_t came = 0, before;
    do {
        before = came;
        driver_.run(kDrainCycles);
        came = driver_.read(CSR_PCIE_CHECK_WORDS_ADDR);
    } while (came != before);
    const uint32_t wrong = driver_.read(CSR_PCIE_CHECK_WRONG_ADDR);
    if (came != bytes / word_bytes_)
        throw HostError("the reader's stream had " + std::to_string(came) + " words, not " +
                        std::to_string(bytes / word_bytes_));
    if (wrong)
        throw HostError("the reader's stream had " + std::to_string(wrong) + " wrong words");
}

}  // namespace litepcie
