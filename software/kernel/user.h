/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user's registers and their device, /dev/litepcieN_user.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_USER_H
#define _LITEPCIE_USER_H

#include "driver.h"

/**
 * struct litepcie_mapped - an open file of the user's registers
 * @node: in litepcie_device.user_files
 * @ld: the card
 * @file: the file
 */
struct litepcie_mapped {
	struct list_head node;
	struct litepcie_device *ld;
	struct file *file;
};

/* window.c */
extern const struct vm_operations_struct litepcie_user_vm_ops;
int litepcie_map_pages(struct litepcie_device *ld, struct vm_area_struct *vma,
		       const struct vm_operations_struct *ops,
		       unsigned long page, unsigned long pages);

/* user.c */
int litepcie_user_class_init(void);
void litepcie_user_class_exit(void);
int litepcie_user_publish(struct litepcie_device *ld);
void litepcie_user_unpublish(struct litepcie_device *ld);

#endif /* _LITEPCIE_USER_H */
