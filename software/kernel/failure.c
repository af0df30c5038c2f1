// SPDX-License-Identifier: GPL-2.0-only
/*
 * A card that calls cannot use any more: all of them end, and memory goes back when
 * the card can no longer write to it.
 *
 *	          start                pause
 *	AWAY ---------------> PRESENT -------> AWAY
 *	  ^                    |    |
 *	  |  an engine is stuck|    |a bus error, all ones, another bitstream, unbinding
 *	  |                    v    v
 *	  |             DISABLED    CUT_OFF
 *	  |  pause         |        |  pause, or restart after a bus error
 *	  `----------------+--------'
 *
 * Lock order: that of the PCI device, litepcie_device.events,
 * litepcie_stream_end.use, litepcie_engine.control and litepcie_stream_end.control,
 * card_lock, hostbufs_lock and files_lock, the spinlocks of pools and streams,
 * kept_lock. Files below find a failure with such locks held: litepcie_card_fail()
 * has it handled by a work item.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/delay.h>

#include "driver.h"
#include "interrupt.h"
#include "stream.h"

/**
 * litepcie_quiet() - give back the memory that was kept
 * @ld: the device, which accesses no memory of calls that have ended
 */
void litepcie_quiet(struct litepcie_device *ld)
{
	spin_lock_irq(&ld->kept_lock);
	ld->loud = false;
	spin_unlock_irq(&ld->kept_lock);
	litepcie_kept_free(ld);
	litepcie_streams_kept_free(ld);
}

/* A link that is down carries nothing. */
static bool litepcie_link_is_down(struct pci_dev *pdev)
{
	struct pci_dev *port = pci_upstream_bridge(pdev);
	u32 can = 0;
	u16 link = 0;

	if (!port || pcie_capability_read_dword(port, PCI_EXP_LNKCAP, &can) ||
	    pcie_capability_read_word(port, PCI_EXP_LNKSTA, &link) ||
	    PCI_POSSIBLE_ERROR(can) || PCI_POSSIBLE_ERROR(link))
		return false;
	return can & PCI_EXP_LNKCAP_DLLLARC && !(link & PCI_EXP_LNKSTA_DLLLA);
}

/* Resets the function and restores its state, without bus mastering. */
static bool litepcie_reset_function(struct pci_dev *pdev)
{
	int ret = __pci_reset_function_locked(pdev);

	pci_restore_state(pdev);
	pci_save_state(pdev);
	return !ret;
}

/* Time for a hard block to send the writes that it has (docs/known-limits.md). */
#define LITEPCIE_SETTLE_MS	20

/*
 * Waits until a card whose bus mastering was switched off accesses no memory. If
 * that cannot be seen, the function is reset, unless somebody else is at it, or
 * is about to reset it: then @locked is false and the lock of the PCI device not
 * free. False: the card may still write.
 */
static bool litepcie_silence(struct pci_dev *pdev, bool locked)
{
	u16 command;
	bool quiet;

	if (pci_read_config_word(pdev, PCI_COMMAND, &command) ||
	    PCI_POSSIBLE_ERROR(command))
		return litepcie_link_is_down(pdev);
	if (pci_wait_for_pending_transaction(pdev)) {
		msleep(LITEPCIE_SETTLE_MS);
		return true;
	}
	if (!locked && !device_trylock(&pdev->dev))
		return false;
	quiet = litepcie_reset_function(pdev);
	if (!locked)
		device_unlock(&pdev->dev);
	return quiet;
}

/**
 * litepcie_end_calls() - end all calls of a card that has failed
 * @ld: the device, with bus mastering off; its registers are not accessed
 * @error: negative errno for the calls
 * @locked: the lock of the PCI device is held
 *
 * Memory that the card was given is given back if the card is quiet. Otherwise it
 * stays until the card is quiet or the driver is unbound.
 */
void litepcie_end_calls(struct litepcie_device *ld, int error, bool locked)
{
	struct litepcie_engine *engine;
	bool quiet;

	litepcie_streams_disconnect(ld, error);
	quiet = litepcie_silence(ld->pdev, locked);
	if (quiet)
		litepcie_quiet(ld);
	else
		dev_err(&ld->dev, "the card may still write: memory of its calls is kept\n");
	list_for_each_entry(engine, &ld->all_engines, node)
		litepcie_engine_disconnect(engine, error);
	if (quiet)
		litepcie_hostbufs_disconnect(ld);
}

/**
 * litepcie_cut_off() - let all calls fail
 * @ld: the device, with its mutex events held
 * @card: LITEPCIE_CARD_DISABLED or LITEPCIE_CARD_CUT_OFF
 * @error: negative errno for the calls
 *
 * The one way for bus errors, registers that read as all ones, an engine that does
 * not end its reset, and another bitstream.
 */
void litepcie_cut_off(struct litepcie_device *ld, enum litepcie_card card, int error)
{
	struct litepcie_engine *engine;

	lockdep_assert_held(&ld->events);
	spin_lock_irq(&ld->kept_lock);
	ld->loud = true;
	spin_unlock_irq(&ld->kept_lock);
	/* Whoever waits for a register waits no longer. */
	WRITE_ONCE(ld->stuck, true);
	pci_clear_master(ld->pdev);
	litepcie_card_set(ld, card, error);
	list_for_each_entry(engine, &ld->all_engines, node)
		litepcie_ring_refuse(engine, error);
	litepcie_interrupts_pause(ld, false);
	litepcie_end_calls(ld, error, false);
}

/**
 * litepcie_cut_off_work() - end all calls after litepcie_card_fail()
 * @work: litepcie_device.cut_off
 *
 * A card that is away is looked at when it is back.
 */
void litepcie_cut_off_work(struct work_struct *work)
{
	struct litepcie_device *ld = container_of(work, struct litepcie_device, cut_off);
	int error;

	mutex_lock(&ld->events);
	error = READ_ONCE(ld->failure);
	if (error && ld->card == LITEPCIE_CARD_PRESENT)
		litepcie_cut_off(ld, error == -EIO ? LITEPCIE_CARD_DISABLED :
						     LITEPCIE_CARD_CUT_OFF, error);
	mutex_unlock(&ld->events);
}

/**
 * litepcie_check_work() - ask a card without events whether it is there
 * @work: litepcie_device.check
 */
void litepcie_check_work(struct work_struct *work)
{
	struct litepcie_device *ld =
		container_of(to_delayed_work(work), struct litepcie_device, check);

	down_read(&ld->card_lock);
	if (ld->card == LITEPCIE_CARD_PRESENT && !litepcie_alive(ld)) {
		dev_err(&ld->dev, "registers read as all ones: card is gone\n");
		litepcie_card_fail(ld, -ENODEV);
	}
	up_read(&ld->card_lock);
	if (atomic_read(&ld->sleepers))
		queue_delayed_work(ld->queue, &ld->check, litepcie_timeout());
}
