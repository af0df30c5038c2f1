// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace litepcie {

// The command line is wrong; the message is for the user. The program ends with kExitUsage.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Exit statuses of the simulator's programs. This folder is what they share in addition to the model.
constexpr int kExitMismatch = 1, kExitUsage = 2, kExitViolation = 3, kExitSocketInUse = 4;

// Parses a command line of long options (`--name VALUE` or `--name=VALUE`) and flags (`--name`). In the methods that
// add an option, `value` names the value in the help, and `target` is set if the option is given. A number whose value
// has the name BYTES is a size (parse_size).
class CommandLine {
  public:
    CommandLine(std::string program, std::string purpose)
        : program_(std::move(program)), purpose_(std::move(purpose)) {}

    void text(const char *name, const char *value, const char *help, std::string &target);
    void number(const char *name, const char *value, const char *help, uint64_t &target, uint64_t least, uint64_t most);
    // The value must be the name of one of `allowed`.
    template <typename T>
    void choice(const char *name, const char *help, T &target, std::vector<std::pair<std::string, T>> allowed) {
        std::vector<std::string> names;
        for (const auto &one : allowed)
            names.push_back(one.first);
        choice(name, help, names, [&target, allowed](size_t i) { target = allowed[i].second; });
    }
    void choice(const char *name, const char *help, unsigned &target, std::vector<unsigned> allowed);
    void choice(const char *name, const char *help, std::string &target, std::vector<std::string> allowed);
    void flag(const char *name, const char *help, bool &target);
    // An option that may be repeated: calls `add` for each.
    void each(const char *name, const char *value, const char *help, std::function<void(const std::string &)> add);

    // An option that sets others: it counts as given before them, wherever it stands.
    void preset(const char *name, const char *value, const char *help, std::function<void(const std::string &)> set);

    // Adds a check that runs after all options are set, and throws UsageError if they do not fit together.
    void check(std::function<void()> together) { checks_.push_back(std::move(together)); }

    // Sets all targets. Returns false if help was asked for, which it then printed. Throws UsageError.
    bool parse(int argc, char **argv) const;

  private:
    struct Option {
        std::string name, value, help;
        std::function<void(const std::string &)> set;
        bool preset = false;
    };

    void choice(const char *name, const char *help, const std::vector<std::string> &allowed,
                std::function<void(size_t)> chosen);
    const Option &find(const std::string &name) const;
    void print_help() const;

    std::string program_, purpose_;
    std::vector<Option> options_;
    std::vector<std::function<void()>> checks_;
};

// Parses a decimal or 0x hexadecimal number. Throws UsageError, which begins with `what`, if it is none or out of
// range.
uint64_t parse_number(const std::string &what, const std::string &text, uint64_t least, uint64_t most);

// Parses a size in bytes: a number, alone or with K, M or G (powers of 1024), which may be written as KiB and so on.
uint64_t parse_size(const std::string &what, const std::string &text, uint64_t least, uint64_t most);

// Owns a file descriptor, and closes it on destruction.
class Fd {
  public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd &operator=(Fd &&other) noexcept {
        if (this != &other) {
            close();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    ~Fd() { close(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    void close() {
        if (fd_ >= 0)
            ::close(fd_);
        fd_ = -1;
    }

  private:
    int fd_ = -1;
};

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

// Writes a file of figures. Throws std::runtime_error, which names the file, if it cannot be written.
void write_text_file(const std::string &path, const std::string &text);

}  // namespace litepcie
