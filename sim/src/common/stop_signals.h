// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/fd.h"

namespace litepcie {

// SIGINT and SIGTERM as a descriptor that becomes readable, so that a program ends in good order. The program no longer
// dies of them.
class StopSignals {
  public:
    StopSignals();
    int fd() const { return fd_.get(); }
    // The exit status of a program that ends because of a signal; 0 if none has come.
    int exit_status();

  private:
    Fd fd_;
    int status_ = 0;
};

}  // namespace litepcie
