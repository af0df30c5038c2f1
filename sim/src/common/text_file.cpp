// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#include "common/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace litepcie {

void write_text_file(const std::string &path, const std::string &text) {
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file)
        throw std::runtime_error("cannot write figures " + path + ": " + strerror(errno));
}

}  // namespace litepcie
