/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupts of the user's logic and their devices, /dev/litepcieN_interruptM.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#ifndef _LITEPCIE_INTERRUPT_H
#define _LITEPCIE_INTERRUPT_H

#include "driver.h"

/**
 * struct litepcie_interrupt - an interrupt of the user's logic
 * @dev: its reference count frees this structure, and holds the card's
 * @cdev: /dev/litepcieN_interruptM
 * @ld: the card
 * @number: M
 * @wait: woken when @count or @losses grows, and when the card is lost
 * @count: messages that came
 * @losses: resets and suspends, in which events may have been lost
 * @users: files that are open, protected by litepcie_device.files_lock
 *
 * litepcie_device.interrupt_lock protects @count and @losses, and the card's
 * registers ARM and DISARM together with litepcie_device.armed.
 */
struct litepcie_interrupt {
	struct device dev;
	struct cdev cdev;
	struct litepcie_device *ld;
	unsigned int number;
	wait_queue_head_t wait;
	u32 count;
	u32 losses;
	unsigned int users;
};

/* interrupt_file.c: the hardware, and system calls */
extern const struct file_operations litepcie_interrupt_fops;
void litepcie_interrupts_start(struct litepcie_device *ld);
void litepcie_interrupts_pause(struct litepcie_device *ld, bool answers);
void litepcie_interrupts_wake(struct litepcie_device *ld);
void litepcie_interrupts_message(struct litepcie_device *ld, unsigned int vector);

/* interrupt.c: devices and attributes */
int litepcie_interrupts_class_init(void);
void litepcie_interrupts_class_exit(void);
int litepcie_interrupts_init(struct litepcie_device *ld);
void litepcie_interrupts_free(struct litepcie_device *ld);
int litepcie_interrupts_publish(struct litepcie_device *ld);
void litepcie_interrupts_unpublish(struct litepcie_device *ld);

#endif /* _LITEPCIE_INTERRUPT_H */
