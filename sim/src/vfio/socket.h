// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "vfio/vfio_user_message.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace litepcie {

// Another server listens on the path.
class SocketInUse : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A listening UNIX socket. Its file goes with it.
class ListeningSocket {
  public:
    // Replaces a socket file nobody listens on. Throws SocketInUse, or std::runtime_error with what is wrong with the
    // path.
    explicit ListeningSocket(const std::string &path);
    ~ListeningSocket();
    ListeningSocket(const ListeningSocket &) = delete;
    // A client that says something (one that only looks whether a server lives is passed over). Empty if `stop` becomes
    // readable first.
    Fd accept(int stop);

  private:
    std::string path_;
    Fd fd_;
};

// The client's end: bytes with descriptors in, replies out.
class ClientSocket : public vfio_user::ByteSource {
  public:
    // Reading ends when `stop` becomes readable.
    ClientSocket(Fd fd, int stop) : fd_(std::move(fd)), stop_(stop) {}
    size_t read(uint8_t *data, size_t bytes, std::vector<Fd> &fds) override;
    // In one piece if the socket takes it. False if the client is gone.
    bool send(const std::vector<uint8_t> &bytes);
    // Wakes a reader for good.
    void shut();

  private:
    Fd fd_;
    int stop_;
};

}  // namespace litepcie
