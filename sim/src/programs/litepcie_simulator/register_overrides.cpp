// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/register_overrides.h"

#include "common/program.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace litepcie {

RegisterOverrides::RegisterOverrides(const std::string &path, uint64_t bar0_size) : path_(path), bar0_size_(bar0_size) {
    if (!path_.empty() && changed())
        read();
}

bool RegisterOverrides::changed() {
    struct stat now;
    if (stat(path_.c_str(), &now))
        throw UsageError("--registers: cannot read " + path_ + ": " + strerror(errno));
    const bool same = now.st_ino == read_.st_ino && now.st_size == read_.st_size &&
                      now.st_mtim.tv_sec == read_.st_mtim.tv_sec && now.st_mtim.tv_nsec == read_.st_mtim.tv_nsec;
    read_ = now;
    return !same;
}

void RegisterOverrides::read() {
    std::ifstream file(path_);
    std::string line;
    values_.clear();
    for (unsigned number = 1; std::getline(file, line); number++) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string offset, value, after = "0", more;
        if (!(words >> offset))
            continue;
        const std::string where = "--registers: " + path_ + ", line " + std::to_string(number);
        if (!(words >> value) || ((words >> after) && (words >> more)))
            throw UsageError(where + ": '" + line + "' is not OFFSET VALUE or OFFSET VALUE AFTER");
        const uint64_t at = parse_number(where + ": OFFSET", offset, 0, bar0_size_ - 4);
        if (at % 4)
            throw UsageError(where + ": OFFSET: '" + offset + "' is not a multiple of 4");
        values_[at] = {uint32_t(parse_number(where + ": VALUE", value, 0, UINT32_MAX)),
                       parse_number(where + ": AFTER", after, 0, UINT32_MAX)};
    }
    if (file.bad())
        throw UsageError("--registers: cannot read " + path_ + ": " + strerror(errno));
}

void RegisterOverrides::apply(uint64_t offset, uint8_t *data, size_t bytes) {
    if (path_.empty())
        return;
    if (changed())
        read();
    for (auto one = values_.lower_bound(offset & ~uint64_t(3)); one != values_.end() && one->first < offset + bytes;
         ++one) {
        if (one->second.after) {
            one->second.after--;
            continue;
        }
        for (unsigned byte = 0; byte < 4; byte++) {
            const uint64_t at = one->first + byte;
            if (at >= offset && at < offset + bytes)
                data[at - offset] = uint8_t(one->second.value >> 8 * byte);
        }
    }
}

}  // namespace litepcie
