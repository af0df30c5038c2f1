// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/fault_pipe.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace litepcie {

FaultPipe::FaultPipe(const std::string &path) {
    if (path.empty())
        return;
    // We open the pipe for writing too: without a writer, reads would return the end of file.
    pipe_ = Fd(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (!pipe_)
        throw std::runtime_error("cannot open the pipe " + path + ": " + strerror(errno));
}

bool FaultPipe::take(FaultInjector &faults) {
    bool stats = false;
    char text[256];
    ssize_t bytes;
    while (pipe_ && (bytes = read(pipe_.get(), text, sizeof(text))) > 0)
        rest_.append(text, size_t(bytes));
    for (size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1)) {
        const std::string line = rest_.substr(0, end);
        if (line == "stats")
            stats = true;
        else
            faults.add_next(line);
    }
    return stats;
}

}  // namespace litepcie
