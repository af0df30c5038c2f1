// SPDX-License-Identifier: GPL-2.0-only
/*
 * The register bank of an engine, of a memory channel or of a stream, and how any
 * file says that the card fails.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/iopoll.h>
#include <linux/jiffies.h>

#include "driver.h"

/* After an engine that did not end its reset; usually a reset takes microseconds. */
#define LITEPCIE_STUCK_US	10000

/**
 * litepcie_card_fail() - say that the card does not answer or does not stop
 * @ld: the device
 * @error: -ENODEV: registers read as all ones; -EIO: an engine does not stop
 *
 * Switches bus mastering off at once. litepcie_cut_off_work() ends all calls, so
 * this may be called with any lock of the driver but litepcie_device.kept_lock.
 * Until that work has run, and until the card is known to be quiet, nothing frees
 * memory that the card was given.
 */
void litepcie_card_fail(struct litepcie_device *ld, int error)
{
	unsigned long flags;

	spin_lock_irqsave(&ld->kept_lock, flags);
	ld->loud = true;
	spin_unlock_irqrestore(&ld->kept_lock, flags);
	WRITE_ONCE(ld->stuck, true);
	pci_clear_master(ld->pdev);
	cmpxchg(&ld->failure, 0, error);
	queue_work(ld->queue, &ld->cut_off);
}

/**
 * litepcie_sleeper_add() - a file was opened whose calls wait for the card's events
 * @ld: the device
 *
 * Nothing else accesses a card that has no events, so the driver asks it once per
 * timeout_ms whether it is there.
 */
void litepcie_sleeper_add(struct litepcie_device *ld)
{
	int idx = srcu_read_lock(&ld->gate);

	atomic_inc(&ld->sleepers);
	if (!READ_ONCE(ld->gone))
		queue_delayed_work(ld->queue, &ld->check, litepcie_timeout());
	srcu_read_unlock(&ld->gate, idx);
}

/**
 * litepcie_sleeper_del() - undo litepcie_sleeper_add()
 * @ld: the device
 */
void litepcie_sleeper_del(struct litepcie_device *ld)
{
	atomic_dec(&ld->sleepers);
}

/**
 * litepcie_patience_us() - time to wait for the card to end what it has begun
 * @ld: the device
 *
 * Return: module parameter timeout_ms, in microseconds; less once the card did
 * not end something, so that unbinding waits for that time once and not for each
 * engine and buffer.
 */
u64 litepcie_patience_us(struct litepcie_device *ld)
{
	if (READ_ONCE(ld->stuck))
		return LITEPCIE_STUCK_US;
	return (u64)jiffies_to_msecs(litepcie_timeout()) * USEC_PER_MSEC;
}

/**
 * litepcie_bank_reset() - reset the engine of a register bank, wait until idle
 * @ld: the device
 * @regs: registers of the engine
 * @name: of the engine, for the log
 *
 * Clears the engine's position in the ring and waits until no request of the
 * engine is outstanding. The register read that sees the end of the reset also
 * pushes the engine's last posted writes into host memory. If the reset does
 * not end, litepcie_card_fail() disables the whole card, and no other engine is
 * waited for as long.
 *
 * Return: 0, and the engine no longer accesses host memory; or a negative errno,
 * and it may: whoever waits for the engine leaves its memory to the work.
 */
int litepcie_bank_reset(struct litepcie_device *ld, void __iomem *regs, const char *name)
{
	bool first = !READ_ONCE(ld->stuck);
	u32 control;
	int ret;

	writel(LITEPCIE_ENGINE_CONTROL_RESET, regs + LITEPCIE_ENGINE_CONTROL);
	/* Another engine may be found stuck meanwhile: two are not waited for. */
	ret = readl_poll_timeout(regs + LITEPCIE_ENGINE_CONTROL, control,
				 control == ~0U ||
				 !(control & LITEPCIE_ENGINE_CONTROL_RESET) ||
				 (first && READ_ONCE(ld->stuck)),
				 100, litepcie_patience_us(ld));
	if (!ret && control != ~0U && !(control & LITEPCIE_ENGINE_CONTROL_RESET))
		return 0;
	ret = control == ~0U ? -ENODEV : -EIO;
	dev_err(&ld->dev, "%s %s\n", name,
		ret == -EIO ? "reset timed out: card disabled" :
			      "registers read as all ones: card is gone");
	litepcie_card_fail(ld, ret);
	return ret;
}
