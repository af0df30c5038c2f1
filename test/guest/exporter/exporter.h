/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 LitePCIe SoC developers */
/* /dev/exporter of the guest's tests: makes dma-bufs of single pages. */
#ifndef LITEPCIE_TEST_EXPORTER_H
#define LITEPCIE_TEST_EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define EXPORTER_SCATTERED	1	/* no two pages follow each other */
#define EXPORTER_NO_ATTACH	2	/* refuses devices with EPERM */
#define EXPORTER_NO_MAP		4	/* fails to map with EIO */
#define EXPORTER_SHORT		8	/* maps the first page only */
#define EXPORTER_FENCE		16	/* has a fence until EXPORTER_SIGNAL */
#define EXPORTER_SLOW		32	/* takes half a second to map */

struct exporter_new {
	__u32 pages;
	__u32 flags;
	__s32 fd;			/* out */
	__u32 reserved;
};

#define EXPORTER_NEW	_IOWR('x', 0, struct exporter_new)
#define EXPORTER_SIGNAL	_IO('x', 1)	/* the last fence */

#endif
