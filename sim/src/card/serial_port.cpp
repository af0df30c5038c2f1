// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "card/serial_port.h"

#include "common/program.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace litepcie::soft {

SerialPort::SerialPort(const std::string &path) {
    const auto fail = [&](const std::string &what) { throw UsageError("--serial " + path + ": " + what); };
    card_ = Fd(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    if (!card_ || grantpt(card_.get()) || unlockpt(card_.get()))
        fail(std::string("cannot make a pseudo terminal: ") + strerror(errno));
    char name[64];
    if (ptsname_r(card_.get(), name, sizeof(name)))
        fail(strerror(errno));
    host_ = Fd(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    termios raw;
    if (!host_ || tcgetattr(host_.get(), &raw))
        fail(strerror(errno));
    cfmakeraw(&raw);
    tcsetattr(host_.get(), TCSANOW, &raw);
    if (symlink(name, path.c_str()))
        fail(errno == EEXIST ? "exists; give a path that does not" : strerror(errno));
    path_ = path;
}

SerialPort::~SerialPort() { unlink(path_.c_str()); }

void SerialPort::exchange(std::deque<uint8_t> &bytes, std::deque<uint8_t> &received, int other, int milliseconds) {
    while (!bytes.empty() && write(card_.get(), &bytes.front(), 1) == 1)
        bytes.pop_front();
    pollfd wanted[] = {{card_.get(), POLLIN, 0}, {other, POLLIN, 0}};
    if (poll(wanted, 2, milliseconds) <= 0)
        return;
    uint8_t buffer[256];
    const ssize_t count = read(card_.get(), buffer, sizeof(buffer));
    for (ssize_t i = 0; i < count; i++)
        received.push_back(buffer[i]);
}

}  // namespace litepcie::soft
