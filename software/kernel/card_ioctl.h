/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Structures and functions of the ioctls of /dev/litepcieN.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_CARD_IOCTL_H
#define _LITEPCIE_CARD_IOCTL_H

#include <linux/litepcie.h>
#include <linux/litepcie_hostbuf.h>

struct litepcie_device;

/* The kernel's copy of a structure. */
union litepcie_argument {
	struct {
		__u32 size;
		__u32 flags;
	};
	struct litepcie_info info;
	struct litepcie_counters counters;
	struct litepcie_errors errors;
	struct litepcie_scratch scratch;
	struct litepcie_reset reset;
	struct litepcie_cancel cancel;
	struct litepcie_dmabuf_attach attach;
	struct litepcie_dmabuf_detach detach;
	struct litepcie_dmabuf_move move;
	struct litepcie_dmabuf_wait wait;
	struct litepcie_hostbuf_create create;
	struct litepcie_hostbuf_destroy destroy;
};

/* card_ioctl.c: those that need the card */
int litepcie_ioctl_info(struct litepcie_device *ld, union litepcie_argument *arg);
int litepcie_ioctl_counters(struct litepcie_device *ld, union litepcie_argument *arg);
int litepcie_ioctl_errors(struct litepcie_device *ld, union litepcie_argument *arg);
int litepcie_ioctl_scratch(struct litepcie_device *ld, union litepcie_argument *arg);
int litepcie_ioctl_reset(struct litepcie_device *ld, union litepcie_argument *arg);

#endif /* _LITEPCIE_CARD_IOCTL_H */
