// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/stress_side.h"

#include "litepcie_regs.h"
#include "programs/litepcie_host/stress_host_port.h"
#include "programs/litepcie_host/stress_stream.h"
#include "programs/litepcie_host/stress_user_bus.h"

#include <algorithm>

namespace litepcie {

uint8_t *StressSide::memory(uint64_t address, uint64_t bytes) {
    uint8_t *data = driver_.memory().at(address, bytes);
    if (!data)
        throw HostError("the address is outside host memory");
    return data;
}

std::vector<uint8_t> StressSide::fill(uint64_t address, uint64_t bytes) {
    const std::vector<uint8_t> data = random_bytes(random_, bytes);
    std::copy(data.begin(), data.end(), memory(address, bytes));
    return data;
}

std::vector<uint8_t> StressSide::load(uint32_t offset, unsigned bytes) {
    std::vector<uint8_t> data(bytes);
    if (!driver_.machine().load(offset, data.data(), bytes))
        throw HostError("the card did not answer a read of " + std::to_string(bytes) + " bytes at BAR0 offset " +
                        std::to_string(offset));
    return data;
}

void StressSide::store(uint32_t offset, const std::vector<uint8_t> &data) {
    driver_.machine().store(offset, data.data(), data.size());
}

void StressSide::await(uint32_t offset, uint32_t value, const char *what) {
    const uint64_t end = driver_.model().cycle() + kPatience;
    while (const uint32_t is = driver_.read(offset) - value)
        if (driver_.model().cycle() > end)
            throw HostError(std::string("hang: ") + what + " is " + std::to_string(is + value) + ", not " +
                            std::to_string(value) + ", after " + std::to_string(kPatience) + " cycles");
}

void expect_off(DmaEngine &engine, const std::string &name) {
    const std::pair<const char *, uint32_t> registers[] = {
        {"CONTROL", LITEPCIE_ENGINE_CONTROL},   {"RING_LO", LITEPCIE_ENGINE_RING_LO},
        {"RING_HI", LITEPCIE_ENGINE_RING_HI},   {"STATUS_ADDRESS_LO", LITEPCIE_ENGINE_STATUS_ADDRESS_LO},
        {"DOORBELL", LITEPCIE_ENGINE_DOORBELL}, {"COMPLETED", LITEPCIE_ENGINE_COMPLETED}};
    for (const auto &[what, offset] : registers)
        if (const uint32_t value = engine.read(offset))
            throw HostError("after the reset of the function, " + std::string(what) + " of " + name + " is " +
                            std::to_string(value) + ", not 0");
}

std::vector<std::unique_ptr<StressSide>> stress_sides(ModelDriver &driver, Random &random, unsigned channels,
                                                      uint32_t endpoint) {
    std::vector<std::unique_ptr<StressSide>> sides;
    const CardInfo &info = driver.model().info();
    const uint32_t streams = driver.read(LITEPCIE_STREAMS);
    const uint32_t lacking =
        (streams & LITEPCIE_STREAMS_NO_READER_MASK) >> 8 | (streams & LITEPCIE_STREAMS_NO_WRITER_MASK) >> 16;
    for (unsigned n = 0; n < (streams & LITEPCIE_STREAMS_COUNT_MASK); n++)
        if (!(lacking >> n & 1))
            sides.push_back(std::make_unique<StressStream>(driver, random, channels + n));
    for (uint32_t loop : info.user.loops)
        if (loop && user_offset(driver, loop))
            driver.write(user_offset(driver, loop), 1);
    if (info.user.ram && user_offset(driver, info.user.ram))
        sides.push_back(std::make_unique<StressUserBus>(driver, random));
    if (info.user.mover)
        sides.push_back(std::make_unique<StressHostPort>(driver, random, endpoint));
    return sides;
}

}  // namespace litepcie
