// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "dma.h"

#include "csr.h"

namespace litepcie {

namespace {

// Registers of the writer; the reader has the same at the same distances.
constexpr uint32_t kBase = CSR_PCIE_DMA0_WRITER_ENABLE_ADDR;
constexpr uint32_t kValue = CSR_PCIE_DMA0_WRITER_TABLE_VALUE_ADDR - kBase;
constexpr uint32_t kWriteEnable = CSR_PCIE_DMA0_WRITER_TABLE_WE_ADDR - kBase;
constexpr uint32_t kLoop = CSR_PCIE_DMA0_WRITER_TABLE_LOOP_PROG_N_ADDR - kBase;
constexpr uint32_t kReset = CSR_PCIE_DMA0_WRITER_TABLE_RESET_ADDR - kBase;

static_assert(CSR_PCIE_DMA0_READER_TABLE_VALUE_ADDR - CSR_PCIE_DMA0_READER_ENABLE_ADDR == kValue &&
                  CSR_PCIE_DMA0_READER_TABLE_WE_ADDR - CSR_PCIE_DMA0_READER_ENABLE_ADDR == kWriteEnable &&
                  CSR_PCIE_DMA0_READER_TABLE_LOOP_PROG_N_ADDR - CSR_PCIE_DMA0_READER_ENABLE_ADDR == kLoop &&
                  CSR_PCIE_DMA0_READER_TABLE_RESET_ADDR - CSR_PCIE_DMA0_READER_ENABLE_ADDR == kReset,
              "reader and writer have the same registers");

}  // namespace

StockDma::StockDma(HostDriver &driver, Kind kind)
    : driver_(driver), base_(kind == Kind::Writer ? kBase : CSR_PCIE_DMA0_READER_ENABLE_ADDR) {}

// Posted one after the other; the card takes them as its bus can.
void StockDma::write(uint32_t offset, uint32_t value) { driver_.write(base_ + offset, value); }

void StockDma::reset() {
    write(0, 0);
    write(kLoop, 0);
    write(kReset, 1);
}

// The 64 bit register has its upper half first. The write that enables it has the upper half of the address, which a
// card with addresses of 32 bits ignores.
void StockDma::add(uint64_t host_address, uint32_t bytes) {
    write(kValue, bytes);
    write(kValue + 4, uint32_t(host_address));
    write(kWriteEnable, uint32_t(host_address >> 32));
}

void StockDma::enable() { write(0, 1); }

}  // namespace litepcie
