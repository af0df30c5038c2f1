/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* info_pci.c: what sysfs and /proc/interrupts have of a card. What is not known is not printed. */
#ifndef LITEPCIE_UTIL_INFO_H
#define LITEPCIE_UTIL_INFO_H

#include "util.h"

void info_pci_text(const struct settings *settings, const struct litepcie_info *info);
void info_pci_json(const struct settings *settings, const struct litepcie_info *info);

#endif /* LITEPCIE_UTIL_INFO_H */
