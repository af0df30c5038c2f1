// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/fd.h"

#include <cstdint>
#include <deque>
#include <string>

namespace litepcie::soft {

// A pseudo terminal that a program opens like the device file of a serial port.
class SerialPort {
  public:
    // Makes a symbolic link at `path`, which is removed at the end. Throws UsageError, also if `path` exists.
    explicit SerialPort(const std::string &path);
    ~SerialPort();

    // Sends `bytes`, and appends what came to `received`. Waits until something comes, `other` is readable, or
    // `milliseconds` have passed.
    void exchange(std::deque<uint8_t> &bytes, std::deque<uint8_t> &received, int other, int milliseconds);

  private:
    Fd host_, card_;  // Both ends: the port stays as it is while no program has it open.
    std::string path_;
};

}  // namespace litepcie::soft
