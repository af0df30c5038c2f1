#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Boots a virtual machine with the simulated board, and runs commands in it."""

import base64
import dataclasses
import os
import re
import secrets
import selectors
import socket
import subprocess
import time

from pathlib import Path

from litepcie_sim.guest         import initramfs, python, share
from litepcie_sim.guest.board   import BuiltBoard, Simulator, socket_folder
from litepcie_sim.guest.debug_kernel import DEBUG_KERNEL, kernel as named_kernel
from litepcie_sim.guest.errors  import GuestError, GuestOff, GuestTimeout
from litepcie_sim.guest.kernels import DEFAULT_KERNEL
from litepcie_sim.guest.module  import foreign_modules, module
from litepcie_soc.build import processes

# What the debug kernel checks makes its boot several times as long.
BOOT_SECONDS       = 180
DEBUG_BOOT_SECONDS = 600


@dataclasses.dataclass(frozen=True)
class Result:
    """Exit status of a command, and its output and errors as one text."""
    status : int
    output : str


class Reply:
    """The protocol between the runner and the guest, on the guest's second serial port.

        runner   TOKEN MODE CODE newline      MODE is run, shell or off; CODE is the command in base64
        guest    the command's output, then   TOKEN STATUS newline

    TOKEN is new and random for each command, and only the guest's init knows it. So no output of a command can be
    mistaken for its end. The first serial port is the kernel's console and is not parsed. This class splits the bytes
    from the guest into the output of a command and its status.
    """

    def __init__(self, token=None):
        self.token  = token or secrets.token_hex(16)
        self.status = None
        self.rest   = b""  # Bytes after the status; a working guest sends none.
        self._held  = b""
        self._mark  = self.token.encode()

    def request(self, mode, command=""):
        """Returns the line that makes the guest run `command` and reply with this token."""
        return f"{self.token} {mode} {base64.b64encode(command.encode()).decode()}\n".encode()

    def feed(self, data):
        """Takes bytes from the guest; returns those that are output. Bytes that may begin the token are held back."""
        self._held += data
        at = self._held.find(self._mark)
        if at < 0:
            keep = self._partial()
            sure = len(self._held) - keep
            output, self._held = self._held[:sure], self._held[sure:]
            return output
        if match := re.compile(rb" (\d+)\n").match(self._held, at + len(self._mark)):
            self.status = int(match[1])
            self.rest   = self._held[match.end():]
        output, self._held = self._held[:at], self._held[at:]
        return output

    def _partial(self):
        """Returns how many of the last bytes may be the beginning of the token."""
        for length in range(min(len(self._mark) - 1, len(self._held)), 0, -1):
            if self._mark.startswith(self._held[-length:]):
                return length
        return 0


def _files_of(host, guest):
    """(path on the machine, path in the guest) of a file, or of all files in a folder."""
    if not host.is_dir():
        return [(host, guest)]
    return [(path, f"{guest}/{path.relative_to(host)}") for path in sorted(host.rglob("*")) if path.is_file()]


class Guest:
    """A guest, as a context manager: it boots on entry, and all its processes end on exit.

    Raises GuestError when something is missing or fails, and GuestTimeout when the boot takes too long.

    Parameters
    ----------
    board     : build folder of targets/sim.py, or None for a guest without a board.
    kernel    : name of a guest kernel (`litepcie_sim.guest.KERNELS`), or `DEBUG_KERNEL`.
    mps, mrrs : Max_Payload_Size and Max_Read_Request_Size in bytes, set before the module is loaded.
    load      : whether the module is loaded.
    files     : (path on the machine, path in the guest) of files and folders to copy into the guest.
    with_fio, with_lspci : whether Debian's fio and lspci are in the guest.
    with_python : whether Debian's Python and NumPy, and the package of software/python, are in the guest.
    share     : folder of the machine that is /share in the guest, to read and to write; None for none.
    simulator_arguments : further arguments of litepcie_simulator.
    others    : (build folder, arguments of its litepcie_simulator) of each further board. Its mps and mrrs stay those
                that the guest's kernel chose.
    log       : path of the console log; the simulator's log is next to it. None: both are deleted with the guest.
    console   : function that is called with bytes of the kernel's console as they arrive.
    memory, cpus, iommu, strict_writes, parameters, plugin, shared : see `qemu.Machine`.

    Attributes
    ----------
    boot_seconds : time from the start of QEMU until the guest accepts commands.
    log          : path of the console log.
    simulator    : `board.Simulator`, or None.
    simulators   : list of all, that of `board` first.
    """

    def __init__(self, board=None, *, kernel=DEFAULT_KERNEL, mps=256, mrrs=512, load=True,
            files=(), with_fio=False, with_lspci=False, with_python=False, share=None, simulator_arguments=(),
            others=(), log=None, console=None, **machine):
        self.kernel       = named_kernel(kernel)
        self.board        = BuiltBoard(board) if board is not None else None
        self.simulator    = None
        self.simulators   = []
        self.boot_seconds = None
        self._conf        = {"mps": mps, "mrrs": mrrs, "load": int(load and self.board is not None)}
        self._files       = [one for host, guest in files for one in _files_of(Path(host), guest)]
        self._archives    = [initramfs.fio]*with_fio + [initramfs.lspci]*with_lspci + [python.python]*with_python
        self._share       = share
        self._server      = None
        self._boards      = [(self.board, list(simulator_arguments))] if self.board else []
        self._boards     += [(BuiltBoard(folder), list(arguments)) for folder, arguments in others]
        self._machine     = {**({"processor": python.PROCESSOR} if with_python else {}), **machine}
        self._console     = console or (lambda data: None)
        self._folder      = None
        self._qemu        = None
        self._killed      = False  # kill_simulator() was called.
        self._idle        = False  # The guest waits for a command.
        self._sockets     = {}
        self._tail        = b""
        self.log          = Path(log) if log else None
        self._log_stays   = log is not None
        for name in [archive.__name__ for archive in self._archives if self.kernel.foreign]:
            raise GuestError(f"there is no {name} for a guest on {self.kernel.foreign}; leave with_{name} out")
        if share is not None and self.kernel.foreign:
            raise GuestError(f"there is no shared folder for a guest on {self.kernel.foreign}; leave share out")
        if share is not None and not (os.path.isdir(share) and os.access(share, os.R_OK | os.X_OK)):
            raise GuestError(f"cannot read the folder {share}")
        for host, _ in self._files:
            if not os.access(host, os.R_OK) or not host.is_file():
                raise GuestError(f"cannot read the file {host}")
        if with_python:
            self._files += python.files()

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
        program      = self.kernel.qemu()
        image        = self.kernel.image()
        self._folder = socket_folder()
        folder       = Path(self._folder.name)
        self.log     = self.log or folder / "console.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._log    = open(self.log, "wb", buffering=0)
        boot         = Reply()
        self._write_initrd(folder / "initrd", image, boot.token)
        machine      = dict(self._machine)
        if self._share is not None:
            self._server = share.Server(self._share, folder / "share", self.log.with_name("share.log"))
            self._server.start()
            machine["share"] = self._server.socket
        self._start_simulators(folder, machine)
        began = time.monotonic()
        self._start_qemu(program, self.kernel.machine(**machine), image, folder)
        output = bytearray()
        limit  = DEBUG_BOOT_SECONDS if self.kernel.name == DEBUG_KERNEL else BOOT_SECONDS
        self._pump(boot, time.monotonic() + limit, output.extend)
        self.boot_seconds = time.monotonic() - began
        (folder / "initrd").unlink()
        if boot.status:
            said = output.decode(errors="replace").strip()
            raise GuestError(f"the guest could not set up the board: {said}")

    def _start_simulators(self, folder, machine):
        """Starts the simulators of all boards, and adds the boards to the options `machine` of `qemu.Machine`."""
        links = []
        for number, (board, arguments) in enumerate(self._boards):
            name  = f"{number}" if number else ""
            extra = ["--iommu"] if machine.get("iommu") else []
            simulator = Simulator(board, folder / f"board{name}", [*extra, *arguments],
                self.log.with_name(f"simulator{name}.log"))
            self.simulators.append(simulator)
            simulator.start()
            links.append((simulator.socket, board.gen, board.lanes))
        if links:
            self.simulator = self.simulators[0]
            first, *others = links
            machine.update(zip(("socket", "gen", "lanes"), first), others=tuple(others))

    def _software(self):
        """Returns (path in the guest, path on the machine) of the modules to load, and the same with modes of the
        programs.
        """
        if not self.board:
            return [], []
        card = self.board.card
        if card is None:
            return [("lib/modules/litepcie.ko", module(self.kernel))], \
                [(f"bin/{tool.name}", tool, 0o755) for tool in self.kernel.tools()]
        built = foreign_modules(self.kernel, card["driver"]) if card["modules"] else {}
        if missing := [name for name in card["modules"] if name not in built]:
            raise GuestError(f"{card['driver']} builds no {missing[0]}; it builds {', '.join(built)}")
        return [(f"lib/modules/{name}", built[name]) for name in card["modules"]], \
            [(guest.lstrip("/"), Path(host), 0o755) for host, guest in card["files"]]

    def _write_initrd(self, path, image, token):
        archive = initramfs.base(self.kernel.busybox())
        modules, programs = self._software()
        shared  = share.modules(self.kernel) if self._share is not None else {}
        conf    = {**self._conf, "token": token, "control": f"/dev/{self.kernel.port}",
            "modules": f"'{' '.join(f'/{name}' for name, _ in modules)}'", "share": f"'{' '.join(shared)}'"}
        archive.file("etc/guest.conf", "".join(f"{name}={value}\n" for name, value in conf.items()))
        archive.copy("boot/vmlinuz", image)
        for name, content in shared.items():
            archive.file(f"lib/modules/{name}", content)
        for name, source, *mode in modules + programs:
            archive.copy(name, source, *mode)
        for host, guest in self._files:
            archive.copy(guest, host)
        initramfs.write(path, [archive], [make() for make in self._archives])

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
        """Ends the guest. With `off` the guest powers off, so that its kernel shuts the driver down."""
        if off and self._idle and not self._killed:
            try:
                self._send(Reply().request("off"))
                self._qemu.wait(10)
            except (GuestError, OSError, subprocess.TimeoutExpired):
                pass
        processes.stop(self._qemu, grace=0.5)
        for simulator in self.simulators:
            simulator.stop()
        if self._server:
            self._server.stop()
        for end in self._sockets.values():
            end.close()
        self._sockets = {}
        if self._folder:
            self._log.close() if hasattr(self, "_log") else None
            self._folder.cleanup()
            self._folder = None

    # Commands -----------------------------------------------------------------------------------

    def run(self, command, timeout=120, stream=None):
        """Runs `command` in the guest's shell; returns its `Result`.

        `stream` is called with bytes of the output as they arrive. If the command takes longer than `timeout` seconds,
        GuestTimeout is raised. The command still runs then, so no other command can be run.
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
        """Ends the first simulator like a crash. QEMU and the guest keep running, and this causes no error here."""
        self._killed = True
        self.simulator.kill()

    def interact(self, take, keys, rows=24, columns=80, leave=None):
        """Runs a shell in the guest. `keys` is a file descriptor to read keys from; `take` is called with its output.

        Returns the exit status of the shell, or 0 if the key `leave` was typed or the guest powered off.
        """
        reply = Reply()
        self._send(reply.request("shell", f"stty -F /dev/{self.kernel.port} rows {rows} cols {columns}"))
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
        """Transfers bytes between user, log and guest until `reply` has its status."""
        with selectors.PollSelector() as selector:  # epoll refuses keys that are a regular file.
            for name, end in self._sockets.items():
                selector.register(end, selectors.EVENT_READ, name)
            if keys is not None:
                selector.register(keys, selectors.EVENT_READ, "keys")
            while reply.status is None:
                if deadline and time.monotonic() > deadline:
                    raise GuestTimeout(late + self._console_end())
                for key, _ in selector.select(0.1):
                    if key.data == "keys":
                        self._type(selector, keys, leave)
                    else:
                        self._receive(key.data, reply, take)
                if failed := self._failed_simulator():
                    raise failed.error()
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
        if not data:  # End of input: Ctrl-D ends the input of the guest's shell.
            selector.unregister(keys)
            data = b"\x04"
        self._send(data)

    def _failed_simulator(self):
        """Returns a simulator that ended by itself, or None."""
        ended = [] if self._killed else [one for one in self.simulators if one.ended() not in (None, 0)]
        return ended[0] if ended else None

    def _gone(self):
        """Returns the error for a QEMU that has ended."""
        status = processes.stop(self._qemu, grace=2)
        if failed := self._failed_simulator():
            return failed.error()
        if status == 0:
            return GuestOff(f"the guest powered off{self._console_end()}")
        said = (Path(self._folder.name) / "qemu.log").read_text(errors="replace").strip()
        return GuestError(f"QEMU ended (status {status}): " + "\n".join(said.splitlines()[-5:]) + self._console_end())

    def _console_end(self):
        lines = self._tail.decode(errors="replace").strip().splitlines()[-10:]
        end   = "; the end of its console:\n" + "\n".join(lines) if lines else ""
        return end + (f"\nits console and its commands are in {self.log}" if self._log_stays else "")
