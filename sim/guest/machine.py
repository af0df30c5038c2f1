#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""One run of a virtual machine with the simulated board in it."""

import dataclasses
import os
import selectors
import socket
import subprocess
import time

from pathlib import Path

from litepcie_sim.guest         import initramfs, qemu
from litepcie_sim.guest.board   import BuiltBoard, Simulator, socket_folder
from litepcie_sim.guest.console import Reply
from litepcie_sim.guest.errors  import GuestError, GuestOff, GuestTimeout
from litepcie_sim.guest.kernels import DEFAULT_KERNEL, Kernel
from litepcie_sim.guest.module  import module
from litepcie_soc.build import processes

BOOT_SECONDS = 180


@dataclasses.dataclass(frozen=True)
class Result:
    """A command's exit status, and what it wrote to both of its streams."""
    status : int
    output : str


class Guest:
    """A booted guest. A context manager: boots on entry, ends all its processes on exit.

    Parameters
    ----------
    board : build folder of targets/sim.py, or None: a guest without a board
    kernel : name of a guest kernel (`litepcie_sim.guest.KERNELS`)
    mps, mrrs : largest payload and read request in bytes, written to the board before the module
        loads
    load : whether the module is loaded
    files : (path on the machine, path in the guest) of files to bring along
    with_fio : whether Debian's fio is in the guest
    simulator_arguments : further arguments of litepcie_simulator
    log : path of the console log; the simulator's is next to it. None: both vanish with the guest
    console : called with bytes of the kernel's console as they come
    memory, cpus, iommu, strict_writes : see `qemu.Machine`

    Attributes
    ----------
    boot_seconds : from the start of QEMU to the first command taken
    log : path of the console log
    simulator : `board.Simulator`, or None

    Raises GuestError (one line, for the user) when anything is missing or goes wrong; GuestTimeout
    when it takes too long.
    """

    def __init__(self, board=None, *, kernel=DEFAULT_KERNEL, mps=256, mrrs=512, load=True,
            files=(), with_fio=False, simulator_arguments=(), log=None, console=None, **machine):
        self.kernel       = Kernel(kernel)
        self.board        = BuiltBoard(board) if board is not None else None
        self.simulator    = None
        self.boot_seconds = None
        self._conf        = {"mps": mps, "mrrs": mrrs, "load": int(load and self.board is not None)}
        self._files       = [(Path(host), guest) for host, guest in files]
        self._with_fio    = with_fio
        self._arguments   = list(simulator_arguments)
        self._machine     = machine
        self._console     = console or (lambda data: None)
        self._folder      = None
        self._qemu        = None
        self._killed      = False  # The simulator, on purpose.
        self._idle        = False  # The guest's init waits for a command.
        self._sockets     = {}
        self._tail        = b""
        self.log          = Path(log) if log else None
        for host, _ in self._files:
            if not os.access(host, os.R_OK) or not host.is_file():
                raise GuestError(f"cannot read the file {host}")

    # Start and end ------------------------------------------------------------------------------

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.close(off=False)
            raise
        return self

    def __exit__(self, kind, value, traceback):
        self.close(off=kind is None)

    def _start(self):
        program      = qemu.find()
        image        = self.kernel.image()
        self._folder = socket_folder()
        folder       = Path(self._folder.name)
        self.log     = self.log or folder / "console.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._log    = open(self.log, "wb", buffering=0)
        boot         = Reply()
        self._write_initrd(folder / "initrd", image, boot.token)
        machine      = dict(self._machine)
        if self.board:
            extra          = ["--iommu"] if machine.get("iommu") else []
            self.simulator = Simulator(self.board, folder / "board", [*extra, *self._arguments],
                self.log.with_name("simulator.log"))
            self.simulator.start()
            machine.update(socket=folder / "board", gen=self.board.gen, lanes=self.board.lanes)
        began = time.monotonic()
        self._start_qemu(program, qemu.Machine(**machine), image, folder)
        output = bytearray()
        self._pump(boot, time.monotonic() + BOOT_SECONDS, output.extend)
        self.boot_seconds = time.monotonic() - began
        (folder / "initrd").unlink()
        if boot.status:
            said = output.decode(errors="replace").strip()
            raise GuestError(f"the guest could not set the board up: {said}")

    def _write_initrd(self, path, image, token):
        archive = initramfs.base()
        conf    = {**self._conf, "token": token}
        archive.file("etc/guest.conf", "".join(f"{name}={value}\n" for name, value in conf.items()))
        archive.copy("boot/vmlinuz", image)
        if self.board:
            archive.copy("lib/modules/litepcie.ko", module(self.kernel))
            for tool in initramfs.tools():
                archive.copy(f"bin/{tool.name}", tool, 0o755)
        for host, guest in self._files:
            archive.copy(guest, host)
        initramfs.write(path, [archive], [initramfs.fio()] if self._with_fio else [])

    def _start_qemu(self, program, machine, image, folder):
        ends = {}
        for name in ("console", "control"):
            self._sockets[name], ends[name] = socket.socketpair()
            self._sockets[name].setblocking(False)
        console, control = ends["console"].fileno(), ends["control"].fileno()
        arguments        = machine.arguments(image, folder / "initrd", console, control)
        with open(folder / "qemu.log", "wb") as log:
            self._qemu = processes.start([*program.command, *arguments], env=program.environ,
                stdout=log, stderr=log, pass_fds=(console, control))
        for end in ends.values():
            end.close()

    def close(self, off=True):
        """Ends the guest; `off`: by switching it off, so that its kernel tells the driver."""
        if off and self._idle and not self._killed:
            try:
                self._send(Reply().request("off"))
                self._qemu.wait(10)
            except (GuestError, OSError, subprocess.TimeoutExpired):
                pass
        processes.stop(self._qemu, grace=0.5)
        if self.simulator:
            self.simulator.stop()
        for end in self._sockets.values():
            end.close()
        self._sockets = {}
        if self._folder:
            self._log.close() if hasattr(self, "_log") else None
            self._folder.cleanup()
            self._folder = None

    # Commands -----------------------------------------------------------------------------------

    def run(self, command, timeout=120, stream=None):
        """Runs `command` in the guest's shell; `Result`.

        `stream` is called with the output's bytes as they come. A command that takes longer than
        `timeout` seconds raises GuestTimeout; the guest is still at it, so nothing else can be run.
        """
        output = bytearray()

        def take(data):
            output.extend(data)
            if stream:
                stream(data)

        self._log.write(f"guest# {command}\n".encode())
        reply = Reply()
        self._send(reply.request("run", command))
        self._pump(reply, time.monotonic() + timeout if timeout else None, take,
            f"the command did not end in {timeout} s: {command}")
        return Result(reply.status, output.decode(errors="replace"))

    def kill_simulator(self):
        """Ends the simulator as a crash would: no error from here on. QEMU and the guest go on."""
        self._killed = True
        self.simulator.kill()

    def interact(self, take, keys, rows=24, columns=80, leave=None):
        """A shell in the guest: `keys` is a file descriptor of what is typed, `take` is called with
        bytes to show.

        Returns the shell's exit status; 0 if the key `leave` was typed or the guest was switched
        off from inside.
        """
        reply = Reply()
        self._send(reply.request("shell", f"stty -F /dev/ttyS1 rows {rows} cols {columns}"))
        try:
            self._pump(reply, None, take, keys=keys, leave=leave)
        except GuestOff:
            return 0
        return reply.status

    # Input and output -----------------------------------------------------------------------------

    def _send(self, data):
        self._idle = False
        end = self._sockets["control"]
        end.setblocking(True)
        try:
            end.sendall(data)
        except OSError:
            raise self._gone() from None
        end.setblocking(False)

    def _pump(self, reply, deadline, take, late="the guest did not boot", keys=None, leave=None):
        """Moves bytes until `reply` has its status."""
        with selectors.DefaultSelector() as selector:
            for name, end in self._sockets.items():
                selector.register(end, selectors.EVENT_READ, name)
            if keys is not None:
                selector.register(keys, selectors.EVENT_READ, "keys")
            while reply.status is None:
                if deadline and time.monotonic() > deadline:
                    raise GuestTimeout(late + self._last_words())
                for key, _ in selector.select(0.1):
                    if key.data == "keys":
                        self._type(selector, keys, leave)
                    else:
                        self._receive(key.data, reply, take)
                if self._simulator_failed():
                    raise self.simulator.error()
        self._idle = True

    def _receive(self, name, reply, take):
        try:
            data = self._sockets[name].recv(65536)
        except ConnectionResetError:
            data = b""
        if not data:
            raise self._gone()
        if name == "console":
            self._log.write(data)
            self._tail = (self._tail + data)[-2000:]
            self._console(data)
        elif output := reply.feed(data):
            self._log.write(output)
            take(output)

    def _type(self, selector, keys, leave):
        data = os.read(keys, 4096)
        if leave and leave in data:
            raise GuestOff("left")
        if not data:  # The end of what is typed: the same for the shell in the guest.
            selector.unregister(keys)
            data = b"\x04"
        self._send(data)

    def _simulator_failed(self):
        return self.simulator and not self._killed and self.simulator.ended() not in (None, 0)

    def _gone(self):
        """The error that QEMU's end is."""
        status = processes.stop(self._qemu, grace=2)
        if self._simulator_failed():
            return self.simulator.error()
        if status == 0:
            return GuestOff(f"the guest went off{self._last_words()}")
        said = (Path(self._folder.name) / "qemu.log").read_text(errors="replace").strip()
        return GuestError(f"QEMU ended (status {status}): " + "\n".join(said.splitlines()[-5:]))

    def _last_words(self):
        lines = self._tail.decode(errors="replace").strip().splitlines()[-10:]
        return "; the end of its console:\n" + "\n".join(lines) if lines else ""
