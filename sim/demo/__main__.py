#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Builds the board, boots the guest, moves data in both directions with the tool and with dd, and verifies it.

With `--phy soft` the card has the endpoint in gateware: Linux finds it over a lane that is simulated symbol by symbol.
The demonstration then shows lspci's view of the card, verifies data with fio too, and prints the way of the LTSSM at
both ends of the lane.

Writes build/demo/result.json. Exit status: 0 all data was correct; 1 data was wrong or a step failed (one line says
which); 130 interrupted.
"""

import hashlib
import json
import subprocess
import sys
import time

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console

from litepcie_sim.demo.table import throughput_table
from litepcie_sim.guest import Guest, GuestError, handle_signals, prepare
from litepcie_sim.guest.kernels import DEFAULT_KERNEL, Kernel
from litepcie_soc.board.user_options import build_name
from litepcie_soc.build.command_line import Parser

ROOT      = Path(__file__).resolve().parents[2]
BOARDS    = {"shared": {}, "soft": {"phy": "soft", "gen": 1, "lanes": 1, "data_width": 64, "tags": 32}}
RESULT    = ROOT / "build" / "demo" / "result.json"
SEQUENCES = ("write", "read", "read-and-write")
CARD      = "01:00.0"
LINK_KEYS = ("gen", "lanes", "mps_bytes", "mrrs_bytes", "datapath_bits", "clock_hz")

WRITE_BLOCK_BYTES = 12345
READ_BLOCK_BYTES  = 54321

console = Console(highlight=False, soft_wrap=True, markup=False)


class DemoError(Exception):
    """A step of the demonstration failed; the text is for the user."""


def say(text):
    console.print(f"demo: {text}", style="cyan")

# Steps --------------------------------------------------------------------------------------------

def build(phy):
    """Builds the board with its target, and fetches the parts of the guest in parallel; returns the board's folder."""
    began = time.monotonic()
    say("building the board (gateware, Verilog, C++) and fetching the parts of the guest")
    with ThreadPoolExecutor(1) as pool:
        parts = pool.submit(prepare, with_fio=phy == "soft", with_lspci=phy == "soft")
        built = subprocess.run([sys.executable, ROOT / "targets" / "sim.py", "--build", "--optimize", "--phy", phy],
            cwd=ROOT,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace")
        parts.result()
    if built.returncode:
        raise DemoError(f"./targets/sim.py --build failed:\n{built.stdout.strip()}")
    say(f"board and guest are ready after {time.monotonic() - began:.0f} s")
    return ROOT / "build" / build_name(**BOARDS[phy])


def command(guest, text):
    """Prints a command, runs it in the guest, prints and returns its output."""
    console.print(f"guest# {text}", style="bold")
    result = guest.run(text, timeout=300)
    if result.output.strip():
        console.print(result.output.rstrip())
    if result.status:
        raise DemoError(f"the guest's command failed with status {result.status}: {text}")
    return result.output


def dma_test(guest, sequence):
    """Runs dma_test with its default length and iterations; returns the tool's JSON."""
    file = f"{sequence}.json"
    try:
        command(guest, f"litepcie_util --json dma_test --sequence {sequence} > {file}")
    except DemoError as e:
        raise DemoError(f"{e}\n{guest.run(f'cat {file}').output}") from None
    row = json.loads(guest.run(f"cat {file}").output)
    if not row["ok"]:
        raise DemoError(f"dma_test --sequence {sequence}: {row}")
    for direction in ("write", "read"):
        if direction in row:
            average = row[direction]["counter_bytes_per_second"]["average"]
            say(f"{direction} {average/1e6:.1f} MB/s, the average of {row['iterations']} "
                f"transfers of {row['transfer_bytes']} bytes; every byte was compared")
    return row


def copy_file(guest):
    """Copies the guest's kernel image through the card in odd block sizes; returns the checksums before and after."""
    image  = Kernel(DEFAULT_KERNEL).image()
    size   = image.stat().st_size
    blocks = -(-size//READ_BLOCK_BYTES)
    command(guest, f"dd if=/boot/vmlinuz of=/dev/litepcie0 bs={WRITE_BLOCK_BYTES}")
    command(guest, f"dd if=/dev/litepcie0 bs={READ_BLOCK_BYTES} count={blocks} "
        f"| head -c {size} > /tmp/readback")
    text = command(guest, "sha256sum /boot/vmlinuz /tmp/readback")
    sums = [line.split()[0] for line in text.splitlines()]
    if sums[0] != hashlib.sha256(image.read_bytes()).hexdigest():
        raise DemoError("the guest's /boot/vmlinuz differs from the file that was copied into the guest")
    if sums[0] != sums[1]:
        raise DemoError("the file read back from the card differs from the file written to it")
    return sums

# The lane -----------------------------------------------------------------------------------------

def show_card(guest):
    """Shows the card as Linux sees it."""
    # Without its complaint that the guest has no list of modules.
    text = command(guest, f"lspci -vv -s {CARD} 2> /dev/null")
    if "LnkSta:\tSpeed 2.5GT/s, Width x1" not in text or "Kernel driver in use: litepcie" not in text:
        raise DemoError("lspci does not show a card of one lane at 2.5 GT/s that the driver has bound")


def fio_verify(guest):
    """fio writes blocks of many sizes at random places, many at once, and compares a checksum of every block."""
    command(guest, "fio --name=verify --filename=/dev/litepcie0 --ioengine=io_uring --iodepth=32 --size=2M"
        " --filesize=40M --allow_file_create=0 --bsrange=512-64k --bs_unaligned --rw=randwrite --randrepeat=1"
        " --verify=crc32c --verify_fatal=1")


def way(figures):
    """Returns [[state, microseconds]] of the root port's LTSSM, from the first state that is known."""
    began = figures["ltssm"][0]["microseconds"]
    return [[step["state"], round(step["microseconds"] - began, 1)] for step in figures["ltssm"]]


def say_link(figures):
    """Prints how the root port's LTSSM came to L0, and what the lane carried and lost."""
    say("the root port's LTSSM, in us: " + ", ".join(f"{state} {time:.1f}" for state, time in way(figures)))
    lane = figures["lane"]
    say(f"the lane: {figures['config_requests']} requests to configuration space; {lane['bad_tlps']} TLPs and "
        f"{lane['bad_dllps']} DLLPs arrived damaged, {figures['to_host']['naks']} NAKs sent, "
        f"{figures['to_card']['naks']} received, {figures['to_card']['replays']} replays")

# Main ---------------------------------------------------------------------------------------------

def run(args, result):
    board   = build(args.phy)
    soft    = args.phy == "soft"
    figures = RESULT.with_name("simulator.json")
    damage  = ["--lcrc-every", str(args.lcrc_every)] if args.lcrc_every else []
    with Guest(board, log=RESULT.with_name("console.log"), cpus=2, with_fio=soft, with_lspci=soft,
            simulator_arguments=["--stats", str(figures), *damage]) as guest:
        say(f"guest booted in {guest.boot_seconds:.1f} s, module loaded; its console is in "
            f"{guest.log.relative_to(ROOT)}")
        result["guest_kernel"] = command(guest, "uname -r").strip()
        command(guest, "litepcie_util info")
        if soft:
            show_card(guest)
        command(guest, "litepcie_util scratch_test")
        rows = {sequence: dma_test(guest, sequence) for sequence in SEQUENCES}
        result["dma_test"] = list(rows.values())
        result["link"]     = {key: rows["write"][key] for key in LINK_KEYS}
        result["sha256_file"], result["sha256_readback"] = copy_file(guest)
        if soft:
            fio_verify(guest)
            command(guest, "litepcie_util link")
            result["card_lane"] = json.loads(guest.run("litepcie_util --json link").output)
    if soft:
        told = json.loads(figures.read_text())
        say_link(told)
        result["root_port_lane"] = {"ltssm": way(told), **told["lane"]}
    console.print()
    console.print(throughput_table(rows))


def main(argv=None):
    parser = Parser(prog="python -m litepcie_sim.demo", description=__doc__.splitlines()[0],
        epilog="exit status: 0 all data was right; 1 it was not, or something failed; 2 wrong usage; 130 interrupted")
    parser.add_argument("--phy", default="shared", choices=tuple(BOARDS),
        help="The card: with a hard block, or with the endpoint in gateware over one lane (shared).")
    parser.add_argument("--lcrc-every", type=int, default=0, metavar="N",
        help="One TLP of so many arrives damaged and is replayed; 0: none, else at least 10 (0).")
    args = parser.parse_args(argv)
    if args.lcrc_every and args.lcrc_every < 10:
        parser.error(f"argument --lcrc-every: {args.lcrc_every} is not 0, nor 10 or more")
    handle_signals()
    began  = time.monotonic()
    result = {"ok": False}
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.unlink(missing_ok=True)
    try:
        run(args, result)
        result["ok"] = True
        seconds = time.monotonic() - began
        say(f"every byte was correct; {seconds:.0f} s; see {RESULT.relative_to(ROOT)}")
        say("next: ./targets/sim.py --build --load is a shell in this guest; docs/start.md goes on from there")
    except (DemoError, GuestError) as e:
        result["error"] = str(e)
        console.print(f"demo: error: {e}", style="red")
    except KeyboardInterrupt:
        result["error"] = "interrupted"
        console.print("demo: interrupted")
        return 130
    finally:
        RESULT.write_text(json.dumps(result, indent=2) + "\n")
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
