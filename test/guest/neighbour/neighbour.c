// SPDX-License-Identifier: GPL-2.0-only
/*
 * Driver of another function below the card's port (QEMU's "edu"): what it votes for
 * decides what the kernel does about a bus error.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/module.h>
#include <linux/pci.h>

static bool reset;
module_param(reset, bool, 0644);
MODULE_PARM_DESC(reset, "ask for a reset after an error that is not fatal");

static int neighbour_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return 0;
}

static pci_ers_result_t neighbour_error_detected(struct pci_dev *pdev,
						 pci_channel_state_t state)
{
	if (state == pci_channel_io_normal && !reset)
		return PCI_ERS_RESULT_CAN_RECOVER;
	return PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t neighbour_slot_reset(struct pci_dev *pdev)
{
	return PCI_ERS_RESULT_RECOVERED;
}

static const struct pci_error_handlers neighbour_error_handlers = {
	.error_detected = neighbour_error_detected,
	.slot_reset = neighbour_slot_reset,
};

static const struct pci_device_id neighbour_ids[] = {
	{ PCI_DEVICE(0x1234, 0x11e8) },
	{ }
};
MODULE_DEVICE_TABLE(pci, neighbour_ids);

static struct pci_driver neighbour_driver = {
	.name = "neighbour",
	.id_table = neighbour_ids,
	.probe = neighbour_probe,
	.err_handler = &neighbour_error_handlers,
};
module_pci_driver(neighbour_driver);

MODULE_DESCRIPTION("Neighbour of the card, for tests");
MODULE_LICENSE("GPL");
