// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 LitePCIe SoC developers
/* A module with one fault of each kind that the debug kernel must find: insmod detect.ko fault=NAME. */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static char *fault = "";
module_param(fault, charp, 0);
MODULE_PARM_DESC(fault, "name of the fault");

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);

static void use_after_free(void)
{
	char *bytes = kmalloc(64, GFP_KERNEL);

	kfree(bytes);
	OPTIMIZER_HIDE_VAR(bytes);
	WRITE_ONCE(bytes[8], 1);
}

static void atomic_sleep(void)
{
	spin_lock(&spin);
	mutex_lock(&first);
	mutex_unlock(&first);
	spin_unlock(&spin);
}

/* kmemleak needs several objects, as a pointer may stay in a register or on a stack. */
static void leak(void)
{
	char *lost;
	int i;

	for (i = 0; i < 16; i++) {
		lost = kmalloc(100, GFP_KERNEL);
		OPTIMIZER_HIDE_VAR(lost);
	}
}

static void inversion(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static const struct {
	const char *name;
	void (*run)(void);
} faults[] = {
	{ "use_after_free", use_after_free }, { "atomic_sleep", atomic_sleep },
	{ "leak", leak }, { "inversion", inversion },
};

static int __init detect_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!strcmp(faults[i].name, fault)) {
			faults[i].run();
			return 0;
		}
	}
	return -EINVAL;
}
module_init(detect_init);

static void __exit detect_exit(void)
{
}
module_exit(detect_exit);

MODULE_DESCRIPTION("Faults that the debug kernel must find");
MODULE_LICENSE("Dual BSD/GPL");
