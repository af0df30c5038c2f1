#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The name of a simulated board's build folder. Standard library only."""

from litepcie_soc.board.user_options import NAMES, user_options


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
