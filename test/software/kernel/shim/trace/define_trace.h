/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* The events of linux/tracepoint.h need no definition. */
