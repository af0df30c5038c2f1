// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/event.h"

#include <poll.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace litepcie::vfio_user {

bool Event::is(const Fd &file) {
    char name[64];
    const std::string link = "/proc/self/fd/" + std::to_string(file.get());
    const ssize_t length = readlink(link.c_str(), name, sizeof(name));
    return length > 0 && std::string(name, length) == "anon_inode:[eventfd]";
}

void Event::signal() {
    // A write to a full eventfd would wait. O_NONBLOCK is not set here, because the client's reads would get it too.
    pollfd event{file_.get(), POLLOUT, 0};
    if (poll(&event, 1, 0) != 1 || !(event.revents & POLLOUT))
        return;
    const uint64_t one = 1;
    if (write(file_.get(), &one, sizeof(one)) != sizeof(one))
        return;  // it has become full in between
}

}  // namespace litepcie::vfio_user
