// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Functions of the driver's other files, for suites without a kernel. */
#include "driver.h"
#include "request.h"

unsigned long litepcie_timeout(void)
{
	return 1000;
}

size_t litepcie_file_bytes(void)
{
	return 8 << 20;
}

size_t litepcie_engine_bytes(void)
{
	return 64 << 20;
}

atomic64_t litepcie_copied_bytes;

/* In a series of patches for a kernel tree, streams come last. */
#if __has_include("stream.h")
#include "stream.h"

static struct litepcie_stream_end *stream; /* of the last call */

/* Streams begin before the test, and never again. */
int litepcie_stream_begin(struct litepcie_stream_end *end)
{
	stream = end;
	return litepcie_card_error(end->ld);
}

/* Descriptors come before the doorbell, after which the card may fetch them. */
static bool is_too_early(u32 value, void *place)
{
	return stream && place == stream->regs + LITEPCIE_ENGINE_DOORBELL && value != stream->produced;
}
#else
static bool is_too_early(u32 value, void *place)
{
	(void)value;
	(void)place;
	return false;
}
#endif

void shim_write(u32 value, void *place)
{
	assert(!is_too_early(value, place));
	*(volatile u32 *)place = value;
}

int litepcie_request_map(struct litepcie_engine *engine, struct litepcie_request *req)
{
	(void)engine;
	(void)req;
	return 0;
}

void litepcie_request_unmap(struct litepcie_engine *engine, struct litepcie_request *req)
{
	(void)engine;
	assert(req->complete); /* The caller has not been told yet that it may free the request. */
}

bool litepcie_request_keep(struct litepcie_engine *engine, struct litepcie_request *req)
{
	(void)engine;
	(void)req;
	return false;
}
