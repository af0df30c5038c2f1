/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happened to a direction of a stream.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_STREAM_COUNTERS_H
#define _LITEPCIE_STREAM_COUNTERS_H

#include <linux/types.h>

/**
 * struct litepcie_stream_counters - what happened since the driver was bound
 * @bytes: bytes moved
 * @packets: packet ends moved
 * @overruns: times all buffers of a writer were full
 * @underruns: times the ring of a reader was empty in the middle of a packet
 * @waits: calls that waited, or returned -EAGAIN
 * @lost_bytes: bytes that no one read or got, in buffers or in the card's RAM
 * @cuts: errors, resets and closes that lost data or cut a packet
 */
struct litepcie_stream_counters {
	u64 bytes;
	u64 packets;
	u64 overruns;
	u64 underruns;
	u64 waits;
	u64 lost_bytes;
	u64 cuts;
};

#endif /* _LITEPCIE_STREAM_COUNTERS_H */
