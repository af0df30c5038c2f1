// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"

namespace litepcie::vfio_user {

// The eventfd by which a client learns of an interrupt (eventfd(2)).
class Event {
  public:
    // Whether a file is an eventfd. Writing to another one could end or stop this process, as a pipe does.
    static bool is(const Fd &file);

    explicit Event(Fd file) : file_(std::move(file)) {}
    // Adds 1 to the counter. Does nothing if the counter is full: then the eventfd is already signalled.
    void signal();

  private:
    Fd file_;
};

}  // namespace litepcie::vfio_user
