# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Examples whose logic the host reaches on the bus: their programs in C and in Python, in one guest per board."""

import pytest

from litepcie_sim.guest  import DEBUG_KERNEL
from litepcie_sim.user   import build
from test.examples.conftest import example
from test.guest.conftest import KERNEL, ROOT

pytestmark = [pytest.mark.full, pytest.mark.skipif(KERNEL == DEBUG_KERNEL, reason="Python is slow under KASAN")]


@pytest.fixture
def guest_of(boot):
    """Function that builds an example's board, and gives a guest with its programs and the board's csr.json."""
    def guest_of(name):
        board = ROOT / "build" / name
        build(example(name).SoC(), board)
        csr = board / "software" / "include" / "generated" / "csr.json"
        return boot(name, board=board, files=[(csr, "/csr.json")], with_python=True)
    return guest_of


def test_own_registers(guest_of):
    with guest_of("own_registers") as guest:
        for words in (1024, 0, 1, 7):
            assert guest.run(f"own_registers {words}") == f"{words} words: the card's sum is right\n"
        assert guest.run("own_registers 1025", status=1) == "own_registers: give up to 1024 words\n"
        assert guest.run("own_registers.py 100") == "100 words: the card's sum is right\n"


def test_riscv(guest_of):
    """Answers, and what the host sees of a processor that goes on while the function is reset."""
    with guest_of("riscv") as guest:
        right = "{} requests: the processor's sums are right\n".format
        assert guest.run("riscv 200") == right(200)
        assert guest.run("riscv.py /csr.json 5") == right(5)
        guest.run("litepcie_util reset function")
        assert guest.run("riscv 10") == right(10)
        guest.works()
