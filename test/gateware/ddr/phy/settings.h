// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
//
// Settings of a run, and the complaints of its models.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

// Settings are lines of a name and its values.
class Settings {
  public:
    explicit Settings(const char *path) {
        std::ifstream file(path);
        for (std::string line, name; std::getline(file, line);) {
            std::istringstream words(line);
            words >> name;
            for (double value; words >> value;)
                values[name].push_back(value);
        }
    }
    double one(const std::string &name) const { return of(name, 0); }
    double of(const std::string &name, unsigned n) const {
        const auto found = values.find(name);
        if (found == values.end() || n >= found->second.size()) {
            std::printf("no setting %s %u\n", name.c_str(), n);
            std::exit(2);
        }
        return found->second[n];
    }

  private:
    std::map<std::string, std::vector<double>> values;
};

// Violations of the limits of the chips or the cells; each is listed once.
inline std::vector<std::string> complaints;

inline void complain(const std::string &what) {
    for (const auto &known : complaints)
        if (known == what)
            return;
    complaints.push_back(what);
}
