// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probe and remove.
 *
 * The device node appears when everything works. Remove runs in this order: no
 * new calls, engines stopped, running calls drained, memory freed.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/bitfield.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>

#include "debugfs.h"
#include "driver.h"
#include "interrupt.h"
#include "request.h"
#include "stream.h"
#include "user.h"

/* Maps the registers and reads what the card is. */
static int litepcie_map(struct litepcie_device *ld)
{
	struct pci_dev *pdev = ld->pdev;
	int ret;

	if (!(pci_resource_flags(pdev, 0) & IORESOURCE_MEM) ||
	    pci_resource_len(pdev, 0) < LITEPCIE_REGS_BYTES)
		return dev_err_probe(&pdev->dev, -ENODEV,
				     "no LitePCIe SoC: BAR0 is not memory of at least %#x bytes\n",
				     LITEPCIE_REGS_BYTES);
	ret = pci_enable_device_mem(pdev);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "cannot enable the PCI device\n");
	ret = pci_request_region(pdev, 0, LITEPCIE_NAME);
	if (ret) {
		dev_err_probe(&pdev->dev, ret, "BAR0 is in use by another driver\n");
		goto err_disable;
	}
	/* Not the window: on x86, programs could then not map it write-combined. */
	ld->regs = pci_iomap(pdev, 0, LITEPCIE_REGS_END);
	if (!ld->regs) {
		ret = -ENOMEM;
		goto err_region;
	}
	ret = litepcie_identify(ld, &ld->id);
	if (ret)
		goto err_iounmap;
	if (ld->id.user_bytes) {
		ld->user_regs = pci_iomap_range(pdev, 0, ld->id.user_offset,
						ld->id.user_bytes);
		ret = -ENOMEM;
		if (!ld->user_regs)
			goto err_iounmap;
	}
	return 0;

err_iounmap:
	pci_iounmap(pdev, ld->regs);
err_region:
	pci_release_region(pdev, 0);
err_disable:
	pci_disable_device(pdev);
	return ret;
}

static void litepcie_unmap(struct litepcie_device *ld)
{
	if (ld->user_regs)
		pci_iounmap(ld->pdev, ld->user_regs);
	pci_iounmap(ld->pdev, ld->regs);
	pci_release_region(ld->pdev, 0);
	pci_disable_device(ld->pdev);
}

static void litepcie_free_engines(struct litepcie_device *ld)
{
	struct litepcie_engine *engine;
	unsigned int i;

	for (i = 0; i < LITEPCIE_DIRECTIONS; i++)
		cancel_delayed_work_sync(&ld->pools[i].feed);
	cancel_delayed_work_sync(&ld->check);
	cancel_work_sync(&ld->cut_off);
	litepcie_kept_free(ld);
	list_for_each_entry(engine, &ld->all_engines, node)
		litepcie_engine_free(engine);
	destroy_workqueue(ld->queue);
	litepcie_streams_free(ld);
	litepcie_interrupts_free(ld);
}

static int litepcie_init_engines(struct litepcie_device *ld)
{
	struct device *dma = &ld->pdev->dev;
	unsigned int channels = litepcie_channels(&ld->id);
	unsigned int i;
	int ret;

	ret = litepcie_reset_engines(ld);
	if (ret)
		return ret;
	ret = dma_set_mask_and_coherent(dma, DMA_BIT_MASK(64));
	if (ret)
		return dev_err_probe(dma, ret, "the platform cannot do DMA for this card\n");
	dma_set_max_seg_size(dma, min_t(size_t, SZ_8M, dma_max_mapping_size(dma)));

	ld->queue = alloc_workqueue("%s", WQ_UNBOUND, 0, dev_name(&ld->dev));
	if (!ld->queue)
		return -ENOMEM;
	for (i = 0; i < channels * LITEPCIE_DIRECTIONS; i++) {
		ret = litepcie_engine_init(ld, i / LITEPCIE_DIRECTIONS,
					   i % LITEPCIE_DIRECTIONS,
					   litepcie_watchdog);
		if (ret) {
			litepcie_free_engines(ld);
			return ret;
		}
	}
	ret = litepcie_streams_init(ld);
	if (!ret)
		ret = litepcie_interrupts_init(ld);
	if (ret)
		litepcie_free_engines(ld);
	return ret;
}

static int litepcie_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct litepcie_device *ld;
	int ret;

	ld = litepcie_device_alloc(pdev);
	if (IS_ERR(ld))
		return PTR_ERR(ld);
	ret = litepcie_map(ld);
	if (ret)
		goto err_put;
	ret = litepcie_init_engines(ld);
	if (ret)
		goto err_unmap;
	pci_set_drvdata(pdev, ld);
	ret = litepcie_irq_init(ld);
	if (ret)
		goto err_engines;
	/* Without bus mastering: slot_reset restores this state. */
	pci_save_state(pdev);
	pci_set_master(pdev);
	mutex_lock(&ld->events);
	litepcie_start(ld);
	mutex_unlock(&ld->events);
	ret = litepcie_device_publish(ld);
	if (ret)
		goto err_stop;
	ret = litepcie_streams_publish(ld);
	if (ret)
		goto err_unpublish;
	ret = litepcie_user_publish(ld);
	if (ret)
		goto err_streams;
	ret = litepcie_interrupts_publish(ld);
	if (ret)
		goto err_user;
	litepcie_debugfs_add(ld);
	dev_info(&ld->dev, "%s, gateware %u.%u, %llu bytes of memory\n",
		 ld->id.target,
		 FIELD_GET(LITEPCIE_VERSION_MAJOR_MASK, ld->id.version),
		 FIELD_GET(LITEPCIE_VERSION_MINOR_MASK, ld->id.version),
		 ld->id.memory_bytes);
	litepcie_check_link(ld);
	return 0;

err_user:
	litepcie_user_unpublish(ld);
err_streams:
	litepcie_streams_unpublish(ld);
err_unpublish:
	litepcie_device_unpublish(ld);
err_stop:
	litepcie_stop(ld, -ENODEV);
	litepcie_device_drain(ld);
	pci_clear_master(pdev);
	litepcie_irq_free(ld);
err_engines:
	litepcie_free_engines(ld);
err_unmap:
	litepcie_unmap(ld);
err_put:
	put_device(&ld->dev);
	return ret;
}

static void litepcie_remove(struct pci_dev *pdev)
{
	struct litepcie_device *ld = pci_get_drvdata(pdev);

	litepcie_debugfs_remove(ld);
	litepcie_interrupts_unpublish(ld);
	litepcie_streams_unpublish(ld);
	litepcie_user_unpublish(ld);
	litepcie_device_unpublish(ld);
	litepcie_stop(ld, -ENODEV);
	litepcie_device_drain(ld);
	pci_clear_master(pdev);
	litepcie_irq_free(ld);
	litepcie_free_engines(ld);
	litepcie_unmap(ld);
	put_device(&ld->dev);
}

static void litepcie_shutdown(struct pci_dev *pdev)
{
	struct litepcie_device *ld = pci_get_drvdata(pdev);

	litepcie_stop(ld, -ENODEV);
	pci_clear_master(pdev);
	/* The kernel that a kexec starts finds MSI off. */
	litepcie_irq_free(ld);
}

/* All four numbers must match: vendors use the first two for other designs. */
static const struct pci_device_id litepcie_ids[] = {
	{ PCI_DEVICE_SUB(0x1234, 0x1ce0, 0x1234, 0x1ce0) },	/* simulation */
	{ PCI_DEVICE_SUB(0x10ee, 0x1ce1, 0x1234, 0x1ce0) },	/* Artix-7 */
	{ PCI_DEVICE_SUB(0x10ee, 0x1ce2, 0x1234, 0x1ce0) },	/* Kintex-7 */
	{ PCI_DEVICE_SUB(0x10ee, 0x1ce3, 0x1234, 0x1ce0) },	/* UltraScale */
	{ PCI_DEVICE_SUB(0x10ee, 0x1ce4, 0x1234, 0x1ce0) },	/* UltraScale+ */
	{ PCI_DEVICE_SUB(0x1204, 0x1ce5, 0x1234, 0x1ce0) },	/* ECP5 */
	{ }
};
MODULE_DEVICE_TABLE(pci, litepcie_ids);

static struct pci_driver litepcie_driver = {
	.name = LITEPCIE_NAME,
	.id_table = litepcie_ids,
	.probe = litepcie_probe,
	.remove = litepcie_remove,
	.shutdown = litepcie_shutdown,
	.err_handler = &litepcie_error_handlers,
	.driver.pm = pm_sleep_ptr(&litepcie_pm_ops),
};

static int __init litepcie_init(void)
{
	int ret;

	ret = litepcie_async_init();
	if (ret)
		return ret;
	ret = litepcie_chardev_init();
	if (ret)
		goto err_async;
	ret = litepcie_streams_class_init();
	if (ret)
		goto err_device;
	ret = litepcie_user_class_init();
	if (ret)
		goto err_streams;
	ret = litepcie_interrupts_class_init();
	if (ret)
		goto err_user;
	litepcie_debugfs_init();
	ret = pci_register_driver(&litepcie_driver);
	if (ret)
		goto err_chardev;
	return 0;

err_chardev:
	litepcie_debugfs_exit();
	litepcie_interrupts_class_exit();
err_user:
	litepcie_user_class_exit();
err_streams:
	litepcie_streams_class_exit();
err_device:
	litepcie_chardev_exit();
err_async:
	litepcie_async_exit();
	return ret;
}
module_init(litepcie_init);

static void __exit litepcie_exit(void)
{
	pci_unregister_driver(&litepcie_driver);
	litepcie_debugfs_exit();
	litepcie_interrupts_class_exit();
	litepcie_user_class_exit();
	litepcie_streams_class_exit();
	litepcie_chardev_exit();
	litepcie_async_exit();
}
module_exit(litepcie_exit);

MODULE_AUTHOR("LitePCIe SoC developers");
MODULE_DESCRIPTION("LitePCIe SoC DMA card");
MODULE_LICENSE("GPL");
