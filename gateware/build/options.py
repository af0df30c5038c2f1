#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The command line of a board: LiteX's, with what makes sense for a SoC without a CPU."""

import argparse
import logging

from pathlib import Path

import litex.soc.integration.soc  # First: it and the parser import each other.  # noqa: F401

from litex.build.parser import LiteXArgumentParser

from litepcie_soc.board.board import Configuration, mega, size
from litepcie_soc.build import command_line

ACTIONS = ("build", "load", "flash", "driver")

# Of Vivado's steps, what LiteX can pass on and is not offered here.
VIVADO_DEFAULTS = {
    "synth_mode":                           "vivado",
    "vivado_opt_directive":                 "default",
    "vivado_post_place_phys_opt_directive": None,
    "vivado_post_route_phys_opt_directive": "default",
}


class BoardParser(command_line.Parser, LiteXArgumentParser):
    """LiteX's parser of targets without options for CPU, UART, ROM and the like.

    board : ``Board``.
    """
    def __init__(self, board):
        self.board = board
        LiteXArgumentParser.__init__(self, platform=board.platform)
        self.prog        = f"{board.name}.py"
        self.description = f"LitePCIe SoC on {board.title}."
        self.add_target_options()
        self.add_builder_options()
        self.add_vivado_options()

    def add_target_group(self):
        self.toolchains = ["vivado"]
        LiteXArgumentParser.add_target_group(self)

    def add_logging_group(self):
        logs = self.add_argument_group(title="Logging options")
        logs.add_argument("--log-level", default="warning", choices=["debug", "info", "warning", "error"],
            help="What LiteX says (warning).")

    def add_target_options(self):
        board, default = self.board, self.board.configure()
        add = self.add_target_argument
        add("--flash",  action="store_true", help="Write the bitstream into the board's flash.")
        add("--driver", action="store_true", help="Lay out driver, library and tool with this build's headers.")
        add("--cable",  metavar="NAME", help="JTAG cable (the programmer's choice for the board).")
        add("--pcie-gen", type=int, choices=board.gens, help=f"Generation ({default.gen}).")
        add("--pcie-lanes", type=int, choices=board.lanes, help=f"Lanes ({default.lanes}).")
        add("--data-width", type=int, choices=board.data_widths, help="Data path, bits (widest of the link).")
        add("--dma-channels", type=int, default=1, metavar="N",
            help=f"Each a reader and a writer, 1 to {board.channels} (1).")
        add("--tags", type=int, metavar="N", help=f"Requests outstanding, in all ({default.tags}).")
        add("--with-ddr", action="store_true", help=self.ddr_help())
        add("--with-litescope", action="store_true", help="Probes on the signals that tell how the link is used.")
        add("--sys-clk-freq", type=float, metavar="HZ",
            help=f"Clock ({mega(default.sys_clk_freq)} at the default link).")

    def ddr_help(self):
        memory = self.board.memory
        rate   = f", {memory.ddr_rate / 1e6:.0f} MB/s for both directions together" if memory.ddr_rate else ""
        return f"Endpoint memory in {memory.kind}, {size(memory.ddr)}{rate}, not in {size(memory.bram)} of block RAM."

    def add_builder_options(self):
        builder = self.add_argument_group(title="Builder options")
        builder.add_argument("--output-dir", type=Path, metavar="DIR",
            help=f"Build folder (build/{self.board.configure().name(self.board)}: named after the options).")
        builder.add_argument("--no-compile", action="store_true", help="Write everything, do not run Vivado.")

    def add_vivado_options(self):
        vivado = self.add_argument_group(title="Vivado options")
        for step in ("synth", "place", "route"):
            vivado.add_argument(f"--vivado-{step}-directive", default="default", metavar="NAME",
                help=f"Of {step}_design (default).")
        vivado.add_argument("--vivado-max-threads", type=int, metavar="N", help="Threads (Vivado's own choice).")
        argparse.ArgumentParser.set_defaults(self, **VIVADO_DEFAULTS)

    def parse_args(self, args=None, namespace=None):
        """Arguments, with ``configuration``, which the board can do, and ``output_dir``; else one line and status 2."""
        self._args = args = argparse.ArgumentParser.parse_args(self, args, namespace)
        logging.basicConfig(level=args.log_level.upper())
        self._toolchain = args.toolchain
        if not any(getattr(args, action) for action in ACTIONS):
            self.error(f"nothing to do: give {', '.join(f'--{action}' for action in ACTIONS)} (--help tells more)")
        try:
            args.configuration = self.configuration(args)
        except ValueError as error:
            self.error(str(error))
        return args

    def configuration(self, args) -> Configuration:
        return self.board.configure(args.pcie_gen, args.pcie_lanes, args.data_width,
            sys_clk_freq   = args.sys_clk_freq,
            tags           = args.tags,
            dma_channels   = args.dma_channels,
            with_ddr       = args.with_ddr,
            with_litescope = args.with_litescope,
        )
