// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "command_line.h"

#include "faults.h"
#include "model_options.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace litepcie {

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

void CommandLine::text(const char *name, const char *value, const char *help, std::string &target) {
    each(name, value, help, [name, &target](const std::string &given) {
        if (given.empty())
            throw UsageError(std::string(name) + ": empty");
        target = given;
    });
}

void CommandLine::number(const char *name, const char *value, const char *help, uint64_t &target, uint64_t least,
                         uint64_t most) {
    each(name, value, help,
         [=, &target](const std::string &given) { target = parse_number(name, given, least, most); });
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

const CommandLine::Option &CommandLine::find(const std::string &name) const {
    for (const Option &option : options_)
        if (option.name == name)
            return option;
    throw UsageError("unknown option '" + name + "'; --help lists them");
}

bool CommandLine::parse(int argc, char **argv) const {
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
        option.set(value);
    }
    for (const auto &check : checks_)
        check();
    return true;
}

void CommandLine::print_help() const {
    printf("%s: %s\n\n", program_.c_str(), purpose_.c_str());
    for (const Option &option : options_)
        printf("  %s %s\n        %s\n", option.name.c_str(), option.value.c_str(), option.help.c_str());
    printf("\nexit status: 0 done, 1 data mismatch or failure, 2 usage, 3 the card broke a rule of PCI Express, 4 "
           "socket in use\n");
}

void add_model_options(CommandLine &line, ModelOptions &o) {
    constexpr uint64_t kSecond = 1000000000;
    line.choice("--mps-supported", "largest payload the card announces, bytes (512)", o.mps_supported,
                {128, 256, 512, 1024, 2048, 4096});
    line.choice<bool>("--extended-tag", "the card offers extended tags, and the host enables them: tags above 31 (on)",
                      o.extended_tag, {{"on", true}, {"off", false}});
    line.number("--latency-ns", "NS", "host: read request to first completion (1000)", o.latency_ns, 0, kSecond);
    line.number("--latency-jitter-ns", "NS", "host: uniform addition to it (0)", o.latency_jitter_ns, 0, kSecond);
    line.number("--latency-outlier-ns", "NS", "host: addition to it for a request now and then (0)",
                o.latency_outlier_ns, 0, kSecond);
    line.number("--latency-outlier-every", "N", "one such request in so many (1000)", o.latency_outlier_every, 1,
                kSecond);
    line.choice("--rcb", "read completion boundary, bytes (64)", o.rcb, {64, 128});
    line.choice("--completion-bytes", "0: completions up to MPS; 64, 128: so many bytes each (0)", o.completion_bytes,
                {0, 64, 128});
    line.check([&o] {
        if (o.completion_bytes && o.completion_bytes < o.rcb)
            throw UsageError("--completion-bytes 64 with --rcb 128: completions end at multiples of 128 bytes");
    });
    line.number("--seed", "N", "of latency jitter and order (1)", o.seed, 0, UINT64_MAX);
    line.flag("--reorder", "completions of different requests overtake each other", o.reorder);
    line.choice<UpdateFc>("--update-fc",
                          "credits come back at the recommended interval, or as seldom as they may (guideline)",
                          o.update_fc, {{"guideline", UpdateFc::Guideline}, {"minimum", UpdateFc::Minimum}});
    line.number("--lcrc-every", "N", "every N-th TLP of each direction arrives damaged and is replayed; 0: none (0)",
                o.lcrc_every, 0, kSecond);
    line.flag("--iommu", "report every access outside a live mapping", o.iommu);
    line.each("--inject", "FAULT@N", "on the N-th completion: ur, ca, poison, drop, short, duplicate, late; repeatable",
              [&o](const std::string &fault) {
                  try {
                      FaultInjector().add(fault);
                  } catch (const std::invalid_argument &error) {
                      throw UsageError(std::string("--inject: ") + error.what());
                  }
                  o.faults.push_back(fault);
              });
    line.text("--stats", "FILE", "write figures as JSON", o.stats);
    line.text("--trace", "FILE", "write one line for each TLP", o.trace);
}

}  // namespace litepcie
