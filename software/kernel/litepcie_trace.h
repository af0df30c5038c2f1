/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events: the life of a request, and what the card is told and tells.
 *
 *	submit -> doorbell -> (the card moves data) -> interrupt -> complete
 *
 * An engine that stops or makes no progress gives "stop", then "complete" with an
 * error for the request that it stopped in. Streams have no requests: they give
 * doorbell, interrupt and stop.
 *
 * Names are copied, not referred to: a card may be gone when the buffer is read.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM litepcie

#if !defined(_LITEPCIE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _LITEPCIE_TRACE_H

#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

TRACE_EVENT(litepcie_submit,
	    TP_PROTO(const char *device, bool reader, u32 endpoint, size_t bytes),
	    TP_ARGS(device, reader, endpoint, bytes),
	    TP_STRUCT__entry(__array(char, device, 16)
		__field(bool, reader)
		__field(u32, endpoint)
		__field(size_t, bytes)
	    ),
	    TP_fast_assign(strscpy(__entry->device, device, sizeof(__entry->device));
		__entry->reader = reader;
		__entry->endpoint = endpoint;
		__entry->bytes = bytes;
	    ),
	    TP_printk("%s %s endpoint=0x%x bytes=%zu", __entry->device,
		      __entry->reader ? "reader" : "writer", __entry->endpoint,
		      __entry->bytes)
);

TRACE_EVENT(litepcie_doorbell,
	    TP_PROTO(const char *device, const char *engine, u32 produced, u32 completed),
	    TP_ARGS(device, engine, produced, completed),
	    TP_STRUCT__entry(__array(char, device, 16)
		__array(char, engine, 16)
		__field(u32, produced)
		__field(u32, completed)
	    ),
	    TP_fast_assign(strscpy(__entry->device, device, sizeof(__entry->device));
		strscpy(__entry->engine, engine, sizeof(__entry->engine));
		__entry->produced = produced;
		__entry->completed = completed;
	    ),
	    TP_printk("%s %s produced=%u completed=%u", __entry->device, __entry->engine,
		      __entry->produced, __entry->completed)
);

TRACE_EVENT(litepcie_interrupt,
	    TP_PROTO(const char *device, unsigned int vector),
	    TP_ARGS(device, vector),
	    TP_STRUCT__entry(__array(char, device, 16)
		__field(unsigned int, vector)
	    ),
	    TP_fast_assign(strscpy(__entry->device, device, sizeof(__entry->device));
		__entry->vector = vector;
	    ),
	    TP_printk("%s vector=%u", __entry->device, __entry->vector)
);

TRACE_EVENT(litepcie_complete,
	    TP_PROTO(const char *device, const char *engine, u32 endpoint, size_t bytes,
		     size_t moved, int error),
	    TP_ARGS(device, engine, endpoint, bytes, moved, error),
	    TP_STRUCT__entry(__array(char, device, 16)
		__array(char, engine, 16)
		__field(u32, endpoint)
		__field(size_t, bytes)
		__field(size_t, moved)
		__field(int, error)
	    ),
	    TP_fast_assign(strscpy(__entry->device, device, sizeof(__entry->device));
		strscpy(__entry->engine, engine, sizeof(__entry->engine));
		__entry->endpoint = endpoint;
		__entry->bytes = bytes;
		__entry->moved = moved;
		__entry->error = error;
	    ),
	    TP_printk("%s %s endpoint=0x%x bytes=%zu moved=%zu error=%d", __entry->device,
		      __entry->engine, __entry->endpoint, __entry->bytes,
		      __entry->moved, __entry->error)
);

TRACE_EVENT(litepcie_stop,
	    TP_PROTO(const char *device, const char *engine, u8 reason, u32 bytes),
	    TP_ARGS(device, engine, reason, bytes),
	    TP_STRUCT__entry(__array(char, device, 16)
		__array(char, engine, 16)
		__field(u8, reason)
		__field(u32, bytes)
	    ),
	    TP_fast_assign(strscpy(__entry->device, device, sizeof(__entry->device));
		strscpy(__entry->engine, engine, sizeof(__entry->engine));
		__entry->reason = reason;
		__entry->bytes = bytes;
	    ),
	    TP_printk("%s %s reason=%u bytes=%u", __entry->device, __entry->engine,
		      __entry->reason, __entry->bytes)
);

#endif /* _LITEPCIE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE litepcie_trace
#include <trace/define_trace.h>
