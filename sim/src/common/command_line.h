// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace litepcie {

// The user asked for something there is not; exit status 2.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Exit statuses of the simulator's programs.
constexpr int kExitMismatch = 1, kExitUsage = 2, kExitViolation = 3, kExitSocketInUse = 4;

// Long options, `--name VALUE` or `--name=VALUE`, and flags.
class CommandLine {
  public:
    CommandLine(std::string program, std::string purpose)
        : program_(std::move(program)), purpose_(std::move(purpose)) {}

    void text(const char *name, const char *value, const char *help, std::string &target);
    void number(const char *name, const char *value, const char *help, uint64_t &target, uint64_t least, uint64_t most);
    // One of `allowed`, by name.
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
    void each(const char *name, const char *value, const char *help, std::function<void(const std::string &)> add);

    // Called when all options are set; throws UsageError if they do not go together.
    void check(std::function<void()> together) { checks_.push_back(std::move(together)); }

    // Throws UsageError. False if only help was asked for and printed.
    bool parse(int argc, char **argv) const;

  private:
    struct Option {
        std::string name, value, help;
        std::function<void(const std::string &)> set;
    };

    void choice(const char *name, const char *help, const std::vector<std::string> &allowed,
                std::function<void(size_t)> chosen);
    const Option &find(const std::string &name) const;
    void print_help() const;

    std::string program_, purpose_;
    std::vector<Option> options_;
    std::vector<std::function<void()>> checks_;
};

// A number as people write it: decimal or 0x hexadecimal. Throws UsageError naming `what`.
uint64_t parse_number(const std::string &what, const std::string &text, uint64_t least, uint64_t most);

}  // namespace litepcie
