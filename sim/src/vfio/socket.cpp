// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "vfio/socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace litepcie {

namespace {

[[noreturn]] void fail(const std::string &what) { throw std::runtime_error(what + ": " + strerror(errno)); }

sockaddr_un socket_address(const std::string &path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path))
        throw std::runtime_error("socket path " + path + " is longer than " +
                                 std::to_string(sizeof(address.sun_path) - 1) + " characters");
    memcpy(address.sun_path, path.c_str(), path.size());
    return address;
}

// Removes the file of a socket that no process listens on.
void remove_stale(const std::string &path, const sockaddr_un &address) {
    struct stat status;
    if (lstat(path.c_str(), &status))
        return;
    if (!S_ISSOCK(status.st_mode))
        throw std::runtime_error("socket path " + path +
                                 " exists and is not a socket; choose another path or remove the file");
    Fd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!probe)
        fail("socket");
    // EAGAIN: the backlog of a listening server is full.
    if (!connect(probe.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) || errno == EAGAIN)
        throw SocketInUse("socket " + path + " is in use by another server");
    if (errno == ECONNREFUSED && unlink(path.c_str()))
        fail("cannot remove the old socket " + path);
}

// False if `stop` is readable.
bool wait_readable(int fd, int stop) {
    pollfd fds[2] = {{fd, POLLIN, 0}, {stop, POLLIN, 0}};
    while (poll(fds, 2, -1) < 0)
        if (errno != EINTR)
            fail("poll");
    return !(fds[1].revents & POLLIN);
}

}  // namespace

ListeningSocket::ListeningSocket(const std::string &path) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (!fd_)
        fail("socket");
    sockaddr_un address = socket_address(path);
    remove_stale(path, address);
    if (bind(fd_.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address))) {
        if (errno == EADDRINUSE)
            throw SocketInUse("socket " + path + " is in use by another server");
        fail("cannot create socket " + path);
    }
    path_ = path;
    if (listen(fd_.get(), 4))
        fail("listen on " + path);
}

ListeningSocket::~ListeningSocket() {
    if (!path_.empty())
        unlink(path_.c_str());
}

Fd ListeningSocket::accept(int stop) {
    while (wait_readable(fd_.get(), stop)) {
        Fd client(accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!client) {
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            fail("accept");
        }
        if (!wait_readable(client.get(), stop))
            break;
        char first;
        if (recv(client.get(), &first, 1, MSG_PEEK) == 1)
            return client;
    }
    return Fd();
}

size_t ClientSocket::read(uint8_t *data, size_t bytes, std::vector<Fd> &fds) {
    if (!wait_readable(fd_.get(), stop_))
        return 0;
    iovec piece{data, bytes};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * vfio_user::kMaxFds)];
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    ssize_t got;
    do
        got = recvmsg(fd_.get(), &header, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return 0;  // the client has closed the connection
    for (cmsghdr *c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
            fds.emplace_back(fd);
        }
    }
    return got;
}

bool ClientSocket::send(const std::vector<uint8_t> &bytes) {
    size_t done = 0;
    while (done < bytes.size()) {
        ssize_t now = ::send(fd_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            return false;
        done += now;
    }
    return true;
}

void ClientSocket::shut() { shutdown(fd_.get(), SHUT_RDWR); }

}  // namespace litepcie
