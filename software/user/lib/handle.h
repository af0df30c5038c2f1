/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The opaque handle. Not written after litepcie_open(), so threads may share it. */
#ifndef LITEPCIE_HANDLE_H
#define LITEPCIE_HANDLE_H

#include "liblitepcie.h"

struct litepcie {
	int fd;
};

#endif /* LITEPCIE_HANDLE_H */
