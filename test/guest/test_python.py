# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""The Python package over the driver and the simulated card, with the guest's Python and NumPy.

Only in `make test-all`: under QEMU's emulation, the import of NumPy takes most of the time.
"""

import pytest

from litepcie_sim.guest  import DEBUG_KERNEL
from test.guest.conftest import KERNEL, TARGET

pytestmark = [pytest.mark.full, pytest.mark.skipif(KERNEL == DEBUG_KERNEL, reason="Python is slow under KASAN")]


@pytest.fixture(scope="module")
def guest(boot, build_board):
    board = build_board(user_core=True)
    csr   = board / "software" / "include" / "generated" / "csr.json"
    with boot("python", board=board, files=[(csr, "/csr.json")], with_python=True) as guest:
        yield guest


# Each call of the package that the board has something for. It prints the name of what it has checked.
PROGRAM = """
from liblitepcie import *
import numpy, errno
with Card(cards()[0].bus_address) as card:
    info = card.info
    assert info.target.startswith("TARGET") and "user" in info.capabilities and card.device == "/dev/litepcie0"
    assert card.scratch(0x1234) == 0x1234 and not any(vars(card.errors()).values())
    data = numpy.arange(8000, dtype=numpy.uint32)
    back = numpy.zeros(8002, numpy.uint32)
    card.memory.write(data, 61)
    card.memory.read_into(back[1:-1], 61)
    assert (back[1:-1] == data).all() and back[0] == back[-1] == 0
    assert card.counters("reader").bytes >= data.nbytes
    print("memory")

    with card.queue(4) as queue:
        queue.register(back)
        back[:] = 0
        parts = [slice(2000*n, 2000*(n + 1)) for n in range(4)]
        tags  = [queue.write(data[part] + 7, 8000*n) for n, part in enumerate(parts)]
        assert sorted(queue.wait() for _ in parts) == [(tag, 8000) for tag in tags]
        for n, part in enumerate(parts):
            queue.read_into(back[part], 8000*n)
        while queue.wait():
            pass
        assert (back[:8000] == data[:8000] + 7).all()
    print("queue")

    registers = card.registers("/csr.json")
    registers.core_operand = 0x12345678
    assert registers.core_operand == 0x12345678 and registers.core_result == 0xffffffff ^ 0x12345678
    registers.write(0x10000, [1, 2, 3])
    assert registers.read(0x10000, 3) == [1, 2, 3]
    print("registers")

    with card.interrupt("pulse") as interrupt:
        interrupt.arm()
        registers.core_pulse = 1
        count = interrupt.wait(10)
        try:
            interrupt.wait(0.05)
            raise SystemExit("an interrupt without a pulse")
        except OSError as error:
            assert error.errno == errno.ETIMEDOUT
        registers.core_pulse = 1
        assert interrupt.wait(10) == count + 1
    print("interrupts")

    with card.host_buffer(4096) as source, card.host_buffer(8192, read=False) as target:
        source.data[:4000] = numpy.arange(4000) % 251
        target.data[:] = 0x5a
        registers.user_copier_source = source.card_address
        registers.user_copier_target = target.card_address + 64
        registers.user_copier_words  = 1000
        with card.interrupt("copied") as interrupt:
            interrupt.arm()
            registers.user_copier_control = 1
            interrupt.wait(10)
        assert (target.data[64:4064] == source.data[:4000]).all() and (target.data[4064:] == 0x5a).all()
        view = target.data[5:10]
        try:
            target.close()
            raise SystemExit("closed under an array")
        except BufferError:
            del view
        target.close()
    print("host buffers")
assert calc().application_note.both > 1e9
"""


def test_every_call_that_the_board_has(guest):
    guest.run(f"cat > /tmp/program.py << 'END'\n{PROGRAM.replace('TARGET', TARGET)}\nEND")
    assert guest.run("python3 /tmp/program.py").split("\n")[:-1] == [
        "memory", "queue", "registers", "interrupts", "host buffers"]
