// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "common/program.h"

#include <sys/signalfd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace litepcie {

// Command Line --------------------------------------------------------------------------------------------------------

namespace {

std::string join(const std::vector<std::string> &items) {
    std::string text;
    for (const std::string &item : items)
        text += (text.empty() ? "" : ", ") + item;
    return text;
}

}  // namespace

uint64_t parse_number(const std::string &what, const std::string &text, uint64_t least, uint64_t most) {
    bool starts_well = !text.empty() && text[0] >= '0' && text[0] <= '9';
    bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *end = nullptr;
    errno = 0;
    uint64_t value = strtoull(text.c_str(), &end, hex ? 16 : 10);
    if (!starts_well || *end || errno || value < least || value > most)
        throw UsageError(what + ": '" + text + "' is not a number from " + std::to_string(least) + " to " +
                         std::to_string(most));
    return value;
}

uint64_t parse_size(const std::string &what, const std::string &text, uint64_t least, uint64_t most) {
    const size_t digits = text.find_first_not_of("0123456789abcdefABCDEFxX");
    const std::string unit = digits == std::string::npos ? "" : text.substr(digits + (text[digits] == ' '));
    if (unit.empty() || digits == 0)
        return parse_number(what, text, least, most);
    const size_t power = std::string("kKmMgG").find(unit[0]);
    const std::string rest = unit.substr(1);
    const bool known = power != std::string::npos && (rest.empty() || rest == "iB" || rest == "ib" || rest == "IB");
    if (!known)
        throw UsageError(what + ": '" + text + "' is not a size; give bytes, such as 4096, 0x1000, 4K, 4KiB or 64M");
    const unsigned shift = 10 * (power / 2 + 1);
    const uint64_t value = parse_number(what, text.substr(0, digits), 0, UINT64_MAX >> shift) << shift;
    return parse_number(what, std::to_string(value), least, most);
}

void CommandLine::text(const char *name, const char *value, const char *help, std::string &target) {
    each(name, value, help, [name, &target](const std::string &given) {
        if (given.empty())
            throw UsageError(std::string(name) + " needs a value that is not empty");
        target = given;
    });
}

void CommandLine::number(const char *name, const char *value, const char *help, uint64_t &target, uint64_t least,
                         uint64_t most) {
    each(name, value, help, [=, size = std::string(value) == "BYTES", &target](const std::string &given) {
        target = (size ? parse_size : parse_number)(name, given, least, most);
    });
}

void CommandLine::choice(const char *name, const char *help, const std::vector<std::string> &allowed,
                         std::function<void(size_t)> chosen) {
    const std::string value = join(allowed);
    each(name, value.c_str(), help, [=](const std::string &given) {
        auto one = std::find(allowed.begin(), allowed.end(), given);
        if (one == allowed.end())
            throw UsageError(std::string(name) + ": '" + given + "' is not allowed; allowed: " + value);
        chosen(one - allowed.begin());
    });
}

void CommandLine::choice(const char *name, const char *help, unsigned &target, std::vector<unsigned> allowed) {
    std::vector<std::string> names;
    for (unsigned one : allowed)
        names.push_back(std::to_string(one));
    choice(name, help, names, [&target, allowed](size_t i) { target = allowed[i]; });
}

void CommandLine::choice(const char *name, const char *help, std::string &target, std::vector<std::string> allowed) {
    choice(name, help, allowed, [&target, allowed](size_t i) { target = allowed[i]; });
}

void CommandLine::flag(const char *name, const char *help, bool &target) {
    options_.push_back({name, "", help, [&target](const std::string &) { target = true; }});
}

void CommandLine::each(const char *name, const char *value, const char *help,
                       std::function<void(const std::string &)> add) {
    options_.push_back({name, value, help, std::move(add)});
}

void CommandLine::preset(const char *name, const char *value, const char *help,
                         std::function<void(const std::string &)> set) {
    options_.push_back({name, value, help, std::move(set), true});
}

const CommandLine::Option &CommandLine::find(const std::string &name) const {
    for (const Option &option : options_)
        if (option.name == name)
            return option;
    throw UsageError("unknown option '" + name + "'; --help lists all options");
}

bool CommandLine::parse(int argc, char **argv) const {
    std::vector<std::pair<const Option *, std::string>> given;
    for (int i = 1; i < argc; i++) {
        std::string name = argv[i], value;
        if (name == "--help" || name == "-h") {
            print_help();
            return false;
        }
        size_t equals = name.find('=');
        const bool attached = equals != std::string::npos;
        if (attached) {
            value = name.substr(equals + 1);
            name.resize(equals);
        }
        const Option &option = find(name);
        if (option.value.empty() && attached)
            throw UsageError(name + " takes no value");
        if (!option.value.empty() && !attached) {
            if (++i == argc)
                throw UsageError(name + " needs a value: " + option.value);
            value = argv[i];
        }
        given.emplace_back(&option, value);
    }
    std::stable_partition(given.begin(), given.end(), [](const auto &one) { return one.first->preset; });
    for (const auto &[option, value] : given)
        option->set(value);
    for (const auto &check : checks_)
        check();
    return true;
}

void CommandLine::print_help() const {
    printf("%s: %s\n\n", program_.c_str(), purpose_.c_str());
    for (const Option &option : options_)
        printf("  %s %s\n        %s\n", option.name.c_str(), option.value.c_str(), option.help.c_str());
    printf("\nexit status: 0 success, 1 data mismatch or failure, 2 usage error, 3 the card broke a rule of PCI "
           "Express, 4 socket in use\n");
}

// Signals -------------------------------------------------------------------------------------------------------------

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

// Files ---------------------------------------------------------------------------------------------------------------

void write_text_file(const std::string &path, const std::string &text) {
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file)
        throw std::runtime_error("cannot write figures " + path + ": " + strerror(errno));
}

}  // namespace litepcie
