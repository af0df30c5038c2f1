# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Vectors of a card with four channels: MSI-X, several MSI, one MSI. test_channels.py has MSI-X with two."""

import re

import pytest

from test.conftest import SOFT
from test.guest.conftest import BDF, CARD, DRIVER

pytestmark = [pytest.mark.guest, pytest.mark.full]

only_msix = pytest.mark.skipif(SOFT, reason="the card with the endpoint in gateware has one MSI")

VECTORS = 8
LOAD    = "channels load {} 32 4096 256"

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
    with boot(f"vectors-{request.param}", board=build_board(channels=4), cpus=2, **options) as guest:
        guest.kind, guest.vectors = kind, vectors
        yield guest


def counts(guest, processors=(0, 1)):
    """{name: interrupts on some processors}."""
    lines = [line.split() for line in guest.run("grep litepcie0 /proc/interrupts").splitlines()]
    return {words[-1]: sum(int(words[1 + processor]) for processor in processors) for words in lines}


def each_vector_serves(guest, processors=(0, 1)):
    """Every engine is used, and every vector has interrupts."""
    before = counts(guest, processors)
    for how in ("write", "read"):
        assert guest.run(LOAD.format(how)) == "0 failed\n"
    after = counts(guest, processors)
    assert set(after) == ({"litepcie0"} if guest.vectors == 1 else {f"litepcie0-{n}" for n in range(guest.vectors)})
    assert all(after[name] > before[name] for name in after), after


def test_each_vector_serves_its_engines(guest):
    assert guest.run(f"cat {CARD}/msi_irqs/*").split() == [guest.kind]*guest.vectors
    each_vector_serves(guest)


def test_interrupts_come_to_the_processor_that_was_chosen(guest):
    for processor in (1, 0):
        guest.run(f"for irq in $(ls {CARD}/msi_irqs); do echo {1 << processor} > /proc/irq/$irq/smp_affinity; done")
        each_vector_serves(guest)  # The first interrupt still comes to the processor before, and moves the vector.
        others = counts(guest, [1 - processor])
        each_vector_serves(guest, [processor])
        assert counts(guest, [1 - processor]) == others
    guest.run(f"for irq in $(ls {CARD}/msi_irqs); do echo 3 > /proc/irq/$irq/smp_affinity; done")


def test_resets_of_the_function_while_requests_run(guest):
    guest.run(f"({LOAD.format('write')} > /tmp/load) & "
        f"for i in $(seq 5); do sleep 0.05; echo 1 > {CARD}/reset; done; wait;"
        " cat /tmp/load; grep -q '^0 failed' /tmp/load")
    each_vector_serves(guest)


def test_unbind_and_bind(guest):
    for _ in range(2):
        guest.run(f"echo {BDF} > {DRIVER}/unbind; ! grep litepcie0 /proc/interrupts")
        guest.run(f"echo {BDF} > {DRIVER}/bind")
    each_vector_serves(guest)
    assert not re.search("irq .*nobody cared|Trying to free", guest.run("dmesg"))
