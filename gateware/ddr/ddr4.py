#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DDR4 of boards with an UltraScale or an UltraScale+: PHY, controller, training and their clocks."""

from migen import *
from migen.genlib.cdc import MultiReg
from migen.genlib.resetsync import AsyncResetSynchronizer

from litex.gen import *

from litex.soc.cores.clock import USIDELAYCTRL, USMMCM, USPIDELAYCTRL, USPMMCM
from litex.soc.interconnect.csr import CSR, CSRField, CSRStatus, CSRStorage

from litedram.core import LiteDRAMCore
from litedram.phy.usddrphy import USDDRPHY, USPDDRPHY

from litepcie_soc.common.link_rates import CLOCK_MARGIN
from litepcie_soc.ddr.delays import WrappingDelays
from litepcie_soc.ddr.training import SLIPS, DRAMTraining

# Clocks -------------------------------------------------------------------------------------------

# Clock of the controller, a quarter of the chips' clock: 1250 MT/s. At a lower clock DDR4's DLL does not work
# (JESD79-4); a higher one is out of range for the serializers (DS892, DS923).
DDR_CLK_FREQ = 156.25e6

IDELAY_HZ = 312.5e6  # Reference clock of the delays: at least 200 MHz on UltraScale, 300 MHz on UltraScale+.


class UltraScaleDDRClocks(LiteXModule):
    """Clocks of DDR4, from an oscillator next to its banks: ``ddr``, ``ddr4x`` and ``training``.

    ``ddr`` and ``ddr4x`` come from one output of the MMCM, so the serializers see them aligned.
    ``training`` has the clock of ``ddr``, but leaves reset earlier: ``ddr`` stays in reset until the memory is trained.
    Both are in reset until the delays are calibrated.

    Parameters
    ----------
    clkin      : clock of the oscillator, pads or signal.
    clkin_freq : Hz.
    plus       : True on UltraScale+, False on UltraScale.

    Attributes
    ----------
    trained : 1, **in**, training, the training is done.
    """
    def __init__(self, clkin, clkin_freq, plus):
        self.trained     = Signal()
        self.cd_ddr      = ClockDomain()
        self.cd_training = ClockDomain()
        self.cd_ddr4x    = ClockDomain(reset_less=True)
        self.cd_ddr_pll  = ClockDomain(reset_less=True)
        self.cd_idelay   = ClockDomain()

        # # #

        # The fast clock is not the MMCM's first output: that one may get a fractional divider, which adds jitter.
        self.pll = pll = (USPMMCM if plus else USMMCM)(speedgrade=-2)
        pll.register_clkin(clkin, clkin_freq)
        pll.create_clkout(self.cd_idelay, IDELAY_HZ, margin=CLOCK_MARGIN)
        pll.create_clkout(self.cd_ddr_pll, 4*DDR_CLK_FREQ, margin=CLOCK_MARGIN, buf=None, with_reset=False)
        ready          = Signal()
        self.specials += [
            Instance("BUFGCE_DIV", p_BUFGCE_DIVIDE=4, i_CE=1, i_I=self.cd_ddr_pll.clk, o_O=self.cd_ddr.clk),
            Instance("BUFGCE", i_CE=1, i_I=self.cd_ddr_pll.clk, o_O=self.cd_ddr4x.clk),
            AsyncResetSynchronizer(self.cd_ddr, ~ready),
        ]
        self.comb          += self.cd_training.clk.eq(self.cd_ddr.clk)
        self.sync.training += ready.eq(self.trained)
        # The reset is a register; its initial value 1 puts the domain into reset at configuration.
        self.cd_training.rst = Signal(reset=1, name_override="training_rst")
        self.idelayctrl      = (USPIDELAYCTRL if plus else USIDELAYCTRL)(self.cd_idelay, self.cd_training)

# DDR4 ---------------------------------------------------------------------------------------------

# Latencies at 1.6 ns (JESD79-4, speed bins); CL 11 is for cycles shorter than 1.5 ns.
CL, CWL = 10, 9

# Pulses of ``WrappingDelays``, and the registers of the PHY that each of them strobes. DQS keeps its calibrated quarter
# of a cycle after the data.
PULSES = {
    "read_delay_inc":  ("_rdly_dq_inc",),
    "write_delay_inc": ("_wdly_dq_inc", "_wdly_dqs_inc"),
}


def hold(registers):
    """Statements that keep CSRs at their reset values. They are in no CSR bank, so nothing else drives them."""
    for register in registers:
        if isinstance(register, CSRStorage):
            yield register.storage.eq(register.storage.reset)
            if hasattr(register, "fields"):
                yield [field.eq(register.storage[field.offset:field.offset + field.size])
                    for field in register.fields.fields]
        elif isinstance(register, CSR):
            yield register.re.eq(0)


class UltraScaleDDR4(LiteXModule):
    """DDR4 with LiteDRAM's PHY and controller, initialised and trained without a CPU.

    Parameters
    ----------
    pads       : pads of the chips; 64 data bits.
    module     : LiteDRAM's module, made for ``DDR_CLK_FREQ`` at 1:4.
    clocks     : ``UltraScaleDDRClocks``.
    plus       : True on UltraScale+, False on UltraScale.
    registered : whether the module is an RDIMM, with a register of addresses and commands.

    Attributes
    ----------
    crossbar     : LiteDRAM's, for ``DRAMMemory``.
    clock_domain : clock domain of the crossbar.
    byte_mask    : whether the chips have data masks.
    ready        : 1, **out**, training, the training is done, and every byte of the bus passed.
    failed       : one bit per byte of the bus, **out**, training, no setting of this byte passed.

    Registers
    ---------
    ``training``.
    """
    # Their registers are in another clock domain. The training drives those that it needs, ``hold`` the others.
    autocsr_exclude = {"phy", "core"}

    clock_domain = "ddr"

    def __init__(self, pads, module, clocks, plus, registered=False):
        self.byte_mask = hasattr(pads, "dm")
        phy            = (USPDDRPHY if plus else USDDRPHY)(pads,
            memtype          = "DDR4",
            sys_clk_freq     = DDR_CLK_FREQ,
            iodelay_clk_freq = IDELAY_HZ,
            cl               = CL,
            cwl              = CWL,
            cmd_latency      = int(registered),  # An RDIMM's register adds a cycle.
            is_rdimm         = registered,
        )
        core          = LiteDRAMCore(phy, module.geom_settings, module.timing_settings, DDR_CLK_FREQ)
        ext_dfi       = core.dfii.ext_dfi
        delays        = WrappingDelays()
        trainer       = DRAMTraining(phy.settings, module.timing_settings,
            addressbits = len(ext_dfi.phases[0].address),
            bankbits    = len(ext_dfi.phases[0].bank),
            clk_freq    = DDR_CLK_FREQ,
            delays      = delays,
            masks       = self.byte_mask,
        )
        self.phy      = ClockDomainsRenamer({"sys": "training", "sys4x": "ddr4x"})(phy)
        self.core     = ClockDomainsRenamer("ddr")(core)
        self.trainer  = ClockDomainsRenamer("training")(trainer)
        self.crossbar = core.crossbar
        self.failed   = trainer.failed
        self.ready    = Signal()
        self.training = CSRStatus(description="Result of the DDR training.", fields=[
            CSRField("failed", len(trainer.failed), description="Bytes of the bus for which no setting passed."),
        ])

        # # #

        self.specials += MultiReg(trainer.failed, self.training.fields.failed)
        self.comb     += [
            trainer.dfi.connect(ext_dfi),
            core.dfii.ext_dfi_sel.eq(~trainer.done),
            clocks.trained.eq(trainer.done),
            delays.clock_taps.eq(phy._cdly_value.status),
            delays.dqs_taps.eq(phy._half_sys8x_taps.status),
        ]
        # A register drives everything that goes to the delays of all pins. The delays track voltage and temperature
        # (EN_VTC), except while the training moves them (UG571).
        driven = {"_dly_sel": trainer.select, "_en_vtc": ~trainer.moving}
        for source, named in ((trainer, SLIPS), (delays, PULSES)):
            driven.update((move, getattr(source, name)) for name, moves in named.items() for move in moves)
        for name, signal in driven.items():
            register            = getattr(phy, name)
            self.sync.training += (register.storage if isinstance(register, CSRStorage) else register.re).eq(signal)
        self.sync.training += self.ready.eq(trainer.done & (trainer.failed == 0))
        self.comb          += list(hold(register for name, register in vars(phy).items() if name not in driven))
        self.comb          += list(hold(core.get_csrs()))
