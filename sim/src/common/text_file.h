// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
#pragma once

#include <string>

namespace litepcie {

// Writes a file of figures. Throws std::runtime_error, which names the file, if it cannot be written.
void write_text_file(const std::string &path, const std::string &text);

}  // namespace litepcie
