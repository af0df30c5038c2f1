# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers

"""liblitepcie.capture and the example with a plot over the driver and the simulated card, with pyarrow and Matplotlib.

Only in `make test-all`: under QEMU's emulation, the imports take most of the time.
"""

import pytest

from litepcie_sim.guest  import DEBUG_KERNEL
from test.guest          import python_files
from test.guest.conftest import KERNEL, ROOT

pytestmark = [pytest.mark.full, pytest.mark.skipif(KERNEL == DEBUG_KERNEL, reason="Python is slow under KASAN")]

# Loads what the tests in the guest need: the library in C, files of both kinds, a server and its client, a picture.
USED = """
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
def guest(boot, build_board):
    example = ROOT / "examples" / "python" / "record_and_plot.py"
    with boot("capture", board=build_board(streams=2, patterns=1), cpus=2, memory="2G",
            files=[*python_files.files(USED), (example, "/record_and_plot.py")],
            processor=python_files.PROCESSOR) as guest:
        guest.run("ip link set lo up && mkdir /tmp/captures")
        guest.run(f"printf '#!/bin/sh\\nexec {python_files.command(USED)} \"$@\"\\n' > /bin/python3; "
            "printf '#!/bin/sh\\nexec python3 -m liblitepcie.capture \"$@\"\\n' > /bin/capture; "
            "chmod +x /bin/python3 /bin/capture")
        yield guest


def test_a_replay_is_recorded(guest):
    """Through the card and back: each packet with its end, in both kinds of file."""
    guest.run("head -c 300001 /dev/urandom > /tmp/any; capture convert /tmp/any /tmp/sent --packet-bytes 5000")
    for name in ("raw", "table.parquet"):
        # Waits for the recorder: the card drops nothing before, but a play that is alone waits for ever.
        said = guest.run(f"capture record /tmp/captures/{name} -n 61 & capture play /tmp/sent && wait $!", timeout=600)
        assert "record: 300001 bytes in 61 packets" in said and "play: 300001 bytes in 61 packets" in said
    guest.run("capture convert /tmp/captures/table.parquet /tmp/back; for name in /tmp/captures/raw /tmp/back; do "
        "cmp $name /tmp/any || exit; done", timeout=600)
    lengths = "import numpy, sys\nfor one in sys.argv[1:]:\n    print(*numpy.fromfile(one, 'u8,u4,u4')['f1'])"
    said = guest.run(f"python3 -c \"{lengths}\" /tmp/captures/raw.packets /tmp/back.packets").splitlines()
    assert said == [" ".join(["5000"]*60 + ["1"])]*2


def test_a_live_stream_is_served(guest):
    """The client is another program of the guest, over loopback; the stream is free again afterwards."""
    guest.run("capture serve -s 1 > /tmp/server 2>&1 & echo $! > /tmp/pid; "
        "until grep -q ' at ' /tmp/server; do sleep 0.2; done", timeout=600)
    assert guest.run("cat /tmp/server") == "litepcie0_stream1 at 127.0.0.1:47470\n"
    said = guest.run("capture fetch localhost /tmp/live.parquet -n 20", timeout=600)
    assert " in 20 packets" in said
    assert "another program uses this direction" in guest.run("sleep 600 < /dev/litepcie0_stream1 & sleep 1; "
        "capture fetch 127.0.0.1:47470 /tmp/x -t 60 2>&1; status=$?; kill $!; exit $status", status=1, timeout=600)
    guest.run("kill -INT $(cat /tmp/pid); while [ -d /proc/$(cat /tmp/pid) ]; do sleep 0.1; done; "
        "litepcie_util stream test -s 1 -n 60")


def test_a_reset_is_a_loss(guest):
    """Exit status 3, one line, and a complete file with what came before."""
    said = guest.run("capture record /tmp/reset.parquet -s 1 2>&1 & "
        "while [ ! -s /tmp/reset.parquet.part ]; do sleep 0.2; done; sleep 1; "
        "echo 1 > /sys/bus/pci/devices/0000:01:00.0/reset; wait $!", status=3, timeout=600)
    assert said.startswith("liblitepcie.capture: ") and "lost" in said and said.count("\n") == 1
    assert "ended by: " in guest.run("capture info /tmp/reset.parquet", timeout=600)


def test_the_example_with_a_plot(guest):
    said = guest.run("MPLCONFIGDIR=/tmp python3 /record_and_plot.py litepcie0 20 /tmp/record.svg", timeout=600)
    assert said.splitlines()[-2:] == ["20 packets of 1024 samples recorded; 0 wrong, 0 bytes lost", "/tmp/record.svg"]
    guest.run("grep -q '<!-- packet 3 -->' /tmp/record.svg")
