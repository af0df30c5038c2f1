// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include "common/program.h"
#include "programs/litepcie_host/host_driver.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

// Helpers for JSON: numbers, hexadecimal bytes, comparisons, output files.
namespace litepcie {

// The value of `key`: a number, or a string that holds a number.
inline uint64_t number(const nlohmann::json &object, const char *key) {
    const auto &value = object.at(key);
    return value.is_string() ? parse_number(key, value.get<std::string>(), 0, UINT64_MAX) : value.get<uint64_t>();
}

inline uint64_t number(const nlohmann::json &object, const char *key, uint64_t otherwise) {
    return object.contains(key) ? number(object, key) : otherwise;
}

inline std::vector<uint8_t> from_hex(const std::string &text) {
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < text.size(); i += 2)
        bytes.push_back(parse_number("hex", "0x" + text.substr(i, 2), 0, 255));
    return bytes;
}

inline std::string to_hex(const std::vector<uint8_t> &bytes) {
    std::string text;
    char two[3];
    for (uint8_t byte : bytes) {
        snprintf(two, sizeof(two), "%02x", byte);
        text += two;
    }
    return text;
}

template <typename Is, typename Must> void expect(const std::string &what, const Is &is, const Must &must) {
    if (is == must)
        return;
    std::ostringstream text;
    text << what << " is " << is << ", not " << must;
    throw HostError(text.str());
}

inline void expect(const std::string &what, uint8_t is, unsigned must) { expect(what, unsigned(is), must); }

inline void write_json_file(const std::string &path, const nlohmann::json &json) {
    std::ofstream file(path);
    file << json.dump(2) << "\n";
    file.close();
    if (!file)
        throw std::runtime_error("cannot write " + path + ": " + strerror(errno));
}

}  // namespace litepcie
