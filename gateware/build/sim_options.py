#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The command line of ``targets/sim.py``."""

from argparse import ArgumentTypeError
from pathlib import Path

from litepcie_soc.board.user_options import add_user_options, build_name, user_options
from litepcie_soc.build.command_line import Parser, size
from litepcie_soc.common.abi import WINDOW_MAX
from litepcie_soc.common.link_rates import default_clock
from litepcie_soc.common.pcie import DATA_WIDTHS
from litepcie_soc.ddr.sim import CLOCK_HZ as DDR_CLOCK_HZ, check_ddr
from litepcie_soc.soc.link import TAGS

# What --completion-space allows: completions, and bytes of their data.
COMPLETIONS      = range(16, 4096 + 1)
COMPLETION_BYTES = range(1024, (1 << 20) + 1)

# Defaults and limits --------------------------------------------------------------------------------


def usual_clock(gen, lanes, data_width, with_ddr):
    """Returns the default clock in Hz: the slowest that keeps up with the link, or the DDR controller's clock."""
    return DDR_CLOCK_HZ if with_ddr else default_clock(gen, lanes, data_width)


def check_memory_size(size):
    """Raises ``ValueError`` if the simulation does not support this size of the endpoint memory."""
    if size & (size - 1) or not WINDOW_MAX <= size <= 1 << 30:
        raise ValueError(f"memory size must be a power of two from {WINDOW_MAX} (the window) to "
            f"{1 << 30}, not {size}")

# Options ------------------------------------------------------------------------------------------


def parse_args(argv, builds):
    """Returns the checked arguments with all defaults filled in; ``builds``: the folder of all builds."""
    parser = Parser(description="LitePCIe SoC in simulation.")
    target = parser.add_argument_group(title="Target options")
    target.add_argument("--build", action="store_true", help="Build design and simulator.")
    target.add_argument("--load",  action="store_true", help="Boot the guest and open a shell in it.")
    target.add_argument("--file",  action="append", default=[], metavar="HOST:GUEST",
        help="With --load, copy a file or a folder into the guest, such as ./program:/bin/program; may be repeated.")
    target.add_argument("--share", metavar="DIR",
        help="With --load, a folder of this machine that is /share in the guest, to read and to write.")
    target.add_argument("--python", action="store_true",
        help="With --load, Python with NumPy and liblitepcie in the guest (the first time, downloads 22 MB).")
    target.add_argument("--gen",   type=int, choices=[1, 2, 3, 4], help="Generation of the link (2; soft: 1).")
    target.add_argument("--lanes", type=int, choices=[1, 2, 4, 8, 16], help="Lanes of the link (4; soft: 1).")
    target.add_argument("--data-width", type=int, choices=DATA_WIDTHS,
        help="Width of the data path in bits (128; soft: 64).")
    target.add_argument("--phy", default="shared", choices=["shared", "split", "soft"],
        help="Streams of the PHY: one pair, or separate ones for requests and completions; or the endpoint in "
            "gateware, over a lane symbol by symbol (shared).")
    target.add_argument("--endianness", default="big", choices=["big", "little"],
        help="Byte order of payload dwords at the PHY (big).")
    target.add_argument("--tags", type=int, choices=TAGS,
        help="Requests that all channels can have outstanding; more than 32 need Extended Tags (64; soft: 32).")
    target.add_argument("--channels", default=1, type=int, metavar="N",
        help="Memory channels, each with a reader and a writer; 1 to 7 together with the streams (1).")
    target.add_argument("--completion-space", type=space_of, metavar="N,BYTES",
        help="Completions, and bytes of their data, that the hard block holds (ideal: it limits no read).")
    target.add_argument("--fabric-width", default=0, type=int, choices=[0, 128, 256, 512],
        help="Width of a hard block with a completion buffer in the fabric, as on UltraScale; needs --phy split (0).")
    add_user_options(target.add_argument)
    target.add_argument("--with-ddr", action="store_true",
        help="Endpoint memory in simulated DDR3-1600 of 64 bit with LiteDRAM, instead of block RAM.")
    target.add_argument("--memory-size", default=64 << 20, type=size, metavar="BYTES",
        help="Size of the endpoint memory, a power of two from 1 MiB to 1 GiB (64 MiB).")
    target.add_argument("--sys-clk-freq", type=float, metavar="HZ",
        help="Clock of the data path (125e6 if that keeps up with the link, else 250e6; 200e6 with DDR; soft: 100e6).")
    builder = parser.add_argument_group(title="Builder options")
    builder.add_argument("--output-dir", type=Path, metavar="DIR",
        help="Build folder (named after the options: build/sim_gen2_x4_128).")
    builder.add_argument("--optimize", action="store_true",
        help="Compile the simulator with a profile: it runs 1.3 times as fast, and takes two to three times as long to "
            "build.")
    builder.add_argument("--no-compile", action="store_true",
        help="Write Verilog and headers, but do not build the simulator.")
    logs = parser.add_argument_group(title="Logging options")
    logs.add_argument("--log-level", default="warning",
        choices=["debug", "info", "warning", "error"], help="Level of LiteX's messages (warning).")
    args = parser.parse_args(argv)
    check_args(parser, args, builds)
    return args


def space_of(text):
    """Returns ``N,BYTES`` of the option --completion-space as two numbers."""
    words = text.split(",")
    if len(words) == 2 and all(word.isdecimal() for word in words):
        completions, data = map(int, words)
        if completions in COMPLETIONS and data in COMPLETION_BYTES:
            return completions, data
    raise ArgumentTypeError(f"{text!r} is not supported; give {COMPLETIONS[0]} to {COMPLETIONS[-1]} completions and "
        f"{COMPLETION_BYTES[0]} to {COMPLETION_BYTES[-1]} bytes, as in 72,13600")


# Defaults of a simulated card with a hard block, and with the endpoint in gateware, which has no others.
USUAL = {"gen": 2, "lanes": 4, "data_width": 128, "tags": 64}
SOFT  = {"gen": 1, "lanes": 1, "data_width": 64,  "tags": 32}

SOFT_CLOCK  = 100e6
SOFT_CLOCKS = (50e6, 250e6)


def fill_in(parser, args):
    """Sets the options that were not given."""
    soft = args.phy == "soft"
    for name, value in (SOFT if soft else USUAL).items():
        if getattr(args, name) is None:
            setattr(args, name, value)
        elif soft and getattr(args, name) != value:
            parser.error(f"argument --{name.replace('_', '-')}: {getattr(args, name)} is not supported with "
                f"--phy soft, which has {value}")
    if not soft:
        return
    for name, given in (("--with-ddr", args.with_ddr), ("--completion-space", args.completion_space),
        ("--endianness little", args.endianness == "little")):
        if given:
            parser.error(f"argument {name}: not supported with --phy soft")
    args.sys_clk_freq = SOFT_CLOCK if args.sys_clk_freq is None else args.sys_clk_freq
    if not SOFT_CLOCKS[0] <= args.sys_clk_freq <= SOFT_CLOCKS[1]:
        parser.error(f"argument --sys-clk-freq: {args.sys_clk_freq:g} is not from 50e6 to 250e6 Hz, as --phy soft "
            "needs")


def check_args(parser, args, builds):
    """Ends the program with one line and status 2 if options do not fit together."""
    fill_in(parser, args)
    if args.fabric_width and args.phy != "split":
        parser.error("argument --fabric-width: not supported with --phy shared; add --phy split")
    if args.fabric_width not in (0, args.data_width, args.data_width//2):
        parser.error(f"argument --fabric-width: {args.fabric_width} is not supported with --data-width "
            f"{args.data_width}; give the same width or half of it")
    if not (args.build or args.load):
        parser.error("nothing to do; give --build, --load or both (see --help)")
    if args.sys_clk_freq is None:
        args.sys_clk_freq = usual_clock(args.gen, args.lanes, args.data_width, args.with_ddr)
    if not 1e6 <= args.sys_clk_freq <= 1e9:
        parser.error(f"argument --sys-clk-freq: {args.sys_clk_freq:g} is not from 1e6 to 1e9 Hz")
    try:
        check_memory_size(args.memory_size)
    except ValueError as error:
        parser.error(f"argument --memory-size: {error}")
    args.user = user_options(args)
    try:
        args.user.check(args.channels, "--channels")
    except ValueError as error:
        parser.error(str(error))
    if args.with_ddr:
        try:
            check_ddr(args.sys_clk_freq)
        except ValueError as error:
            parser.error(f"argument --sys-clk-freq: {error}")
    if args.output_dir is None:
        args.output_dir = builds / build_name(args.gen, args.lanes, args.data_width, args.phy, args.endianness,
            args.tags, args.with_ddr, args.channels, args.completion_space, args.fabric_width, **vars(args.user))
