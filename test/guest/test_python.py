# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The Python package and its captures over the driver and the simulated card, with NumPy, pyarrow and Matplotlib.

Only in `make test-all`: under QEMU's emulation, the import of NumPy takes most of the time.
"""

import pytest

from litepcie_sim.guest import DEBUG_KERNEL
from test.guest import python_files
from test.guest.conftest import KERNEL, ROOT, TARGET

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


# Loads what the tests in the arrow need: the library in C, files of both kinds, a server and its client, a picture.
CAPTURES = """
import errno, os, shutil, signal, sys, tempfile, threading
from pathlib import Path
os.environ.update(TMPDIR="/tmp", MPLCONFIGDIR=tempfile.mkdtemp())
from liblitepcie import calc
calc()
from liblitepcie.capture import __main__ as program, block, card, flight, raw, table, transfer
folder = Path(tempfile.mkdtemp())
sys.stdout = open(os.devnull, "w")
(folder / "raw").write_bytes(bytes(1000))
program.main(["convert", f"{folder}/raw", f"{folder}/a.parquet"])
server = flight.Server("127.0.0.1:0", {"raw": lambda: raw.RawSource(folder / "raw")}, lambda: False)
program.main(["fetch", f"127.0.0.1:{server.port}", f"{folder}/b.parquet", "--json"])
server.shutdown()
program.main(["info", f"{folder}/b.parquet"])
from matplotlib.figure import Figure
figure = Figure(layout="constrained")
figure.subplots().plot([1], label="a")
figure.axes[0].set(xlabel="a")
figure.axes[0].legend()
figure.axes[0].imshow([[1]])
figure.savefig(folder / "a.svg")
shutil.rmtree(os.environ["MPLCONFIGDIR"])
shutil.rmtree(folder)
sys.stdout.close()
sys.stdout = sys.__stdout__
"""


@pytest.fixture(scope="module")
def arrow(boot, build_board):
    example = ROOT / "examples" / "python" / "record_and_plot.py"
    with boot("capture", board=build_board(streams=2, patterns=1), cpus=2, memory="2G",
            files=[*python_files.files(CAPTURES), (example, "/record_and_plot.py")],
            processor=python_files.PROCESSOR) as arrow:
        arrow.run("ip link set lo up && mkdir /tmp/captures")
        arrow.run(f"printf '#!/bin/sh\\nexec {python_files.command(CAPTURES)} \"$@\"\\n' > /bin/python3; "
            "printf '#!/bin/sh\\nexec python3 -m liblitepcie.capture \"$@\"\\n' > /bin/capture; "
            "chmod +x /bin/python3 /bin/capture")
        yield arrow


def test_a_replay_is_recorded(arrow):
    """Through the card and back: each packet with its end, in both kinds of file."""
    arrow.run("head -c 300001 /dev/urandom > /tmp/any; capture convert /tmp/any /tmp/sent --packet-bytes 5000")
    for name in ("raw", "table.parquet"):
        # Waits for the recorder: the card drops nothing before, but a play that is alone waits for ever.
        said = arrow.run(f"capture record /tmp/captures/{name} -n 61 & capture play /tmp/sent && wait $!", timeout=600)
        assert "record: 300001 bytes in 61 packets" in said and "play: 300001 bytes in 61 packets" in said
    arrow.run("capture convert /tmp/captures/table.parquet /tmp/back; for name in /tmp/captures/raw /tmp/back; do "
        "cmp $name /tmp/any || exit; done", timeout=600)
    lengths = "import numpy, sys\nfor one in sys.argv[1:]:\n    print(*numpy.fromfile(one, 'u8,u4,u4')['f1'])"
    said = arrow.run(f"python3 -c \"{lengths}\" /tmp/captures/raw.packets /tmp/back.packets").splitlines()
    assert said == [" ".join(["5000"]*60 + ["1"])]*2


def test_a_live_stream_is_served(arrow):
    """The client is another program of the arrow, over loopback; the stream is free again afterwards."""
    arrow.run("capture serve -s 1 > /tmp/server 2>&1 & echo $! > /tmp/pid; "
        "until grep -q ' at ' /tmp/server; do sleep 0.2; done", timeout=600)
    assert arrow.run("cat /tmp/server") == "litepcie0_stream1 at 127.0.0.1:47470\n"
    said = arrow.run("capture fetch localhost /tmp/live.parquet -n 20", timeout=600)
    assert " in 20 packets" in said
    assert "another program uses this direction" in arrow.run("sleep 600 < /dev/litepcie0_stream1 & sleep 1; "
        "capture fetch 127.0.0.1:47470 /tmp/x -t 60 2>&1; status=$?; kill $!; exit $status", status=1, timeout=600)
    arrow.run("kill -INT $(cat /tmp/pid); while [ -d /proc/$(cat /tmp/pid) ]; do sleep 0.1; done; "
        "litepcie_util stream test -s 1 -n 60")


def test_a_reset_is_a_loss(arrow):
    """Exit status 3, one line, and a complete file with what came before."""
    said = arrow.run("capture record /tmp/reset.parquet -s 1 2>&1 & "
        "while [ ! -s /tmp/reset.parquet.part ]; do sleep 0.2; done; sleep 1; "
        "echo 1 > /sys/bus/pci/devices/0000:01:00.0/reset; wait $!", status=3, timeout=600)
    assert said.startswith("liblitepcie.capture: ") and "lost" in said and said.count("\n") == 1
    assert "ended by: " in arrow.run("capture info /tmp/reset.parquet", timeout=600)


def test_the_example_with_a_plot(arrow):
    said = arrow.run("MPLCONFIGDIR=/tmp python3 /record_and_plot.py litepcie0 20 /tmp/record.svg", timeout=600)
    assert said.splitlines()[-2:] == ["20 packets of 1024 samples recorded; 0 wrong, 0 bytes lost", "/tmp/record.svg"]
    arrow.run("grep -q '<!-- packet 3 -->' /tmp/record.svg")
