// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "common/stop_signals.h"

#include <sys/signalfd.h>

#include <csignal>

namespace litepcie {

StopSignals::StopSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    fd_ = Fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

int StopSignals::exit_status() {
    signalfd_siginfo info;
    if (!status_ && read(fd_.get(), &info, sizeof(info)) == sizeof(info))
        status_ = 128 + int(info.ssi_signo);
    return status_;
}

}  // namespace litepcie
