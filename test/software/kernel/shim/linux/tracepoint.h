/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace events without a kernel: calls that do nothing.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef LITEPCIE_SHIM_TRACEPOINT_H
#define LITEPCIE_SHIM_TRACEPOINT_H

#define TP_PROTO(...) __VA_ARGS__
#define TRACE_EVENT(name, proto, ...) \
	static inline void trace_##name(proto) \
	{ \
	} \
	struct name##_is_an_event

#endif
