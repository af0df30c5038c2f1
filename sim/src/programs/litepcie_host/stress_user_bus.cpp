// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_host/stress_user_bus.h"

#include "litepcie_regs.h"

namespace litepcie {

uint32_t user_offset(HostDriver &driver, uint32_t address) {
    const uint32_t at = address - driver.read(LITEPCIE_USER_ORIGIN);
    return at < driver.read(LITEPCIE_USER_SIZE) ? driver.read(LITEPCIE_USER_OFFSET) + at : 0;
}

StressUserBus::StressUserBus(ModelDriver &driver, Random &random)
    : StressSide(driver, random), ram_(user_offset(driver, driver.model().info().user.ram)),
      hole_(driver.model().info().user.hole), bytes_(random_bytes(random, kBytes)) {
    hole_ = hole_ ? user_offset(driver, hole_) : 0;
    for (uint32_t at = 0; at < kBytes; at += kAccess)
        store(ram_ + at, {bytes_.begin() + at, bytes_.begin() + at + kAccess});
}

void StressUserBus::start(bool again) {
    again_ = again;
    left_ = again ? 20 : 0;
    errors_ = driver_.read(LITEPCIE_USER_ERRORS);
}

void StressUserBus::feed(bool some) {
    if (!(again_ ? left_ : some) || !one_in(random_, 3))
        return;
    left_ -= again_;
    if (!stored_.empty())
        settle();
    else if (hole_ && one_in(random_, 8))
        hole();
    else
        access();
}

void StressUserBus::access() {
    const unsigned bytes = 1 + below(random_, one_in(random_, 2) ? 8 : kAccess);
    place_ = below(random_, kBytes - bytes + 1);
    if (one_in(random_, 3))
        return compare(place_, bytes);
    stored_ = random_bytes(random_, bytes);
    store(ram_ + place_, stored_);
}

// The store before a load is done when the load is answered.
void StressUserBus::settle() {
    if (stored_.empty())
        return;
    const std::vector<uint8_t> is = load(ram_ + place_, stored_.size());
    for (size_t i = 0; i < is.size(); i++)
        if (is[i] == stored_[i] || (unsure_ && is[i] == bytes_[place_ + i]))
            bytes_[place_ + i] = is[i];
        else
            throw HostError("wrong data: byte " + std::to_string(place_ + i) + " of the RAM on the user's bus is " +
                            std::to_string(is[i]) + ", not " + std::to_string(stored_[i]));
    compared_ += stored_.size();
    stored_.clear();
    unsure_ = false;
}

void StressUserBus::compare(uint32_t at, unsigned bytes) {
    if (load(ram_ + at, bytes) != std::vector<uint8_t>(bytes_.begin() + at, bytes_.begin() + at + bytes))
        throw HostError("wrong data: of " + std::to_string(bytes) + " bytes from " + std::to_string(at) +
                        " of the RAM on the user's bus, some are not what was written");
}

// An access that no slave answers fails by itself, and no other one with it.
void StressUserBus::hole() {
    uint8_t data[4] = {};
    if (one_in(random_, 2)) {
        driver_.machine().store(hole_, data, sizeof(data));
    } else if (driver_.machine().load(hole_, data, sizeof(data))) {
        throw HostError("a read of an address without a slave was answered");
    }
    errors_++;
    const uint32_t errors = driver_.read(LITEPCIE_USER_ERRORS);
    if (errors != errors_)
        throw HostError("USER_ERRORS is " + std::to_string(errors) + ", not " + std::to_string(errors_));
}

// A store that the card had not executed before a reset of the function may be lost.
void StressUserBus::release(bool function, bool) { unsure_ |= function; }

void StressUserBus::finish() {
    settle();
    for (uint32_t at = 0; at < kBytes; at += kAccess)
        compare(at, kAccess);
    if (driver_.model().info().user.copies)
        compare_copy();
}

// After all words were copied again from the first one on.
void StressUserBus::compare_copy() {
    const UserLogic &user = driver_.model().info().user;
    const uint32_t copies = user_offset(driver_, user.copies), before = driver_.read(copies);
    const uint64_t end = driver_.model().cycle() + kPatience;
    while (driver_.read(copies) - before < 2)
        if (driver_.model().cycle() > end)
            throw HostError("hang: the processor does not copy the RAM twice within " + std::to_string(kPatience) +
                            " cycles");
    for (uint32_t at = 0; at < kCopyBytes; at += kAccess)
        if (load(user_offset(driver_, user.copy) + at, kAccess) !=
            std::vector<uint8_t>(bytes_.begin() + at, bytes_.begin() + at + kAccess))
            throw HostError("wrong data: the processor copied something else than the RAM has");
}

std::string StressUserBus::state() { return "\n  user's bus: USER_ERRORS " + std::to_string(errors_); }

}  // namespace litepcie
