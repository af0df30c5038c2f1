// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts of a card.
 *
 * Each engine and each interrupt of the user's logic has a vector of its own if
 * the card has MSI-X, or the machine grants as many MSI. With fewer vectors,
 * engines share them: an engine has vector n modulo the number of vectors, with
 * n = 2 * channel + direction. All interrupts of the user's logic then share the
 * last vector. For engines, the handler reads only the status blocks in host
 * memory.
 *
 * Copyright (c) 2026 LitePCIe SoC developers
 */
#include <linux/interrupt.h>
#include <linux/sched.h>

#include "driver.h"
#include "litepcie_trace.h"
#include "stream.h"

/* Requests that the handler ends at most; its thread ends the others. */
#define LITEPCIE_IRQ_REQUESTS	64

/* Ends complete requests of the engines that have this vector; true: some are left. */
static bool litepcie_vector_poll(struct litepcie_vector *vector)
{
	struct litepcie_engine *engine;
	bool more = false;

	list_for_each_entry(engine, &vector->ld->all_engines, node)
		if (engine->vector == vector->number)
			more |= litepcie_ring_poll(engine, LITEPCIE_IRQ_REQUESTS);
	return more;
}

/*
 * Polls the engines that have this vector. An MSI is never shared with other
 * devices, so it is always handled: if there is no work, an earlier interrupt
 * has done it. What may take long is left to the thread: many requests, and the
 * register that tells which of the user's interrupts came.
 */
static irqreturn_t litepcie_interrupt(int irq, void *cookie)
{
	struct litepcie_vector *vector = cookie;
	struct litepcie_device *ld = vector->ld;
	bool user = ld->id.interrupts && vector->number >= ld->interrupt_vector;
	bool more;

	trace_litepcie_interrupt(dev_name(&ld->dev), vector->number);
	if (user && ld->interrupts_split)
		litepcie_interrupts_message(ld, vector->number);
	more = litepcie_vector_poll(vector);
	litepcie_streams_poll(ld, vector->number);
	if (user && !ld->interrupts_split && READ_ONCE(ld->armed))
		more = true;
	return more ? IRQ_WAKE_THREAD : IRQ_HANDLED;
}

static irqreturn_t litepcie_interrupt_thread(int irq, void *cookie)
{
	struct litepcie_vector *vector = cookie;
	struct litepcie_device *ld = vector->ld;

	if (ld->id.interrupts && vector->number >= ld->interrupt_vector &&
	    !ld->interrupts_split)
		litepcie_interrupts_message(ld, vector->number);
	while (litepcie_vector_poll(vector))
		cond_resched();
	return IRQ_HANDLED;
}

static unsigned int litepcie_irq_engines(struct litepcie_device *ld)
{
	return (litepcie_channels(&ld->id) + ld->id.streams) * LITEPCIE_DIRECTIONS;
}

/* The most vectors that the card can use. */
static unsigned int litepcie_irq_wanted(struct litepcie_device *ld)
{
	if (!litepcie_has_interrupt(&ld->id))
		return 1;
	return litepcie_irq_engines(ld) + ld->id.interrupts;
}

static int litepcie_irq_request(struct litepcie_vector *vector, bool only)
{
	struct litepcie_device *ld = vector->ld;
	const char *name = dev_name(&ld->dev);
	struct pci_dev *pdev = ld->pdev;
	unsigned int user = vector->number - ld->interrupt_vector;

	if (only)
		return pci_request_irq(pdev, 0, litepcie_interrupt,
				       litepcie_interrupt_thread, vector, "%s", name);
	if (ld->interrupts_split && vector->number >= ld->interrupt_vector)
		return pci_request_irq(pdev, vector->number, litepcie_interrupt,
				       litepcie_interrupt_thread, vector, "%s-%s", name,
				       ld->id.interrupt_names[user]);
	return pci_request_irq(pdev, vector->number, litepcie_interrupt,
			       litepcie_interrupt_thread, vector, "%s-%u", name,
			       vector->number);
}

/**
 * litepcie_irq_init() - get the interrupts of a card
 * @ld: the device, its engines initialised and not enabled
 *
 * Return: 0 or negative errno.
 */
int litepcie_irq_init(struct litepcie_device *ld)
{
	struct litepcie_stream_end *end;
	struct litepcie_engine *engine;
	int count, ret;

	count = pci_alloc_irq_vectors(ld->pdev, 1, litepcie_irq_wanted(ld),
				      PCI_IRQ_MSIX | PCI_IRQ_MSI);
	if (count < 0)
		return dev_err_probe(&ld->pdev->dev, count,
				     "no MSI-X and no MSI, which are the card's only interrupts\n");
	ld->interrupts_split = count == litepcie_irq_wanted(ld);
	ld->interrupt_vector = ld->interrupts_split ? litepcie_irq_engines(ld) : count - 1;
	list_for_each_entry(engine, &ld->all_engines, node)
		engine->vector = (LITEPCIE_DIRECTIONS * engine->channel +
				  engine->direction) % count;
	list_for_each_entry(end, &ld->stream_ends, node)
		end->vector = (LITEPCIE_DIRECTIONS * end->channel + end->direction) % count;
	for (ld->nr_vectors = 0; ld->nr_vectors < count; ld->nr_vectors++) {
		struct litepcie_vector *vector = &ld->vectors[ld->nr_vectors];

		vector->ld = ld;
		vector->number = ld->nr_vectors;
		ret = litepcie_irq_request(vector, count == 1);
		if (ret) {
			dev_err_probe(&ld->pdev->dev, ret,
				      "cannot request interrupt %u\n", vector->number);
			litepcie_irq_free(ld);
			return ret;
		}
	}
	return 0;
}

/**
 * litepcie_irq_free() - undo litepcie_irq_init()
 * @ld: the device, its engines stopped
 */
void litepcie_irq_free(struct litepcie_device *ld)
{
	while (ld->nr_vectors--)
		pci_free_irq(ld->pdev, ld->nr_vectors, &ld->vectors[ld->nr_vectors]);
	ld->nr_vectors = 0;
	pci_free_irq_vectors(ld->pdev);
}
