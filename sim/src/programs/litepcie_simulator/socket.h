// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "programs/litepcie_simulator/vfio_user_message.h"

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

// A listening UNIX socket. Its file is removed when the object is destroyed.
class ListeningSocket {
  public:
    // Replaces the file of a socket that no process listens on. Throws SocketInUse if one does, and std::runtime_error
    // if the path cannot be used.
    explicit ListeningSocket(const std::string &path);
    ~ListeningSocket();
    ListeningSocket(const ListeningSocket &) = delete;
    // Waits for a client that sends data, whatever others that only connect do. Returns an empty Fd if `stop` becomes
    // readable first.
    Fd accept(int stop);

  private:
    Fd next();

    std::string path_;
    Fd fd_;
};

// The connection to a client: reads bytes and file descriptors, sends replies.
class ClientSocket : public vfio_user::ByteSource {
  public:
    // read() returns 0, the end of the stream, as soon as `stop` is readable.
    ClientSocket(Fd fd, int stop) : fd_(std::move(fd)), stop_(stop) {}
    // Throws std::runtime_error if descriptors were lost, because this process has as many as it may have.
    size_t read(uint8_t *data, size_t bytes, std::vector<Fd> &fds) override;
    // Sends all bytes. False if the client has closed the connection, or if `stop` becomes readable first.
    bool send(const std::vector<uint8_t> &bytes);
    // Ends the connection; a thread that waits in read() returns.
    void shut();
    // Whether `stop` is readable.
    bool stopped() const;

  private:
    Fd fd_;
    int stop_;
};

}  // namespace litepcie
