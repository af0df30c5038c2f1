// SPDX-License-Identifier: GPL-2.0-only
/*
 * The card as a whole: what calls may do with it, failures, suspend, resets and bus
 * errors.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/delay.h>
#include <linux/iopoll.h>
#include <linux/jiffies.h>
#include <linux/pm.h>
#include <linux/string.h>

#include "driver.h"
#include "stream.h"

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
 */

/**
 * litepcie_card_set() - say whether the card is there
 * @ld: the device, with its mutex events held
 * @card: the new state
 * @error: negative errno of calls in the states DISABLED and CUT_OFF
 *
 * Unless the card is PRESENT, no program can access a mapping after the
 * return.
 */
static void litepcie_card_set(struct litepcie_device *ld, enum litepcie_card card,
			      int error)
{
	struct litepcie_mapped *lm;
	struct litepcie_file *lf;

	lockdep_assert_held(&ld->events);
	down_write(&ld->card_lock);
	if (error)
		WRITE_ONCE(ld->card_error, error);
	WRITE_ONCE(ld->card, card);
	up_write(&ld->card_lock);
	wake_up_all(&ld->card_change);
	if (card == LITEPCIE_CARD_PRESENT)
		return;
	mutex_lock(&ld->files_lock);
	list_for_each_entry(lf, &ld->files, node)
		unmap_mapping_range(lf->file->f_mapping, 0, 0, 1);
	list_for_each_entry(lm, &ld->user_files, node)
		unmap_mapping_range(lm->file->f_mapping, 0, 0, 1);
	mutex_unlock(&ld->files_lock);
}

/**
 * litepcie_quiet() - give back the memory that was kept
 * @ld: the device, which accesses no memory of calls that have ended
 */
static void litepcie_quiet(struct litepcie_device *ld)
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
static void litepcie_end_calls(struct litepcie_device *ld, int error, bool locked)
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
static void litepcie_cut_off(struct litepcie_device *ld, enum litepcie_card card, int error)
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

/* The card as a whole: start, stop, suspend, resume, reset, bus errors. */

/**
 * litepcie_reset_engines() - reset every engine that the card has
 * @ld: the device; no engine is RUNNING
 *
 * Another driver, or the one before a kexec, may have left any channel or
 * stream enabled. Called before bus mastering is switched on.
 *
 * Return: 0 or negative errno.
 */
int litepcie_reset_engines(struct litepcie_device *ld)
{
	u64 timeout_us = (u64)jiffies_to_msecs(litepcie_timeout()) * USEC_PER_MSEC;
	u32 control;
	int ret;

	writel(LITEPCIE_CONTROL_RESET, ld->regs + LITEPCIE_CONTROL);
	/* Reads as 1 until no engine has a request outstanding. */
	ret = readl_poll_timeout(ld->regs + LITEPCIE_CONTROL, control,
				 control == ~0U ||
				 !(control & LITEPCIE_CONTROL_RESET),
				 100, timeout_us);
	if (!ret && control != ~0U) {
		WRITE_ONCE(ld->stuck, false);
		return 0;
	}
	dev_err(&ld->pdev->dev, "engines %s\n",
		ret ? "did not end their reset" :
		      "read as all ones: card is gone");
	return ret ? -EIO : -ENODEV;
}

/**
 * litepcie_start() - reset all engines and run their requests, in any state
 * @ld: the device
 */
void litepcie_start(struct litepcie_device *ld)
{
	struct litepcie_engine *engine;

	list_for_each_entry(engine, &ld->all_engines, node)
		litepcie_engine_start(engine);
	litepcie_interrupts_start(ld);
	litepcie_hostbufs_give(ld);
	litepcie_card_set(ld, LITEPCIE_CARD_PRESENT, 0);
	litepcie_streams_resume(ld);
}

/*
 * Before a reset or a suspend. Bus mastering stays off, also in the state that
 * the PCI core saves and restores, until the card is known to be the same.
 */
static void litepcie_pause(struct litepcie_device *ld)
{
	struct litepcie_engine *engine;
	bool answers;

	mutex_lock(&ld->events);
	answers = ld->card == LITEPCIE_CARD_PRESENT;
	litepcie_card_set(ld, LITEPCIE_CARD_AWAY, 0);
	/* Of a card that was cut off, all calls have ended. */
	if (answers) {
		list_for_each_entry(engine, &ld->all_engines, node)
			litepcie_engine_pause(engine);
		litepcie_streams_pause(ld);
		litepcie_interrupts_pause(ld, true);
		litepcie_hostbufs_take(ld);
	}
	pci_clear_master(ld->pdev);
	mutex_unlock(&ld->events);
}

/**
 * litepcie_stop() - reset all engines, end all calls, refuse new ones
 * @ld: the device, with the lock of its PCI device held
 * @error: negative errno for the calls
 */
void litepcie_stop(struct litepcie_device *ld, int error)
{
	struct litepcie_engine *engine;
	bool answers;

	mutex_lock(&ld->events);
	answers = ld->card == LITEPCIE_CARD_PRESENT;
	litepcie_card_set(ld, LITEPCIE_CARD_CUT_OFF, error);
	if (answers) {
		list_for_each_entry(engine, &ld->all_engines, node)
			litepcie_engine_halt(engine);
		litepcie_streams_stop(ld, error);
		litepcie_hostbufs_take(ld);
	} else {
		litepcie_streams_disconnect(ld, error);
	}
	litepcie_interrupts_pause(ld, answers);
	if (READ_ONCE(ld->loud))
		litepcie_end_calls(ld, error, true);
	else
		list_for_each_entry(engine, &ld->all_engines, node)
			litepcie_engine_disconnect(engine, error);
	mutex_unlock(&ld->events);
}

/* Value of SCRATCH during a suspend; a reset or a loss of power clears it. */
#define LITEPCIE_SUSPEND_MARK	0x5055534c

static int litepcie_suspend(struct device *dev)
{
	struct litepcie_device *ld = dev_get_drvdata(dev);

	litepcie_pause(ld);
	ld->scratch = readl(ld->regs + LITEPCIE_SCRATCH);
	writel(LITEPCIE_SUSPEND_MARK, ld->regs + LITEPCIE_SCRATCH);
	return 0;
}

/*
 * Is the card the same as before the reset? An FPGA that lost power boots from
 * its flash, which may contain another design than the one that was loaded.
 */
static bool litepcie_unchanged(struct litepcie_device *ld)
{
	struct litepcie_identity now;

	if (!litepcie_alive(ld))
		dev_err(&ld->dev, "no LitePCIe SoC answers after the reset\n");
	else if (litepcie_identify(ld, &now) ||
		 memcmp(&now, &ld->id, sizeof(now)))
		dev_err(&ld->dev, "another bitstream after the reset: unbind and bind the driver\n");
	else
		return true;
	return false;
}

/* After a reset of the card: configure it and run the requests that waited. */
static void litepcie_restart(struct pci_dev *pdev)
{
	struct litepcie_device *ld = pci_get_drvdata(pdev);
	int ret = -ENODEV;

	mutex_lock(&ld->events);
	WRITE_ONCE(ld->failure, 0);
	if (litepcie_unchanged(ld))
		ret = litepcie_reset_engines(ld);
	if (ret) {
		litepcie_cut_off(ld, ret == -EIO ? LITEPCIE_CARD_DISABLED :
						   LITEPCIE_CARD_CUT_OFF, ret);
	} else {
		litepcie_quiet(ld);
		/* Restoring the state has used it up; slot_reset needs one. */
		pci_save_state(pdev);
		pci_set_master(pdev);
		litepcie_start(ld);
		litepcie_check_link(ld);
	}
	mutex_unlock(&ld->events);
}

/*
 * A platform may cut the power of a slot during a suspend (D3cold), and block
 * RAM and DDR then lose what they had. The driver does not save it.
 */
static int litepcie_resume(struct device *dev)
{
	struct litepcie_device *ld = dev_get_drvdata(dev);

	if (readl(ld->regs + LITEPCIE_SCRATCH) == LITEPCIE_SUSPEND_MARK) {
		writel(ld->scratch, ld->regs + LITEPCIE_SCRATCH);
	} else {
		atomic_inc(&ld->memory_losses);
		dev_warn(dev, "card was reset or without power during the suspend: its memory may be lost\n");
	}
	litepcie_restart(to_pci_dev(dev));
	return 0;
}

static void litepcie_reset_prepare(struct pci_dev *pdev)
{
	litepcie_pause(pci_get_drvdata(pdev));
}

static pci_ers_result_t litepcie_error_detected(struct pci_dev *pdev,
						pci_channel_state_t state)
{
	struct litepcie_device *ld = pci_get_drvdata(pdev);
	bool frozen = state == pci_channel_io_frozen;

	if (state == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	mutex_lock(&ld->events);
	litepcie_cut_off(ld, LITEPCIE_CARD_CUT_OFF, frozen ? -EIO : -ENODEV);
	mutex_unlock(&ld->events);
	return frozen ? PCI_ERS_RESULT_NEED_RESET : PCI_ERS_RESULT_DISCONNECT;
}

/*
 * Other functions may still be cut off: engines run again in resume only. After an
 * error that is not fatal this is called if another driver below the port has asked
 * for a reset. The reset may have been done, so no register tells the state of the
 * card before: its calls end here.
 */
static pci_ers_result_t litepcie_slot_reset(struct pci_dev *pdev)
{
	struct litepcie_device *ld = pci_get_drvdata(pdev);
	bool alive;

	mutex_lock(&ld->events);
	if (ld->card == LITEPCIE_CARD_PRESENT)
		litepcie_cut_off(ld, LITEPCIE_CARD_CUT_OFF, -EIO);
	pci_restore_state(pdev);
	pci_save_state(pdev);
	alive = litepcie_alive(ld);
	mutex_unlock(&ld->events);
	return alive ? PCI_ERS_RESULT_RECOVERED : PCI_ERS_RESULT_DISCONNECT;
}

/* Also called after an error that stopped nothing. */
static void litepcie_error_resume(struct pci_dev *pdev)
{
	struct litepcie_device *ld = pci_get_drvdata(pdev);

	if (READ_ONCE(ld->card) != LITEPCIE_CARD_PRESENT)
		litepcie_restart(pdev);
}

/* Called by the PCI core on a bus error and around a reset of the card. */
const struct pci_error_handlers litepcie_error_handlers = {
	.error_detected = litepcie_error_detected,
	.slot_reset = litepcie_slot_reset,
	.resume = litepcie_error_resume,
	.reset_prepare = litepcie_reset_prepare,
	.reset_done = litepcie_restart,
};

/* Requests wait from suspend to resume. */
DEFINE_SIMPLE_DEV_PM_OPS(litepcie_pm_ops, litepcie_suspend, litepcie_resume);
