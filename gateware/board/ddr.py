#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DDR3 of boards with an Artix-7: PHY, controller and training; and the clocks that they need."""

from migen import *
from migen.genlib.resetsync import AsyncResetSynchronizer

from litex.gen import *

from litex.soc.cores.clock import S7IDELAYCTRL
from litex.soc.interconnect.csr import CSRField, CSRStatus

from litedram.core import LiteDRAMCore
from litedram.phy.s7ddrphy import A7DDRPHY

from litepcie_soc.board.board import CLOCK_MARGIN
from litepcie_soc.board.ddr_training import DRAMTraining

# Clocks -------------------------------------------------------------------------------------------

IDELAY_HZ = 200e6


class DDRClocks(LiteXModule):
    """What DDR adds to a ``_CRG``: four times ``sys`` twice, the reference of the delays, and ``training``.

    ``training`` is ``sys`` that runs while ``sys`` is still in reset: all else waits until the memory is there.

    pll    : the PLL of ``cd_sys``, which is made here.
    cd_sys : clock domain.

    Attributes
    ----------
    trained : 1, **in**, training.
    """
    def __init__(self, pll, cd_sys, sys_clk_freq):
        self.trained      = Signal()
        self.cd_training  = ClockDomain()
        self.cd_sys4x     = ClockDomain(reset_less=True)
        self.cd_sys4x_dqs = ClockDomain(reset_less=True)
        self.cd_idelay    = ClockDomain()

        # # #

        pll.create_clkout(cd_sys,            sys_clk_freq, margin=CLOCK_MARGIN, with_reset=False)
        pll.create_clkout(self.cd_sys4x,     4*sys_clk_freq, margin=CLOCK_MARGIN, with_reset=False)
        pll.create_clkout(self.cd_sys4x_dqs, 4*sys_clk_freq, margin=CLOCK_MARGIN, phase=90, with_reset=False)
        pll.create_clkout(self.cd_idelay,    IDELAY_HZ)
        ready          = Signal()
        self.comb     += self.cd_training.clk.eq(cd_sys.clk)
        self.sync.training += ready.eq(self.trained)
        self.specials += [
            AsyncResetSynchronizer(self.cd_training, ~pll.locked),
            AsyncResetSynchronizer(cd_sys, ~(pll.locked & ready)),
        ]
        self.idelayctrl = S7IDELAYCTRL(self.cd_idelay)

# DDR3 ---------------------------------------------------------------------------------------------

# The PHY's pulses, in the order it asks for them to be crossed from the registers' clock.
PULSES = ("read_delay_rst", "read_delay_inc", "read_slip_rst", "read_slip", None, "write_slip_rst", "write_slip")


class ArtixDDR3(LiteXModule):
    """DDR3 behind LiteDRAM, brought up without a CPU.

    Parameters
    ----------
    pads         : of the chips.
    module       : LiteDRAM's, made for ``sys_clk_freq`` at 1:4.
    sys_clk_freq : Hz of ``sys``, a quarter of the chips' clock.
    clocks       : ``DDRClocks``.

    Attributes
    ----------
    crossbar : LiteDRAM's, for ``DRAMMemory``.
    failed   : one a byte of the bus, **out**, training: no setting reads it.

    Registers: LiteDRAM's; ``training``: what came of it.
    """
    autocsr_exclude = {"phy"}  # Its registers are driven by the training.

    def __init__(self, pads, module, sys_clk_freq, clocks):
        asked    = []
        self.phy = phy = ClockDomainsRenamer({"sys": "training"})(A7DDRPHY(pads,
            memtype          = "DDR3",
            nphases          = 4,
            sys_clk_freq     = sys_clk_freq,
            iodelay_clk_freq = IDELAY_HZ,
            csr_cdc          = lambda _: asked.append(Signal()) or asked[-1],
        ))
        self.core     = core = LiteDRAMCore(phy, module.geom_settings, module.timing_settings, sys_clk_freq)
        self.crossbar = core.crossbar
        ext_dfi       = core.dfii.ext_dfi
        trainer       = DRAMTraining(phy.settings, module.timing_settings,
            addressbits = len(ext_dfi.phases[0].address),
            bankbits    = len(ext_dfi.phases[0].bank),
            clk_freq    = sys_clk_freq,
        )
        self.trainer  = ClockDomainsRenamer("training")(trainer)
        self.failed   = trainer.failed
        self.training = CSRStatus(description="Of the DDR.", fields=[
            CSRField("failed", len(trainer.failed), description="bytes of the bus that no setting reads"),
        ])

        # # #

        self.comb += [
            trainer.dfi.connect(ext_dfi),
            core.dfii.ext_dfi_sel.eq(~trainer.done),
            clocks.trained.eq(trainer.done),
            self.training.fields.failed.eq(trainer.failed),
            *[signal.eq(0 if name is None else getattr(trainer, name))
                for name, signal in zip(PULSES, asked, strict=True)],
            # What nobody writes, since the registers are in no bank.
            phy._dly_sel.storage.eq(trainer.select),
            *[register.storage.eq(register.storage.reset)
                for register in (phy._rst, phy._wlevel_en, phy._rdphase, phy._wrphase)],
        ]
