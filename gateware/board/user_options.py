#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Options of every board, real or simulated, for logic at the user's side of the card. Standard library only."""

from dataclasses import dataclass, fields

from litepcie_soc.common import abi
from litepcie_soc.stream_dma.stream import streams_of

# Of the user's bus: bytes that the host reaches, and the place of a RAM. There is nothing behind the RAM.
USER_BYTES     = 256 << 10
USER_RAM       = 64 << 10
USER_RAM_BYTES = 16 << 10

HOST_BUFFERS = 4

# Options without a value, with their help and what the names of builds call them.
PARTS = {
    "user_bus":     ("Registers and a RAM on the bus of the SoC, as /dev/litepcie0_user.", "bus"),
    "host_buffers": ("Logic that moves data between buffers in host memory and the endpoint memory.", "buffers"),
    "interrupts":   ("Interrupts of user logic: a timer, and registers that raise them.", "interrupts"),
}

# User Options -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UserOptions:
    """What a board has at the user's side of the card. ``add_user_logic`` makes the logic.

    streams      : number of stream channels. A register of each switches between a loop and a pattern.
    patterns     : of these, how many of the last ones begin with the pattern; the others begin with the loop.
    user_bus     : registers and a RAM on the bus of the SoC.
    host_buffers : a ``HostCopier`` and a ``HostMover`` between buffers in host memory.
    interrupts   : interrupts of a timer and of registers.
    """
    streams:      int  = 0
    patterns:     int  = 0
    user_bus:     bool = False
    host_buffers: bool = False
    interrupts:   bool = False

    @property
    def core(self):
        """Whether there is a ``UserCore``."""
        return self.user_bus or self.host_buffers or self.interrupts

    def card(self, own):
        """Returns the parameters of ``add_litepcie`` for these options, and for those that a SoC itself has (``own``).

        The streams of the options come first.
        """
        user_bus = {"origin": 0, "size": USER_BYTES} if self.user_bus else self.core or self.streams > 0
        buffers  = {"host_buffers": HOST_BUFFERS, "host_descriptors": True} if self.host_buffers else {}
        streams  = own.get("streams", 0)
        streams  = self.streams + streams if isinstance(streams, int) else [*streams_of(self.streams), *streams]
        return {**own, **buffers, "streams": streams,
            "user_bus": user_bus or own.get("user_bus")}

    def suffix(self):
        """Returns the part of a build's name that says what is not the default."""
        parts = [word for name, (_, word) in PARTS.items() if getattr(self, name)]
        return f"_streams{self.streams}"*(self.streams != 0) + f"_patterns{self.patterns}"*(self.patterns != 0) + (
            "_user" if len(parts) == len(PARTS) else "".join(f"_{word}" for word in parts))

    def check(self, channels, option, most=abi.MAX_CHANNELS, board="the card", own_streams=0):
        """Raises ``ValueError`` with one line if the board does not support the streams beside memory channels.

        channels, option : number of memory channels, and the option that has it.
        most, board      : channels of both kinds that the board has room for, and its name.
        own_streams      : stream channels for logic that is no option.
        """
        most -= own_streams
        free  = most - channels
        if not 0 <= channels <= most or channels == self.streams + own_streams == 0:
            raise ValueError(f"{option} {channels} is not supported; choose {1 - min(own_streams, 1)} to {most}"
                f"{', or 0 with --streams' * (own_streams == 0)}")
        if not 0 <= self.streams <= free:
            raise ValueError(f"--streams {self.streams} is not supported with {option} {channels}; {board} has "
                f"{most} channels of both kinds, so choose {f'0 to {free}' if free else 0}")
        if not 0 <= self.patterns <= self.streams:
            raise ValueError(f"--patterns {self.patterns} is not supported with --streams {self.streams}; choose at "
                f"most {self.streams}")


NO_USER_LOGIC = UserOptions()

NAMES = (*(field.name for field in fields(UserOptions)), "user_core")

# Command line -------------------------------------------------------------------------------------


def add_user_options(add, most=abi.MAX_CHANNELS):
    """Adds the options to a parser, by its function ``add``. ``most``: channels that the board has room for."""
    add("--streams", default=0, type=int, metavar="N",
        help=f"Stream channels, at most {most} together with the memory channels; a register of each switches between "
            "a loop and a pattern source with its checker (0).")
    add("--patterns", default=0, type=int, metavar="N",
        help="Of these, how many of the last ones begin with the pattern; the others begin with the loop (0).")
    for name, (text, _) in PARTS.items():
        add(f"--{name.replace('_', '-')}", action="store_true", help=text)
    add("--user-core", action="store_true",
        help=f"All of {', '.join(f'--{name}' for name in PARTS).replace('_', '-')}.")


def user_options(args):
    """Returns the ``UserOptions`` of parsed arguments, or of a dict with some of them; ``user_core`` is all parts."""
    given = args if isinstance(args, dict) else vars(args)
    found = {name: given[name] for name in NAMES if name in given}
    if found.pop("user_core", False):
        found |= dict.fromkeys(PARTS, True)
    return UserOptions(**found)

# Build Folder -------------------------------------------------------------------------------------
# The name of a simulated board's build folder. Standard library only.


def build_name(gen=2, lanes=4, data_width=128, phy="shared", endianness="big", tags=64, with_ddr=False, channels=1,
    completion_space=None, fabric_width=0, **others):
    """Returns the name of the folder in ``build/`` for a board that ``targets/sim.py`` builds.

    Link and data path are always in the name, other options only if they are not the default.

    Parameters
    ----------
    gen, lanes, ... : options of ``targets/sim.py`` with their defaults.
    others          : those of ``UserOptions``, and further options that the folder must be named after.
    """
    name = f"sim_gen{gen}_x{lanes}_{data_width}"
    name += f"_{phy}"*(phy != "shared") + f"_{endianness}"*(endianness != "big")
    name += f"_tags{tags}"*(tags != 64)
    name += f"_channels{channels}"*(channels != 1)
    if completion_space:
        name += "_space{}x{}".format(*completion_space)
    name += f"_fabric{fabric_width}"*(fabric_width != 0) + user_options(others).suffix()
    name += "".join(f"_{option}{value}" for option, value in sorted(others.items()) if option not in NAMES)
    return name + "_ddr"*with_ddr
