// SPDX-License-Identifier: BSD-2-Clause
/*
 * A module with one fault of each kind that the debug kernel must find:
 * insmod detect.ko fault=NAME.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

static char *fault = "";
module_param(fault, charp, 0);
MODULE_PARM_DESC(fault, "name of the fault");

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);

static void warn(void)
{
	WARN(1, "a deliberate warning\n");
}

static void use_after_free(void)
{
	char *bytes = kmalloc(64, GFP_KERNEL);

	kfree(bytes);
	OPTIMIZER_HIDE_VAR(bytes);
	WRITE_ONCE(bytes[8], 1);
}

static void out_of_bounds(void)
{
	char *bytes = kmalloc(60, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(bytes);
	if (bytes)
		WRITE_ONCE(bytes[60], 1);
	kfree(bytes);
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

static void list(void)
{
	LIST_HEAD(head);
	struct list_head node;

	list_add(&node, &head);
	node.next->prev = &node + 1;
	list_del(&node);
}

static void idle_work(struct work_struct *work)
{
}

static void free_work(void)
{
	struct delayed_work *work = kmalloc(sizeof(*work), GFP_KERNEL);

	if (!work)
		return;
	INIT_DELAYED_WORK(work, idle_work);
	schedule_delayed_work(work, 100 * HZ);
	kfree(work);
	/* The memory stays in KASAN's quarantine; the timer must not run. */
	cancel_delayed_work_sync(work);
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
	{ "warn", warn }, { "use_after_free", use_after_free },
	{ "out_of_bounds", out_of_bounds }, { "atomic_sleep", atomic_sleep },
	{ "leak", leak }, { "list", list }, { "free_work", free_work },
	{ "inversion", inversion },
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
