#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""DDR4 of boards with an UltraScale or an UltraScale+: PHY, controller and training; and the clocks that they need."""

from migen import *
from migen.genlib.cdc import MultiReg
from migen.genlib.resetsync import AsyncResetSynchronizer

from litex.gen import *

from litex.soc.cores.clock import USIDELAYCTRL, USMMCM, USPIDELAYCTRL, USPMMCM
from litex.soc.interconnect.csr import CSR, CSRField, CSRStatus, CSRStorage

from litedram.core import LiteDRAMCore
from litedram.phy.usddrphy import USDDRPHY, USPDDRPHY

from litepcie_soc.common.link_rates import CLOCK_MARGIN
from litepcie_soc.ddr.delays import RoundDelays
from litepcie_soc.ddr.training import SLIPS, DRAMTraining

# Clocks -------------------------------------------------------------------------------------------

# Of the controller, a quarter of the chips': 1250 MT/s. Slower, DDR4 has no DLL (JESD79-4); faster, the serializers'
# clock is out of their range (DS892, DS923).
DDR_CLK_FREQ = 156.25e6

IDELAY_HZ = 312.5e6  # Reference of the delays: UltraScale from 200 MHz on, UltraScale+ from 300.


class UltraScaleDDRClocks(LiteXModule):
    """Clocks of DDR4, from an oscillator beside its banks: ``ddr`` and four times that, which the serializers see
    aligned, since both are made from one output; and ``training``.

    ``training`` is ``ddr`` that runs while ``ddr`` is still in reset: controller and memory wait until the training is
    over. Both are in reset until the delays are calibrated.

    clkin, clkin_freq : of the oscillator, pads or signal; Hz.
    plus              : UltraScale+.

    Attributes
    ----------
    trained : 1, **in**, training.
    """
    def __init__(self, clkin, clkin_freq, plus):
        self.trained     = Signal()
        self.cd_ddr      = ClockDomain()
        self.cd_training = ClockDomain()
        self.cd_ddr4x    = ClockDomain(reset_less=True)
        self.cd_ddr_pll  = ClockDomain(reset_less=True)
        self.cd_idelay   = ClockDomain()

        # # #

        # The fast clock is not the first of the outputs: that may be divided by fractions, which jitter.
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
        # It is a register that begins as it is reset: in reset.
        self.cd_training.rst = Signal(reset=1, name_override="training_rst")
        self.idelayctrl      = (USPIDELAYCTRL if plus else USIDELAYCTRL)(self.cd_idelay, self.cd_training)

# DDR4 ---------------------------------------------------------------------------------------------

# At 1.6 ns (JESD79-4, speed bins): CL 11 begins below 1.5.
CL, CWL = 10, 9

# Of the delays, and what of the PHY each moves. DQS stays a quarter of a cycle behind the data, as it was calibrated.
PULSES = {
    "read_delay_inc":  ("_rdly_dq_inc",),
    "write_delay_inc": ("_wdly_dq_inc", "_wdly_dqs_inc"),
}


def hold(registers):
    """What nobody writes, since the registers are in no bank: they stay what they are."""
    for register in registers:
        if isinstance(register, CSRStorage):
            yield register.storage.eq(register.storage.reset)
            if hasattr(register, "fields"):
                yield [field.eq(register.storage[field.offset:field.offset + field.size])
                    for field in register.fields.fields]
        elif isinstance(register, CSR):
            yield register.re.eq(0)


class UltraScaleDDR4(LiteXModule):
    """DDR4 behind LiteDRAM, brought up without a CPU.

    Parameters
    ----------
    pads       : of the chips; 64 bit.
    module     : LiteDRAM's, made for ``DDR_CLK_FREQ`` at 1:4.
    clocks     : ``UltraScaleDDRClocks``.
    plus       : UltraScale+.
    registered : the module has a register of addresses and commands (RDIMM).

    Attributes
    ----------
    crossbar     : LiteDRAM's, for ``DRAMMemory``.
    clock_domain : of the crossbar.
    byte_mask    : whether the chips have data masks.
    ready        : 1, **out**, training: trained, and all bytes of the bus can be read.
    failed       : one a byte of the bus, **out**, training: no setting reads it.

    Registers: ``training``: what came of it.
    """
    autocsr_exclude = {"phy", "core"}  # In another clock; the training, or nobody, has what they are for.

    clock_domain = "ddr"

    def __init__(self, pads, module, clocks, plus, registered=False):
        self.byte_mask = hasattr(pads, "dm")
        phy            = (USPDDRPHY if plus else USDDRPHY)(pads,
            memtype          = "DDR4",
            sys_clk_freq     = DDR_CLK_FREQ,
            iodelay_clk_freq = IDELAY_HZ,
            cl               = CL,
            cwl              = CWL,
            cmd_latency      = int(registered),  # The register's.
            is_rdimm         = registered,
        )
        core          = LiteDRAMCore(phy, module.geom_settings, module.timing_settings, DDR_CLK_FREQ)
        ext_dfi       = core.dfii.ext_dfi
        delays        = RoundDelays()
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
        self.training = CSRStatus(description="Of the DDR.", fields=[
            CSRField("failed", len(trainer.failed), description="bytes of the bus that no setting reads"),
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
        # What goes to the delays of every pin comes out of a register. These follow voltage and temperature
        # (EN_VTC) but while they are moved (UG571).
        driven = {"_dly_sel": trainer.select, "_en_vtc": ~trainer.moving}
        for source, named in ((trainer, SLIPS), (delays, PULSES)):
            driven.update((move, getattr(source, name)) for name, moves in named.items() for move in moves)
        for name, signal in driven.items():
            register            = getattr(phy, name)
            self.sync.training += (register.storage if isinstance(register, CSRStorage) else register.re).eq(signal)
        self.sync.training += self.ready.eq(trainer.done & (trainer.failed == 0))
        self.comb          += list(hold(register for name, register in vars(phy).items() if name not in driven))
        self.comb          += list(hold(core.get_csrs()))
