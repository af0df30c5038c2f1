// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace events of litepcie_trace.h.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#define CREATE_TRACE_POINTS
#include "litepcie_trace.h"
