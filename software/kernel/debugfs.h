/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of the driver for debugging.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_DEBUGFS_H
#define _LITEPCIE_DEBUGFS_H

struct litepcie_device;

#ifdef CONFIG_DEBUG_FS
void litepcie_debugfs_init(void);
void litepcie_debugfs_exit(void);
void litepcie_debugfs_add(struct litepcie_device *ld);
void litepcie_debugfs_remove(struct litepcie_device *ld);
#else
static inline void litepcie_debugfs_init(void) { }
static inline void litepcie_debugfs_exit(void) { }
static inline void litepcie_debugfs_add(struct litepcie_device *ld) { }
static inline void litepcie_debugfs_remove(struct litepcie_device *ld) { }
#endif

#endif /* _LITEPCIE_DEBUGFS_H */
