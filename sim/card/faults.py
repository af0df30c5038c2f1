#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""What stock LitePCIe and the card of this project do when something goes wrong while they move data, as a table.

    python -m litepcie_sim.card.faults [FAULT...]

Each fault meets each card in a guest of its own, while the card's own ``litepcie_util dma_test`` runs. The guest has an
IOMMU, so that an access of the card outside of the memory that is mapped for it is seen.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from dataclasses import dataclass
from pathlib import Path

from litepcie_sim.guest import Guest, GuestError
from litepcie_soc.build.command_line import Parser, run
from litepcie_soc.common.places import BUILD, TARGETS

# Where QEMU's root port has the card.
DEVICE = "/sys/bus/pci/devices/0000:01:00.0"
# Faults: of a completion, or a command in the guest.
FAULTS = {
    "ur":     "a read is answered with Unsupported Request",
    "drop":   "a read is never answered",
    "late":   "a read is answered late",
    "reset":  "the link goes down and up again (hot reset)",
    "unbind": "the driver is unbound",
    "kill":   "the program is killed",
}
COMMANDS = {
    "reset":  f"echo bus >{DEVICE}/reset_method; echo 1 >{DEVICE}/reset",
    "unbind": f"echo 0000:01:00.0 >{DEVICE}/driver/unbind",
    "kill":   "kill -9 $(cat /tmp/pid)",
}
BIND = "echo 0000:01:00.0 >/sys/bus/pci/drivers/litepcie/bind"
# Kernel messages that no driver should cause.
BAD  = re.compile(r"BUG|WARNING|Oops|general protection|DMAR: .*fault|nobody cared|hung_task")
# Number of interrupts of the card.
COUNT = "awk '/litepcie/ { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts"
# Prints "moves" after so many interrupts, "gone" if the program ended, "stands" if none came for 10 s.
STATE = f"""begin=$({COUNT}); last=$begin; still=0
while :; do
    [ -e /proc/$(cat /tmp/pid) ] || {{ echo gone; break; }}
    [ $(($({COUNT}) - begin)) -ge $wanted ] && {{ echo moves; break; }}
    [ $still -ge 10 ] && {{ echo stands; break; }}
    sleep 1
    now=$({COUNT}); [ $now = $last ] && still=$((still + 1)) || still=0; last=$now
done"""
# Ends the program: as a user does, then by force. Status 1 if it is still there.
STOP = """pid=$(cat /tmp/pid)
for signal in INT KILL; do
    kill -$signal $pid 2>/dev/null
    for i in 1 2 3 4 5; do [ -e /proc/$pid ] || exit 0; sleep 1; done
done
exit 1"""


@dataclass(frozen=True)
class Peer:
    """A card with the programs that run on it: `program` until it is stopped, `again` to see whether it still works."""
    name    : str
    folder  : Path
    build   : tuple
    program : str
    again   : str


PEERS = (
    Peer("stock LitePCIe", BUILD / "card_stock", (sys.executable, "-m", "litepcie_sim.card.stock", "build"),
        # Its device has another number after each bind.
        "litepcie_util dma_test", "litepcie_util -c $(ls /dev | sed -n s/litepcie//p | head -n 1) -t 5 dma_test"),
    Peer("this project", BUILD / "sim_gen2_x4_128", (sys.executable, TARGETS / "sim.py", "--build"),
        "litepcie_util dma_test --iterations 1000000", "litepcie_util dma_test --iterations 3"),
)


def inject(guest, pipe, faults):
    """Gives the next accesses of a card ``faults``, in the words of the simulator's ``--inject``.

    pipe : path of the ``--inject-pipe`` of the guest's simulator, which reads it before an access of the guest.
    """
    pipe.write_text(f"{faults}\n")
    guest.run(f"cat {DEVICE}/config >/dev/null")


class Case:
    """One fault at one card. ``cells`` has what was seen, in the order of `ROWS`."""
    ROWS = ("the program", "the next program", "after a new bind", "kernel", "outside of mapped memory", "broken rules")

    def __init__(self, peer, fault, folder):
        self.peer, self.fault = peer, fault
        self.pipe, self.stats = folder / "pipe", folder / "stats"
        os.mkfifo(self.pipe)
        arguments = ["--inject-pipe", str(self.pipe), "--stats", str(self.stats), "--count-violations"]
        try:
            with Guest(peer.folder, iommu=True, log=folder / "log", simulator_arguments=arguments) as self.guest:
                seen = self.meet()
        except GuestError as error:
            seen = [f"the run ended: {str(error).splitlines()[0]}"]
        counted = json.loads(self.stats.read_text()) if self.stats.exists() else {}
        broken  = [f"{rule}: {found['times']}" for rule, found in counted.get("broken_rules", {}).items()]
        outside = counted.get("unmapped_reads", 0) + counted.get("unmapped_writes", 0)
        seen   += ["-"]*(4 - len(seen))
        self.cells = [*seen, str(outside), "; ".join(broken) or "none"]

    def state(self, interrupts):
        return self.guest.run(f"wanted={interrupts}; {STATE}", timeout=600).output.split()[-1]

    def meet(self):
        run   = self.guest.run
        start = f"({self.peer.program}; echo $? >/tmp/status) >/tmp/log 2>&1 & sleep 1; pidof litepcie_util >/tmp/pid"
        run(start)
        if self.state(100) != "moves":
            return [f"does not start: {run('tail -n 2 /tmp/log').output.strip()}"]
        if self.fault in COMMANDS:
            if (done := run(f"({COMMANDS[self.fault]}) 2>&1", timeout=60)).status:
                return [f"cannot be tried: {done.output.strip()[-60:]}"]
        else:
            inject(self.guest, self.pipe, f"{self.fault}@100")
        program = {"moves": "goes on", "stands": "stands still, and says nothing"}.get(self.state(200))
        stays   = run(STOP).status
        if program is None:
            said    = run("grep -v DMA_SPEED /tmp/log | tail -n 1").output.strip()
            program = f"ends, status {run('cat /tmp/status').output.strip()}: {' '.join(said.split())[-60:]}"
        program += "; cannot be killed" if stays else ""
        again    = self.works("true")
        bound    = "-" if again == "works" else self.works(f"echo 0000:01:00.0 >{DEVICE}/driver/unbind; {BIND}; ")
        bad      = {line.split("] ", 1)[-1][:70]: 1 for line in run("dmesg").output.splitlines() if BAD.search(line)}
        return [program, again, bound, "; ".join([*bad][:2]) or "no complaint"]

    def works(self, before):
        """Whether the program of `again` ends well and the card sends interrupts meanwhile. It has 20 s."""
        result = self.guest.run(f"({before}) 2>/dev/null; begin=$({COUNT}); timeout -s KILL 20 {self.peer.again} "
            f">/tmp/again 2>&1 || {{ tail -n 1 /tmp/again; exit 1; }}; [ $({COUNT}) -gt $begin ]", timeout=120)
        said   = result.output.strip().splitlines()
        return "works" if result.status == 0 else f"fails: {said[-1][:50] if said else 'stands still'}"


def main():
    parser = Parser(prog="litepcie_sim.card.faults", description="Faults at stock LitePCIe and at this project's card.")
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=f"{', '.join(FAULTS)} (all)")
    wanted = parser.parse_args().faults or list(FAULTS)
    if unknown := [name for name in wanted if name not in FAULTS]:
        parser.error(f"{unknown[0]} is not known; choose of {', '.join(FAULTS)}")
    for peer in PEERS:
        if subprocess.run(peer.build, stdout=subprocess.DEVNULL).returncode:
            return 1
    for fault in wanted:
        print(f"\n| {FAULTS[fault]} | {' | '.join(peer.name for peer in PEERS)} |")
        print("|" + "---|"*(1 + len(PEERS)), flush=True)
        cases = []
        for peer in PEERS:
            with tempfile.TemporaryDirectory(prefix="faults-") as folder:
                cases.append(Case(peer, fault, Path(folder)))
        for row in zip(Case.ROWS, *(case.cells for case in cases)):
            print("| " + " | ".join(row) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(run(main, "litepcie_sim.card.faults"))
