// SPDX-License-Identifier: GPL-2.0-only
/*
 * The register bank of an engine, of a memory channel or of a stream.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/iopoll.h>
#include <linux/jiffies.h>

#include "driver.h"

/* After an engine that did not end its reset; usually a reset takes microseconds. */
#define LITEPCIE_STUCK_US	10000

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
 * not end, bus mastering of the whole card is switched off, and no other engine
 * is waited for as long.
 *
 * Return: 0 or negative errno. In both cases the engine no longer accesses host
 * memory.
 */
int litepcie_bank_reset(struct litepcie_device *ld, void __iomem *regs, const char *name)
{
	u32 control;
	int ret;

	writel(LITEPCIE_ENGINE_CONTROL_RESET, regs + LITEPCIE_ENGINE_CONTROL);
	ret = readl_poll_timeout(regs + LITEPCIE_ENGINE_CONTROL, control,
				 control == ~0U ||
				 !(control & LITEPCIE_ENGINE_CONTROL_RESET),
				 100, litepcie_patience_us(ld));
	if (!ret && control != ~0U)
		return 0;
	WRITE_ONCE(ld->stuck, true);
	pci_clear_master(ld->pdev);
	dev_err(&ld->dev, "%s %s\n", name,
		ret ? "reset timed out: card disabled" :
		      "registers read as all ones: card is gone");
	return ret ? -EIO : -ENODEV;
}
