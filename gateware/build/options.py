#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The command line of a board: LiteX's options that make sense for a SoC without a CPU, and our own."""

import argparse
import logging

from pathlib import Path

import litex.soc.integration.soc  # First, because this module and the parser import each other.  # noqa: F401

from litex.build.parser import LiteXArgumentParser

from litepcie_soc.board.board import Configuration, mega, size
from litepcie_soc.board.user_options import add_user_options, user_options
from litepcie_soc.build import command_line
from litepcie_soc.phy.ultrascale.descriptors import LOWER_ADDRESS_BITS
from litepcie_soc.stream_dma.stream import streams_of

ACTIONS = ("build", "load", "flash", "driver")

# Options of boards that are built by the open tools.
TRELLIS_OPTIONS = ("refclk", "analogue", "serdes", "receiver_detect", "seed", "bringup")

# Options that some boards do not have.
FAMILY_OPTIONS = (*TRELLIS_OPTIONS, "device", "lower_address_bits", "retry_link")

TOOLS = {"vivado": "Vivado", "trellis": "yosys and nextpnr"}

# Arguments of LiteX's Vivado toolchain without an option here.
VIVADO_DEFAULTS = {
    "synth_mode":                           "vivado",
    "vivado_opt_directive":                 "default",
    "vivado_post_place_phys_opt_directive": None,
    "vivado_post_route_phys_opt_directive": "default",
}


class Renamed(argparse.Action):
    """An option that has another name now: a usage error that says which."""
    def __call__(self, parser, namespace, values, option_string=None):
        name = self.dest.removeprefix("pcie_")
        parser.error(f"--pcie-{name} has become --{name}, as in the simulator and litepcie_util")


class BoardParser(command_line.Parser, LiteXArgumentParser):
    """LiteX's parser of targets, without the options for CPU, UART and ROM.

    board     : ``Board``.
    own_logic : dict, parameters of ``add_litepcie`` for logic that the SoC has. It then has none that options add.
    program   : name of the program. None: that of the board's target.
    """
    def __init__(self, board, own_logic=None, program=None):
        self.board     = board
        self.own_logic = own_logic
        LiteXArgumentParser.__init__(self, platform=board.platform)
        self.prog        = program or f"{board.name}.py"
        self.description = f"LitePCIe SoC on {board.title}."
        self.add_target_options()
        self.add_builder_options()
        if board.toolchain == "vivado":
            self.add_vivado_options()
        else:
            self.add_trellis_options()

    def add_target_group(self):
        self.toolchains = [self.board.toolchain]
        self._default_toolchain = self.board.toolchain
        LiteXArgumentParser.add_target_group(self)

    def add_logging_group(self):
        logs = self.add_argument_group(title="Logging options")
        logs.add_argument("--log-level", default="warning", choices=["debug", "info", "warning", "error"],
            help="Level of LiteX's messages (warning).")

    def add_target_options(self):
        board, default = self.board, self.board.configure()
        add = self.add_target_argument
        add("--flash",  action="store_true", help="Write the bitstream into the board's flash.")
        add("--driver", action="store_true", help="Lay out driver, library and tool with the headers of this build.")
        add("--cable",  metavar="NAME", help="JTAG cable (the programmer's choice for the board).")
        add("--gen", type=int, choices=board.gens, help=f"Generation of the link ({default.gen}).")
        add("--lanes", type=int, choices=board.lanes, help=f"Lanes of the link ({default.lanes}).")
        for name in ("gen", "lanes"):
            add(f"--pcie-{name}", action=Renamed, help=argparse.SUPPRESS)
        add("--data-width", type=int, choices=board.data_widths,
            help="Width of the data path in bits (the widest for the link).")
        add("--dma-channels", type=int, default=1, metavar="N",
            help=f"Memory channels, each with a reader and a writer, at most {board.channels} (1).")
        if not self.own_logic:
            add_user_options(add, board.channels)
        add("--tags", type=int, metavar="N", help=f"Requests that all channels can have outstanding ({default.tags}).")
        add("--with-ddr", action="store_true", help=self.ddr_help())
        add("--with-litescope", action="store_true",
            help="Add LiteScope probes on the signals that show the use of the link.")
        if board.family.startswith("ultrascale"):
            add("--lower-address-bits", type=int, default=2, choices=LOWER_ADDRESS_BITS,
                help="Bits of a completion's lower address that are compared (2); see docs/bring-up-hard-block.md.")
        if len(board.devices) > 1 or board.check_part:
            add("--device", metavar="NAME",
                help=f"Device of the board: {', '.join(board.devices)} ({default.device}).")
        if board.toolchain == "vivado":
            add("--retry-link", action="store_true",
                help="Reset the hard block until its link is up (some hosts need it after a cold boot).")
        add("--sys-clk-freq", type=float, metavar="HZ",
            help=f"Clock of the data path ({mega(default.sys_clk_freq)} at the default link).")

    def ddr_help(self):
        memory = self.board.memory
        if not memory.ddr:
            return argparse.SUPPRESS
        rate   = f", {memory.ddr_rate / 1e6:.0f} MB/s for both directions together" if memory.ddr_rate else ""
        return (f"Endpoint memory in {memory.kind}, {size(memory.ddr)}{rate}, "
            f"instead of {size(memory.bram)} of block RAM.")

    def add_builder_options(self):
        builder = self.add_argument_group(title="Builder options")
        builder.add_argument("--output-dir", type=Path, metavar="DIR",
            help=f"Build folder (named after the options: build/{self.board.configure().name(self.board)}).")
        builder.add_argument("--no-compile", action="store_true",
            help=f"Write all files, but do not run {TOOLS[self.board.toolchain]}.")

    def add_vivado_options(self):
        vivado = self.add_argument_group(title="Vivado options")
        for step in ("synth", "place", "route"):
            vivado.add_argument(f"--vivado-{step}-directive", default="default", metavar="NAME",
                help=f"Directive of {step}_design (default).")
        vivado.add_argument("--vivado-max-threads", type=int, metavar="N",
            help="Largest number of threads (Vivado's default).")
        argparse.ArgumentParser.set_defaults(self, **VIVADO_DEFAULTS)

    def add_trellis_options(self):
        board, default = self.board, self.board.configure()
        trellis = self.add_argument_group(title="SerDes options")
        trellis.add_argument("--refclk", type=float, metavar="HZ",
            help=f"Reference clock that the SerDes tries first: {' or '.join(map(mega, board.refclks))} "
                f"({mega(default.refclk)}). After 5 ms without lock it tries the other.")
        trellis.add_argument("--analogue", metavar="NAME",
            help=f"Analogue words of the SerDes: {', '.join(board.analogues)} ({default.analogue}).")
        trellis.add_argument("--serdes", metavar="MODE",
            help=f"Use of the SerDes: {', '.join(board.serdes_modes)} ({default.serdes}); see docs/bring-up-ecp5.md.")
        trellis.add_argument("--no-receiver-detect", dest="receiver_detect", action="store_false",
            help="Train the link without looking for a receiver before.")
        if not self.own_logic:
            trellis.add_argument("--bringup", action="store_true",
                help="Build an instrument for the SerDes instead of a card: link training and a serial port only.")
        trellis.add_argument("--seed", type=int, metavar="N", help="Seed of the placement (1).")

    def litex_options(self):
        """Returns the options of LiteX's toolchain."""
        return self.toolchain_argdict if self.board.toolchain == "vivado" else {}

    def parse_args(self, args=None, namespace=None):
        """Returns the arguments with a checked ``configuration``; ends with one line and status 2 if they are wrong."""
        self._args = args = argparse.ArgumentParser.parse_args(self, args, namespace)
        logging.basicConfig(level=args.log_level.upper())
        self._toolchain = args.toolchain
        if not any(getattr(args, action) for action in ACTIONS):
            self.error(f"nothing to do; give one of {', '.join(f'--{action}' for action in ACTIONS)} (see --help)")
        if args.driver and getattr(args, "bringup", False):
            self.error("--bringup builds no card, so there is no --driver for it")
        try:
            args.configuration = self.configuration(args)
        except ValueError as error:
            self.error(str(error))
        return args

    def configuration(self, args) -> Configuration:
        return self.board.configure(args.gen, args.lanes, args.data_width,
            sys_clk_freq   = args.sys_clk_freq,
            tags           = args.tags,
            dma_channels   = args.dma_channels,
            with_ddr       = args.with_ddr,
            with_litescope = args.with_litescope,
            user           = user_options(args),
            own_streams    = len(streams_of((self.own_logic or {}).get("streams", 0))),
            **{name: getattr(args, name) for name in FAMILY_OPTIONS if hasattr(args, name)},
        )
