# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""A guest whose memory is not shared with the simulator: QEMU moves each byte of the card's DMA by message."""

from pathlib import Path

import pytest

pytestmark = [pytest.mark.guest, pytest.mark.full]


@pytest.fixture(scope="module")
def guest(boot):
    with boot("unshared", cpus=2, shared=False, with_fio=True) as guest:
        yield guest


def test_no_memory_is_shared(guest):
    """QEMU shares memory as a memfd, which the simulator maps."""
    maps = Path(f"/proc/{guest.guest.simulator.process.pid}/maps").read_text(encoding="ascii")
    assert "litepcie_simulator" in maps and "memfd" not in maps


def test_every_byte_arrives(guest):
    """The tool compares all bytes; each transfer has its interrupt."""
    guest.run("litepcie_util dma_test --sequence read-then-write --iterations 5")
    guest.run("litepcie_util dma_test --sequence read-and-write --iterations 5")
    assert guest.pinned_pages() == 0


def test_many_transfers_at_once(guest):
    """While the driver reads registers, for which its processor and QEMU wait."""
    guest.run("fio --name=verify --filename=/dev/litepcie0 --ioengine=io_uring --iodepth=16 --numjobs=4 --size=256k"
        " --offset_increment=1M --bsrange=512-16k --bs_unaligned --rw=randrw --verify=crc32c --verify_fatal=1"
        " --randrepeat=1 --filesize=8M --allow_file_create=0", timeout=300)
