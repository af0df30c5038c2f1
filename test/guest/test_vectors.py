#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Vectors of a card with four channels: MSI-X, several MSI, one MSI."""

import re

import pytest

from test.conftest import SOFT

pytestmark = [pytest.mark.guest, pytest.mark.full]

only_msix = pytest.mark.skipif(SOFT, reason="the card with the endpoint in gateware has one MSI")

CHANNELS = 4
VECTORS  = 2*CHANNELS
BDF      = "0000:01:00.0"
DRIVER   = "/sys/bus/pci/drivers/litepcie"
CARD     = f"/sys/bus/pci/devices/{BDF}"
LOAD     = "channels load {} 32 4096 256"

# Kind of the interrupts, their number, and arguments of the guest. Several MSI need interrupt remapping on x86.
KINDS = {
    "msix":        ("msix", VECTORS, {}),
    "several-msi": ("msi",  VECTORS, {"iommu": True, "simulator_arguments": ["--msix", "off"]}),
    "one-msi":     ("msi",  1,       {"simulator_arguments": ["--msix", "off"]}),
}


@pytest.fixture(scope="module", params=[pytest.param("msix", marks=only_msix),
    pytest.param("several-msi", marks=only_msix), "one-msi"])
def guest(request, boot, build_board):
    kind, vectors, options = KINDS[request.param]
    with boot(f"vectors-{request.param}", board=build_board(channels=CHANNELS), cpus=2, **options) as guest:
        guest.kind, guest.vectors = kind, vectors
        yield guest


def interrupts(guest):
    """{name: (number of the interrupt, count on each processor)}."""
    lines = [line.split() for line in guest.run("grep litepcie0 /proc/interrupts").splitlines()]
    return {words[-1]: (int(words[0].rstrip(":")), [int(words[1]), int(words[2])]) for words in lines}


def names(guest):
    return {"litepcie0"} if guest.vectors == 1 else {f"litepcie0-{n}" for n in range(guest.vectors)}


def load(guest):
    for how in ("write", "read"):
        assert guest.run(LOAD.format(how)) == "0 failed\n"


def grown(guest, before):
    after = interrupts(guest)
    return {name: [now - then for now, then in zip(after[name][1], before[name][1])] for name in after}


def test_kind_and_number(guest):
    assert set(interrupts(guest)) == names(guest)
    assert guest.run(f"cat {CARD}/msi_irqs/*").split() == [guest.kind]*guest.vectors


def test_each_vector_serves_its_engines(guest):
    before = interrupts(guest)
    load(guest)
    assert all(sum(counts) > 0 for counts in grown(guest, before).values())


@pytest.mark.parametrize("processor", [1, 0])
def test_interrupts_come_to_the_processor_that_was_chosen(guest, processor):
    for number, _ in interrupts(guest).values():
        guest.run(f"echo {1 << processor} > /proc/irq/{number}/smp_affinity")
    load(guest)  # The first interrupt after the change still comes to the processor before, and moves the vector.
    before = interrupts(guest)
    load(guest)
    for name, counts in grown(guest, before).items():
        assert counts[processor] > 0 and counts[1 - processor] == 0, (name, counts)


def test_after_a_reset_of_the_function(guest):
    guest.run(f"echo 1 > {CARD}/reset")
    before = interrupts(guest)
    load(guest)
    assert all(sum(counts) > 0 for counts in grown(guest, before).values())


def test_resets_of_the_function_while_requests_run(guest):
    guest.run(f"({LOAD.format('write')} > /tmp/load) & "
        f"for i in $(seq 5); do sleep 0.05; echo 1 > {CARD}/reset; done; wait;"
        " cat /tmp/load; grep -q '^0 failed' /tmp/load")
    guest.works()


def test_unbind_and_bind(guest):
    for _ in range(3):
        guest.run(f"echo {BDF} > {DRIVER}/unbind; ! grep litepcie0 /proc/interrupts")
        guest.run(f"echo {BDF} > {DRIVER}/bind")
        assert set(interrupts(guest)) == names(guest)
        load(guest)
    assert not re.search("irq .*nobody cared|Trying to free", guest.run("dmesg"))
