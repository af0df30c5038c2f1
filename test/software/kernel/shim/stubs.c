// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* Functions of the driver's other files, for suites without a kernel. */
#include "driver.h"
#include "request.h"
#include "stream.h"

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

static struct litepcie_stream_end *stream; /* of the last call */

/* Streams begin before the test, and never again. */
int litepcie_stream_begin(struct litepcie_stream_end *end)
{
	stream = end;
	return litepcie_card_error(end->ld);
}

void shim_write(u32 value, void *place)
{
	/* Descriptors come before the doorbell, after which the card may fetch them. */
	assert(!stream || place != stream->regs + LITEPCIE_ENGINE_DOORBELL || value == stream->produced);
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
