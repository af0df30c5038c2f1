#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Builds the board, boots the guest, moves data in both directions with the tool and with dd, and verifies it.

With `--phy soft` the card has the endpoint in gateware: Linux finds it over a lane that is simulated symbol by symbol.
Writes build/demo/result.json. Exit status: 0 all data was correct; 1 data was wrong or a step failed (one
line says which); 130 interrupted.
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
from litepcie_soc.build.command_line import Parser
from litepcie_soc.build.simulation import build_name

ROOT      = Path(__file__).resolve().parents[2]
BOARDS    = {"shared": {}, "soft": {"phy": "soft", "gen": 1, "lanes": 1, "data_width": 64, "tags": 32}}
RESULT    = ROOT / "build" / "demo" / "result.json"
SEQUENCES = ("write", "read", "read-and-write")
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
        parts = pool.submit(prepare)
        built = subprocess.run([sys.executable, ROOT / "targets" / "sim.py", "--build", "--phy", phy], cwd=ROOT,
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

# Main ---------------------------------------------------------------------------------------------

def say_link(figures):
    """Prints how the root port's LTSSM came to L0, and what the lane carried and lost."""
    began = figures["ltssm"][0]["microseconds"]
    way   = ", ".join(f"{step['state']} {step['microseconds'] - began:.1f}" for step in figures["ltssm"])
    say(f"the root port's LTSSM, in us: {way}")
    lane = figures["lane"]
    say(f"the lane: {figures['config_requests']} requests to configuration space; {lane['bad_tlps']} TLPs and "
        f"{lane['bad_dllps']} DLLPs arrived damaged, {figures['to_host']['naks']} NAKs sent, "
        f"{figures['to_card']['naks']} received, {figures['to_card']['replays']} replays")


def run(args, result):
    board   = build(args.phy)
    figures = RESULT.with_name("simulator.json")
    damage  = ["--lcrc-every", str(args.lcrc_every)] if args.lcrc_every else []
    with Guest(board, log=RESULT.with_name("console.log"), cpus=2,
            simulator_arguments=["--stats", str(figures), *damage]) as guest:
        say(f"guest booted in {guest.boot_seconds:.1f} s, module loaded; its console is in "
            f"{guest.log.relative_to(ROOT)}")
        result["guest_kernel"] = command(guest, "uname -r").strip()
        command(guest, "litepcie_util info")
        command(guest, "litepcie_util scratch_test")
        rows = {sequence: dma_test(guest, sequence) for sequence in SEQUENCES}
        result["dma_test"] = list(rows.values())
        result["link"]     = {key: rows["write"][key] for key in LINK_KEYS}
        result["sha256_file"], result["sha256_readback"] = copy_file(guest)
    if args.phy == "soft":
        say_link(json.loads(figures.read_text()))
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
