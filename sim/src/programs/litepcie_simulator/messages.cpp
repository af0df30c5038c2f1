// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "programs/litepcie_simulator/messages.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <deque>

namespace litepcie::vfio_user {

// Messages ------------------------------------------------------------------------------------------------------------

namespace {

// Bytes read before the end.
size_t read_all(ByteSource &source, uint8_t *data, size_t bytes, std::vector<Fd> &fds) {
    size_t done = 0;
    while (done < bytes) {
        size_t now = source.read(data + done, bytes - done, fds);
        if (fds.size() > kMaxFds)
            throw StreamError("a message has more than 16 file descriptors", Header{});
        if (!now)
            break;
        done += now;
    }
    return done;
}

std::vector<uint8_t> with_header(const Header &header, const std::vector<uint8_t> &payload) {
    std::vector<uint8_t> bytes(sizeof(header) + payload.size());
    memcpy(bytes.data(), &header, sizeof(header));
    if (!payload.empty())
        memcpy(bytes.data() + sizeof(header), payload.data(), payload.size());
    return bytes;
}

}  // namespace

bool read_message(ByteSource &source, Message &message) {
    message = Message();
    size_t got = read_all(source, reinterpret_cast<uint8_t *>(&message.header), sizeof(Header), message.fds);
    if (!got)
        return false;
    if (got < sizeof(Header))
        throw StreamError("stream ends inside a header", Header{});
    if (message.header.size < sizeof(Header) || message.header.size > kMaxMessage)
        throw StreamError("size of a message is impossible", message.header);
    message.payload.resize(message.header.size - sizeof(Header));
    if (read_all(source, message.payload.data(), message.payload.size(), message.fds) < message.payload.size())
        throw StreamError("stream ends inside a message", message.header);
    return true;
}

std::vector<uint8_t> make_command(uint16_t id, uint16_t command, const std::vector<uint8_t> &payload) {
    return with_header({id, command, uint32_t(sizeof(Header) + payload.size()), kTypeCommand, 0}, payload);
}

std::vector<uint8_t> make_reply(const Header &request, const std::vector<uint8_t> &payload) {
    return with_header({request.id, request.command, uint32_t(sizeof(Header) + payload.size()), kTypeReply, 0},
                       payload);
}

std::vector<uint8_t> make_error(const Header &request, int error) {
    return with_header({request.id, request.command, sizeof(Header), kTypeReply | kError, uint32_t(error)}, {});
}

}  // namespace litepcie::vfio_user

namespace litepcie {

// Sockets -------------------------------------------------------------------------------------------------------------

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

constexpr size_t kMostSilent = 16;  // connections without data that are kept

void wait(std::vector<pollfd> &files) {
    while (poll(files.data(), files.size(), -1) < 0)
        if (errno != EINTR)
            fail("poll");
}

// Waits for `events` of `fd`. False if `stop` is readable.
bool wait_for(int fd, short events, int stop) {
    std::vector<pollfd> files = {{fd, events, 0}, {stop, POLLIN, 0}};
    wait(files);
    return !(files[1].revents & POLLIN);
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
    if (listen(fd_.get(), SOMAXCONN))
        fail("listen on " + path);
}

ListeningSocket::~ListeningSocket() {
    if (!path_.empty())
        unlink(path_.c_str());
}

Fd ListeningSocket::next() {
    Fd client(accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client && errno != EINTR && errno != ECONNABORTED && errno != EAGAIN)
        fail("accept");
    return client;
}

// A program that only looks whether a server listens connects and closes. One that stays silent must not keep others
// out.
Fd ListeningSocket::accept(int stop) {
    std::deque<Fd> silent;
    while (true) {
        std::vector<pollfd> files = {{stop, POLLIN, 0}, {fd_.get(), POLLIN, 0}};
        for (const Fd &client : silent)
            files.push_back({client.get(), POLLIN, 0});
        wait(files);
        if (files[0].revents)
            return Fd();
        for (size_t i = files.size(); i-- > 2;) {
            char first;
            if (!files[i].revents)
                continue;
            if (recv(silent[i - 2].get(), &first, 1, MSG_PEEK | MSG_DONTWAIT) == 1)
                return std::move(silent[i - 2]);
            silent.erase(silent.begin() + (i - 2));  // it has closed the connection
        }
        if (!files[1].revents)
            continue;
        if (Fd client = next())
            silent.push_back(std::move(client));
        if (silent.size() > kMostSilent)
            silent.pop_front();
    }
}

size_t ClientSocket::read(uint8_t *data, size_t bytes, std::vector<Fd> &fds) {
    if (!wait_for(fd_.get(), POLLIN, stop_))
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
    if (header.msg_flags & MSG_CTRUNC)
        throw std::runtime_error("file descriptors were lost: a message has more than 16, or this process too many");
    return got;
}

bool ClientSocket::send(const std::vector<uint8_t> &bytes) {
    size_t done = 0;
    while (done < bytes.size()) {
        if (!wait_for(fd_.get(), POLLOUT, stop_))
            return false;
        ssize_t now = ::send(fd_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (now < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (now < 0)
            return false;
        done += now;
    }
    return true;
}

void ClientSocket::shut() { shutdown(fd_.get(), SHUT_RDWR); }

bool ClientSocket::stopped() const {
    pollfd stop{stop_, POLLIN, 0};
    return poll(&stop, 1, 0) == 1;
}

}  // namespace litepcie
