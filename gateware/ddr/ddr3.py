#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DDR3 of boards with an Artix-7 or a Kintex-7: PHY, controller, training and their clocks."""

from migen import *
from migen.genlib.resetsync import AsyncResetSynchronizer

from litex.gen import *

from litex.soc.cores.clock import S7IDELAYCTRL
from litex.soc.interconnect.csr import CSRField, CSRStatus

from litedram.core import LiteDRAMCore
from litedram.phy.s7ddrphy import A7DDRPHY, K7DDRPHY

from litepcie_soc.common.link_rates import CLOCK_MARGIN
from litepcie_soc.ddr.delays import PhaseDelays, ResettableDelays
from litepcie_soc.ddr.training import SLIPS, DRAMTraining

# Clocks -------------------------------------------------------------------------------------------

IDELAY_HZ = 200e6
TAP_S     = 1/(64*IDELAY_HZ)  # Seconds per tap of a delay (DS181, DS182).


class DDRClocks(LiteXModule):
    """Clocks that DDR adds to a ``_CRG``: ``sys4x``, the reference clock of the delays, and ``training``.

    ``training`` has the clock of ``sys``, but leaves reset earlier: ``sys`` stays in reset until the memory is trained.

    Parameters
    ----------
    pll          : PLL that generates all these clocks, ``cd_sys`` included.
    cd_sys       : ClockDomain of sys; this module drives its clock and reset.
    sys_clk_freq : Hz of sys.
    with_dqs     : also generates ``sys4x_dqs``, which is ``sys4x`` a quarter of a cycle later, for a PHY without
        output delays. The training moves its phase, so ``pll`` must be an MMCM.

    Attributes
    ----------
    trained     : 1, **in**, training, the training is done.
    phase_move  : 1, **in**, training, moves the phase of ``sys4x_dqs`` by a step.
    phase_later : 1, **in**, training, with it: later, else earlier.
    phase_steps : int, steps in a cycle of ``sys4x``.
    """
    def __init__(self, pll, cd_sys, sys_clk_freq, with_dqs=True):
        self.trained     = Signal()
        self.phase_move  = Signal()
        self.phase_later = Signal()
        self.cd_training = ClockDomain()
        self.cd_sys4x    = ClockDomain(reset_less=True)
        self.cd_idelay   = ClockDomain()

        # # #

        pll.create_clkout(cd_sys,         sys_clk_freq, margin=CLOCK_MARGIN, with_reset=False)
        pll.create_clkout(self.cd_sys4x,  4*sys_clk_freq, margin=CLOCK_MARGIN, with_reset=False)
        pll.create_clkout(self.cd_idelay, IDELAY_HZ)
        if with_dqs:
            self.cd_sys4x_dqs = ClockDomain(reset_less=True)
            pll.create_clkout(self.cd_sys4x_dqs, 4*sys_clk_freq, margin=CLOCK_MARGIN, phase=90, with_reset=False)
            self.add_phase(pll, pll.nclkouts - 1)
        ready          = Signal()
        self.comb     += self.cd_training.clk.eq(cd_sys.clk)
        self.sync.training += ready.eq(self.trained)
        self.specials += [
            AsyncResetSynchronizer(self.cd_training, ~pll.locked),
            AsyncResetSynchronizer(cd_sys, ~(pll.locked & ready)),
        ]
        self.idelayctrl = S7IDELAYCTRL(self.cd_idelay)

    def add_phase(self, mmcm, n):
        """Connects the port that moves the phase of clock ``n``; a step is 1/56 of a cycle of the VCO (UG472)."""
        self.phase_steps = 56*mmcm.compute_config()[f"clkout{n}_divide"]
        mmcm.params.update({
            f"p_CLKOUT{n}_USE_FINE_PS": "TRUE",
            "i_PSCLK":    self.cd_training.clk,
            "i_PSEN":     self.phase_move,
            "i_PSINCDEC": self.phase_later,
        })

# DDR3 ---------------------------------------------------------------------------------------------

READ_TAPS = 32

# Phases of DQS that are tried without output delays, and their distance as a part of a cycle of the chips. DQS, which
# belongs into the middle of the data, a quarter of a cycle after its edge, is off it by 0.14 at most.
PHASES, PHASE = 5, 0.07

# Pulses of ``ResettableDelays``, and the registers of the PHY that each of them strobes.
PULSES = {
    "read_delay_rst": ("_rdly_dq_rst",),
    "read_delay_inc": ("_rdly_dq_inc",),
}

# The same with output delays. DQS keeps the quarter of a cycle after the data that the PHY gives it at reset.
PULSES_OUTPUT_DELAYS = {
    **PULSES,
    "write_delay_rst": ("_wdly_dq_rst", "_wdly_dqs_rst"),
    "write_delay_inc": ("_wdly_dq_inc", "_wdly_dqs_inc"),
}


class Series7DDR3(LiteXModule):
    """DDR3 with LiteDRAM's PHY and controller, initialised and trained without a CPU.

    Parameters
    ----------
    pads          : pads of the chips.
    module        : LiteDRAM's module, made for ``sys_clk_freq`` at 1:4.
    sys_clk_freq  : Hz of ``sys``, a quarter of the chips' clock.
    clocks        : ``DDRClocks``.
    output_delays : whether the pads have output delays (HP banks of a Kintex-7).

    Attributes
    ----------
    crossbar : LiteDRAM's, for ``DRAMMemory``.
    failed   : one bit per byte of the bus, **out**, training, no setting of this byte passed.

    Registers
    ---------
    Those of LiteDRAM's controller, and ``training``.
    """
    autocsr_exclude = {"phy"}  # The training drives its registers.

    def __init__(self, pads, module, sys_clk_freq, clocks, output_delays):
        phy_class = K7DDRPHY if output_delays else A7DDRPHY
        self.phy  = phy = ClockDomainsRenamer({"sys": "training"})(phy_class(pads,
            memtype          = "DDR3",
            nphases          = 4,
            sys_clk_freq     = sys_clk_freq,
            iodelay_clk_freq = IDELAY_HZ,
        ))
        self.core     = core = LiteDRAMCore(phy, module.geom_settings, module.timing_settings, sys_clk_freq)
        self.crossbar = core.crossbar
        ext_dfi       = core.dfii.ext_dfi
        if output_delays:
            delays = ResettableDelays(READ_TAPS, round(1/(8*sys_clk_freq)/TAP_S))
        else:
            delays = PhaseDelays(READ_TAPS, PHASES, round(PHASE*clocks.phase_steps))
            self.comb += [clocks.phase_move.eq(delays.phase_move), clocks.phase_later.eq(delays.phase_later)]
        trainer       = DRAMTraining(phy.settings, module.timing_settings,
            addressbits = len(ext_dfi.phases[0].address),
            bankbits    = len(ext_dfi.phases[0].bank),
            clk_freq    = sys_clk_freq,
            delays      = delays,
        )
        self.trainer  = ClockDomainsRenamer("training")(trainer)
        self.failed   = trainer.failed
        self.training = CSRStatus(description="Result of the DDR training.", fields=[
            CSRField("failed", len(trainer.failed), description="Bytes of the bus for which no setting passed."),
        ])

        # # #

        self.comb += [
            trainer.dfi.connect(ext_dfi),
            core.dfii.ext_dfi_sel.eq(~trainer.done),
            clocks.trained.eq(trainer.done),
            self.training.fields.failed.eq(trainer.failed),
            phy._dly_sel.storage.eq(trainer.select),
        ]
        pulses = PULSES_OUTPUT_DELAYS if output_delays else PULSES
        for source, named in ((trainer, SLIPS), (delays, pulses)):
            self.comb += [getattr(phy, move).re.eq(getattr(source, name))
                for name, moves in named.items() for move in moves]
        # The PHY's other registers are in no CSR bank, so nothing writes them: they keep their reset values. The chips'
        # clock stays as early as possible.
        self.comb += [register.storage.eq(register.storage.reset)
            for register in (phy._rst, phy._wlevel_en, phy._rdphase, phy._wrphase)]
        unused = [phy._wlevel_strobe, *([phy._cdly_rst, phy._cdly_inc] if output_delays else [])]
        self.comb += [register.re.eq(0) for register in unused]
