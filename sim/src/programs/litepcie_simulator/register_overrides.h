// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace litepcie {

// A file with values that loads of BAR0 return in place of the card's, as a card with another bitstream would. It is
// read again when it was replaced or written.
//
// Lines are "OFFSET VALUE" or "OFFSET VALUE AFTER": with AFTER, so many loads of the dword give the card's value first,
// counted from the reading of the file. "#" begins a comment.
class RegisterOverrides {
  public:
    // An empty path: no file. Throws UsageError, in one line, if the file cannot be read or has a bad line.
    RegisterOverrides(const std::string &path, uint64_t bar0_size);
    // Puts the values of the file into `data`, which a load of `offset` returned. Throws UsageError.
    void apply(uint64_t offset, uint8_t *data, size_t bytes);

  private:
    struct Value {
        uint32_t value;
        uint64_t after;
    };

    bool changed();
    void read();

    std::string path_;
    uint64_t bar0_size_;
    struct stat read_ = {};
    std::map<uint64_t, Value> values_;  // by offset
};

}  // namespace litepcie
