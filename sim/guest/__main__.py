#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Command line of the guest runner.

    python -m litepcie_sim.guest run   --board build/sim_gen2_x4_128 -- litepcie_util info
    python -m litepcie_sim.guest shell --board build/sim_gen2_x4_128
    python -m litepcie_sim.guest prepare

The output stream gets the output of the command. The error stream gets progress and the kernel's console.

Exit status: that of the command; 124 if it did not end in time; 125 if the runner failed (one line says
why); 2 for bad usage. timeout(1) has the same 124 and 125.
"""

import argparse
import contextlib
import os
import re
import shlex
import shutil
import signal
import sys
import termios
import tty

from litepcie_sim.guest import initramfs, versions
from litepcie_sim.guest.preparation import prepare
from litepcie_sim.guest.debug_kernel import DEBUG_KERNEL, FOREIGN_KERNELS
from litepcie_sim.guest.errors  import GuestError, GuestTimeout, say
from litepcie_sim.guest.kernels import DEFAULT_KERNEL, KERNELS
from litepcie_sim.guest.machine import Guest
from litepcie_soc.build.command_line import Parser
from litepcie_soc.build.processes import handle_signals

STATUS_TIMEOUT = 124
STATUS_FAILED  = 125
LEAVE          = b"\x1d"  # Ctrl-]

# Arguments ----------------------------------------------------------------------------------------

def _file(text):
    host, colon, guest = text.rpartition(":")
    if not colon or not host or not guest.startswith("/"):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:GUEST with an absolute path GUEST")
    return host, guest


def _positive(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def _memory(text):
    if not re.fullmatch(r"[1-9]\d*[MG]", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512M or 1G")
    return text


SIZES = (128, 256, 512, 1024, 2048, 4096)


def parser():
    main = Parser(prog="python -m litepcie_sim.guest",
        description="Runs a virtual machine with the simulated board.")
    verbs = main.add_subparsers(dest="verb", required=True)

    boot = Parser(add_help=False)
    boot.add_argument("--board", required=True, metavar="DIR",
        help="build folder of targets/sim.py")
    boot.add_argument("--kernel", choices=[*KERNELS, *FOREIGN_KERNELS, DEBUG_KERNEL], default=DEFAULT_KERNEL,
        help="guest kernel (default %(default)s)")
    boot.add_argument("--mps", type=int, choices=SIZES, default=256,
        help="Max_Payload_Size of the board, bytes (default %(default)s)")
    boot.add_argument("--mrrs", type=int, choices=SIZES, default=512,
        help="Max_Read_Request_Size of the board, bytes (default %(default)s)")
    boot.add_argument("--iommu", action="store_true",
        help="the guest uses an IOMMU; DMA outside a mapping is reported as an error")
    boot.add_argument("--cpus", type=int, choices=range(1, 5), default=1, metavar="N",
        help="number of processors, 1 to 4 (default %(default)s)")
    boot.add_argument("--memory", type=_memory, default="512M",
        help="size of the guest's memory (default %(default)s)")
    boot.add_argument("--strict-writes", action="store_true",
        help="the guest waits for each write to the board instead of posting it")
    boot.add_argument("--no-load", action="store_true", help="do not load the module")
    boot.add_argument("--with-fio", action="store_true", help="put Debian's fio into the guest")
    boot.add_argument("--with-python", action="store_true",
        help="put Debian's Python with NumPy, and liblitepcie with its examples, into the guest")
    boot.add_argument("--share", metavar="DIR", help="folder of this machine that is /share in the guest")
    boot.add_argument("--file", type=_file, action="append", default=[], metavar="HOST:GUEST",
        help="copy a file or a folder into the guest; may be repeated")
    boot.add_argument("--simulator-arg", action="append", default=[], metavar="ARG",
        help="argument for litepcie_simulator, for example --simulator-arg=--reorder; may be repeated")
    boot.add_argument("--pcap", metavar="FILE",
        help="write each TLP of the board's link to FILE, for Wireshark with sim/tlp.lua")
    boot.add_argument("--log", metavar="FILE", help="file of the console log (default DIR/guest/console.log)")

    run = verbs.add_parser("run", parents=[boot], help="boot, run a command and exit with its status",
        epilog="exit status: the command's; 124 if it did not end in time; 125 if the runner failed; 2 wrong usage")
    run.add_argument("--timeout", type=_positive, default=600, metavar="S",
        help="time limit of the command in seconds (default %(default)s)")
    run.add_argument("command", nargs="+", metavar="COMMAND",
        help="command after --; a single word is a command line for the shell")
    verbs.add_parser("shell", parents=[boot], help="boot and give a shell")
    get = verbs.add_parser("prepare", help="fetch and build everything that a guest needs")
    get.add_argument("--kernel", action="append", choices=[*KERNELS, *FOREIGN_KERNELS, DEBUG_KERNEL],
        help=f"for this guest kernel; may be repeated (default {DEFAULT_KERNEL})")
    get.add_argument("--with-fio", action="store_true", help="also fetch Debian's fio")
    get.add_argument("--record", action="store_true",
        help="write the versions of the packages into the list of those that were last tested (versions.txt)")
    return main

# Verbs --------------------------------------------------------------------------------------------

def _guest(args):
    return Guest(args.board, kernel=args.kernel, mps=args.mps, mrrs=args.mrrs,
        load=not args.no_load, files=args.file, with_fio=args.with_fio, with_python=args.with_python, share=args.share,
        simulator_arguments=[*args.simulator_arg, *(["--pcap", args.pcap] if args.pcap else [])],
        console=_to_stderr, iommu=args.iommu, cpus=args.cpus, memory=args.memory, strict_writes=args.strict_writes,
        log=args.log or os.path.join(args.board, "guest", "console.log"))


def _to_stderr(data):
    sys.stderr.buffer.write(data)
    sys.stderr.flush()


def _to_stdout(data):
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def run(args):
    # One word is a command line for the shell. Several words are a command and its arguments.
    command = args.command[0] if len(args.command) == 1 else shlex.join(args.command)
    with _guest(args) as guest:
        status = guest.run(command, args.timeout, _to_stdout).status
    _tell_broken(guest)
    return status


def _tell_broken(guest):
    for line in guest.simulator.broken_rules():
        say(line)


@contextlib.contextmanager
def _raw(fd):
    """Sends each key to the guest as it is typed, also Ctrl-C."""
    if not os.isatty(fd):
        yield
        return
    before = termios.tcgetattr(fd)
    try:
        tty.setraw(fd)
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


def shell(args):
    if args.kernel not in FOREIGN_KERNELS:
        args.file += initramfs.examples()
    with _guest(args) as guest:
        say(f"booted kernel {guest.kernel.release} in {guest.boot_seconds:.1f} s; "
            "type `exit` to leave, or Ctrl-] to end the guest at once")
        columns, rows = shutil.get_terminal_size()
        with _raw(sys.stdin.fileno()):
            status = guest.interact(_to_stdout, sys.stdin.fileno(), rows, columns, leave=LEAVE)
    _tell_broken(guest)
    return status

# Main ---------------------------------------------------------------------------------------------

def main(arguments=None):
    args = parser().parse_args(arguments)
    handle_signals()
    try:
        if args.verb == "prepare":
            prepare(args.kernel or [DEFAULT_KERNEL], args.with_fio)
            versions.record() if args.record else versions.tell()
            return 0
        return {"run": run, "shell": shell}[args.verb](args)
    except GuestTimeout as e:
        say(f"error: {e}")
        return STATUS_TIMEOUT
    except GuestError as e:
        say(f"error: {e}")
        return STATUS_FAILED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return STATUS_FAILED
    except KeyboardInterrupt:
        say("interrupted")
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
