#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The card in a SoC of LiteX, and the SoC that every target uses."""

import functools
import logging
import re

from importlib import metadata

from migen.util.misc import xdir

from litex.soc.integration.soc_core import SoCMini

from litepcie_soc.axi.beats import AXISlave
from litepcie_soc.common import abi
from litepcie_soc.dma.engine import DIRECTIONS
from litepcie_soc.soc.card import LitePCIe
from litepcie_soc.soc.user_bus import BusGuard, host_cycles_of, user_bus_of
from litepcie_soc.tlp.completer_user import UserBus

# Versions -----------------------------------------------------------------------------------------
# Compares the installed LiteX with the one that ``setup.py`` names. Standard library only.


def required():
    """Returns {package: version} of the exact requirements of this package; nothing if it is not installed."""
    try:
        lines = metadata.requires("litepcie_soc") or []
    except metadata.PackageNotFoundError:
        return {}
    return dict(match.groups() for line in lines if (match := re.fullmatch(r"([\w.-]+)==([^;\s]+)", line)))


@functools.cache
def warn_of_other_versions():
    """Logs one line, once, if packages have other versions than the tests."""
    others = []
    for name, version in required().items():
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue  # The import says so.
        if found != version:
            others.append(f"{name} {found} instead of {version}")
    if others:
        logging.getLogger("litepcie_soc").warning("not tested with %s: the Verilog and the settings of the PHY may be "
            "wrong; `pip install litepcie_soc` without --no-deps installs the tested versions", ", ".join(others))

# SoC ----------------------------------------------------------------------------------------------

NAME = "litepcie"  # Of the card, if the caller gives none.


def add_litepcie(soc, phy, *, name=NAME, user_bus=None, **options):
    """Adds ``LitePCIe`` to any LiteX SoC as ``soc.litepcie``, and returns it.

    A SoC may have several cards, each with a PHY, registers, engines and interrupts of its own. The card ``name`` is
    ``soc.<name>``, and its constants in ``soc.h`` are ``CONFIG_<NAME>_PCIE_*`` instead of ``CONFIG_PCIE_*``. The
    headers of ``export_headers`` are those of ``soc.litepcie``; the pinned registers of the others are the same.

    Parameters
    ----------
    soc      : ``SoCCore``, ``SoCMini`` or a class derived from them, not finalised; with or without a CPU.
    phy      : PHY of the card, a submodule of the SoC.
    name     : str, the attribute of the SoC, which must be free.
    user_bus : range of the SoC's bus that the host reaches in BAR0, see ``user_bus_of``. True: the SoC's registers.
        A ``UserBus``: of a bus of the caller, who connects ``tlp.user.bus`` to it.
    options  : parameters of ``LitePCIe``, without ``sys_clk_freq``; ``target`` is the platform's name by default.

    Raises ``ValueError`` if an argument is not supported.
    """
    if not isinstance(name, str) or not name.isidentifier() or name in dir(soc):
        raise ValueError(f"name {name!r} of a card is taken or no identifier; give another one")
    warn_of_other_versions()
    of_caller    = isinstance(user_bus, UserBus)
    user_bus     = user_bus if of_caller else user_bus_of(soc, user_bus)
    if options.get("host_buffers"):
        options.setdefault("host_timeout_cycles", host_cycles_of(soc))
    options.setdefault("target", soc.platform.name)
    litepcie = LitePCIe(phy, sys_clk_freq=soc.sys_clk_freq, user_bus=user_bus, **options)
    setattr(soc, name, litepcie)
    if soc.bus.standard != "wishbone" and hasattr(litepcie, "host"):
        litepcie.host_slave = slave = AXISlave(soc.bus.address_width, lite=soc.bus.standard == "axi-lite")
        litepcie.comb      += slave.bus.connect(litepcie.host.bus)
        litepcie.host.bus   = slave.axi
    if user_bus and not of_caller:
        host   = litepcie.host.bus if hasattr(litepcie, "host") else None
        master = "pcie" if name == NAME else name
        guard  = BusGuard(soc, user_bus, litepcie.tlp.user.bus, host, master)
        setattr(soc, f"{name}_bus", guard)
        soc.bus.add_master(master, master=guard.bus)
    litepcie.prefix = "" if name == NAME else f"{name}_"
    for constant, value in litepcie.constants.items():
        soc.add_config(litepcie.prefix + constant, value)
    litepcie.soc_constants = soc.constants
    return litepcie


# Attributes of ``LitePCIe`` that ``LitePCIeSoC`` has too.
SHORT_NAMES = ("engines", "streams", "memory", "memory_size", "tlp", "identity", "msi", "function_reset",
    *(f"{direction}{n}" for direction in DIRECTIONS for n in range(abi.MAX_CHANNELS)))


class LitePCIeSoC(SoCMini):
    """SoC without a CPU whose first purpose is the card. A target makes its clocks and its PHY, then calls
    ``add_litepcie``.

    Unlike other SoCs it has no SoC controller unless ``with_ctrl`` is given: a reset of the SoC cuts a TLP in two.
    Engines have their own reset, and the identity bank has the scratch register.

    The SHORT_NAMES of ``soc.litepcie`` are attributes of the SoC too.
    """
    # LiteX writes the addresses of a SoC with a CPU into the dict of its class, and later SoCs take them.
    mem_map = dict(SoCMini.mem_map)

    def __init__(self, platform, sys_clk_freq, with_ctrl=False, **kwargs):
        self.mem_map = dict(self.mem_map)
        SoCMini.__init__(self, platform, sys_clk_freq, with_ctrl=with_ctrl, **kwargs)

    def add_csr_bridge(self, *args, **kwargs):
        """Adds LiteX's CSR bridge if the SoC has registers besides the pinned ones; LiteX cannot do without any."""
        if any(hasattr(module, "get_csrs") and (module.get_csrs() or module.get_memories())
                for _, module in xdir(self, True)):
            SoCMini.add_csr_bridge(self, *args, **kwargs)

    def add_litepcie(self, phy, **options):
        """As the function ``add_litepcie``."""
        return add_litepcie(self, phy, **options)

    def __getattr__(self, name):
        # Not properties: LiteX would find the modules a second time and give their registers another bank.
        if name in SHORT_NAMES and "litepcie" in vars(self):
            return getattr(self.litepcie, name)
        return SoCMini.__getattr__(self, name)
