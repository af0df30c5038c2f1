#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""LitePCIe's PHYs of UltraScale and UltraScale+ with the project's own logic around the hard block.

Of LitePCIe 2024.12's classes their clocking, registers and Vivado's configuration of the IP are used. What is left out
is their clock crossing (see `crossing.py`) and their Verilog between streams and IP. Its faults, file by file:

- `s_axis_rq_adapt_256b.v` takes the address from dwords 2 and 3 of the header whatever the format says, those of 128
  and 512 bit send 0 for the upper address.
- `m_axis_rc_adapt_*.v` tell a completion with data by its byte count: one with an error status, which has a count and
  no data, becomes one of 1024 dwords; and they clear EP. That of 512 bit has a port of the wrong name: it does not
  elaborate. `be` follows the bytes asked for, not the dwords there are.
- `m_axis_cq_adapt_*.v` need a cycle more for each TLP that ends in its first beat, and make a memory read of what they
  do not know (messages, atomic operations).
- All lose Attr[2]; those of 512 bit leave sidebands open. None keeps `tvalid` up within a packet, and the block
  nullifies one with a gap.
- The support modules leave sequence numbers out, so nothing keeps a completion behind the writes before it, and the
  vector of an MSI follows from how many are enabled, whichever is asked for.
"""

from migen import *
from migen.genlib.cdc import MultiReg

from litex.gen import *

from litepcie.phy.uspciephy import USPCIEPHY
from litepcie.phy.usppciephy import USPPCIEPHY

from litepcie_soc.common.pcie import DATA_WIDTHS, has_data
from litepcie_soc.phy.crossing import LinkCrossing
from litepcie_soc.phy.order import Passed, PostedOrder
from litepcie_soc.phy.ultrascale.axi import axi_layout
from litepcie_soc.phy.ultrascale.control import EXTENDED_TAG, DeviceControl, FunctionLevelReset, MSIPort
from litepcie_soc.phy.ultrascale.ports import KEPT, TIED, TIED_ULTRASCALE, TIED_ULTRASCALE_PLUS
from litepcie_soc.phy.ultrascale.receive import CompleterRequest, RequesterCompletion
from litepcie_soc.phy.ultrascale.transmit import CompleterCompletion, RequesterRequest
from litepcie_soc.phy.width import Narrower, Wider

# Hard Block ---------------------------------------------------------------------------------------

# User clock, MHz, of what the blocks offer at Gen3: (lanes, bits). PG213, "Supported Clock Frequencies and Interface
# Widths"; UltraScale's has no x16 and no 512 bit (PG156, "AXI-ST Interface Width").
USER_CLOCKS = {(1, 128): 125, (2, 128): 125, (4, 128): 250, (4, 256): 125, (8, 256): 250, (16, 512): 250}

# Bits of the block itself, where it has fewer: at x1 it knows no more than 64, and 1 GB/s of them suffices.
BLOCK_WIDTHS = {1: 64}

BUS_MASTER = 2   # Of cfg_function_status (PG156, PG213): I/O, memory, bus master, interrupt disable of function 0.


class _IPOnly:
    """A platform for LitePCIe's `add_sources`, which takes the IP and not the Verilog around it."""
    def __init__(self, platform):
        self.platform  = platform
        self.toolchain = platform.toolchain

    def add_ip(self, filename):
        self.platform.add_ip(filename)

    def add_source(self, *args):
        pass

# Common -------------------------------------------------------------------------------------------

class _HardBlock:
    """Both families: a mix-in before LitePCIe's class. `plus`: UltraScale+.

    `pcie_phy_params` are the connections of the IP itself. All state is as `PHYShape` looks for it:

    bus_master_enable, link_up, extended_tag : Signal(), **out**, `sys`.
    req_sink, cmp_sink, req_source, cmp_source : streams of `phy_layout(data_width)`, `sys`.
    msi, id : as LitePCIe's, `sys`. Completions and MSI stay behind the posted requests before them. (Where MSI enter
        the pipeline the guides do not say; that no completion passes a request is the last the block tells of it.)
    """
    def add_hard_block(self, data_width):
        self.data_width  = data_width
        self.block_width = BLOCK_WIDTHS.get(self.nlanes, self.pcie_data_width)
        self.ports = ports = {name: self.pcie_phy_params[name] for name in KEPT}
        self.extended_tag, self.bus_master_enable = Signal(), Signal()
        ports.update(TIED)
        ports.update(TIED_ULTRASCALE_PLUS if self.plus else TIED_ULTRASCALE)
        ports.update(
            i_sys_reset  = self.pcie_phy_params["i_sys_rst_n"],
            o_user_clk   = ClockSignal("pcie"),
            o_user_reset = ResetSignal("pcie"),
        )
        self.add_streams()
        self.add_control()
        self.add_crossing()
        self.add_order()
        self.pcie_phy_params = ports
        self.update_config(self.block_config())

    @classmethod
    def adapter_width(cls, lanes, data_width):
        """Bits of the adapters: those of `sys`, or half. Raises ValueError for what the block does not have."""
        if (lanes, data_width) in USER_CLOCKS:
            return data_width
        if (lanes, data_width//2) in USER_CLOCKS and data_width in DATA_WIDTHS:
            return data_width//2
        widths = {width*n for have, width in USER_CLOCKS for n in (1, 2) if have == lanes} & set(DATA_WIDTHS)
        raise ValueError(f"{cls.__name__}: data_width at Gen3 x{lanes} must be one of {sorted(widths)}, not "
            f"{data_width}")

    def block_config(self):
        """What LitePCIe does not say of the IP, or says too generally."""
        config = {
            "axisten_if_width":        f"{self.block_width}_bit",
            "axisten_freq":            USER_CLOCKS[self.nlanes, self.pcie_data_width],
            "extended_tag_field":      True,
            "pf0_dev_cap_max_payload": "512_bytes",  # LitePCIe's registers know no more.
            "pf0_bar0_size":           self.bar0_size >> 20,
        }
        if self.pcie_data_width == 512:
            config |= {f"AXISTEN_IF_EXT_512_{name}_STRADDLE": False for name in ("CQ", "RQ", "RC", "RC_4TLP")}
        return config

    def add_streams(self):
        """Between LitePCIe's streams in the clock of the hard block and the IP. (LitePCIe gives the two it receives a
        `first` and `last` of its own; what is connected here comes later and counts.)"""
        in_pcie = ClockDomainsRenamer("pcie")
        for name, adapter_class, tlps in (
            ("rq", RequesterRequest,    self.s_axis_rq),
            ("cc", CompleterCompletion, self.s_axis_cc),
            ("cq", CompleterRequest,    self.m_axis_cq),
            ("rc", RequesterCompletion, self.m_axis_rc),
        ):
            adapter  = in_pcie(adapter_class(self.pcie_data_width, self.plus))
            to_block = name in ("rq", "cc")
            setattr(self, f"{name}_adapter", adapter)
            self.comb += tlps.connect(adapter.sink) if to_block else adapter.source.connect(tlps)
            beat = adapter.source if to_block else adapter.sink
            self.add_axi(name, self.converted(name, beat, to_block), to_block)

    def converted(self, name, beat, to_block):
        """`beat` in the width of the block."""
        if self.block_width == self.pcie_data_width:
            return beat
        adapter, block = (axi_layout(name, width, self.plus) for width in (self.pcie_data_width, self.block_width))
        converter      = Narrower(adapter, block) if to_block else Wider(block, adapter)
        converter      = ClockDomainsRenamer("pcie")(converter)
        setattr(self, f"{name}_converter", converter)
        self.comb += beat.connect(converter.sink) if to_block else converter.source.connect(beat)
        return converter.source if to_block else converter.sink

    def add_axi(self, name, beat, to_block):
        prefix, into, outof = ("s_axis", "i", "o") if to_block else ("m_axis", "o", "i")
        fields = {"tvalid": beat.valid, "tlast": beat.last, "tdata": beat.dat, "tkeep": beat.keep, "tuser": beat.user}
        self.ports.update({f"{into}_{prefix}_{name}_{field}": signal for field, signal in fields.items()})
        self.ports[f"{outof}_{prefix}_{name}_tready"] = beat.ready

    def add_control(self):
        in_pcie = ClockDomainsRenamer("pcie")
        self.msi_port = msi     = in_pcie(MSIPort())
        self.control  = control = in_pcie(DeviceControl(self.capability))
        self.flr      = flr     = in_pcie(FunctionLevelReset())
        enabled, payload = Signal(4), Signal(2 if self.plus else 3)
        self.comb += [
            self.msi.connect(msi.sink),
            self.pcie_phy_params["o_cfg_interrupt_msi_enable"].eq(enabled[0]),
            self.pcie_phy_params["o_cfg_max_payload"].eq(payload),
        ]
        self.specials += [
            MultiReg(control.value[EXTENDED_TAG], self.extended_tag),
            MultiReg(self.ports["o_cfg_function_status"][BUS_MASTER], self.bus_master_enable),
        ]
        self.ports.update(
            o_cfg_max_payload          = payload,
            i_cfg_mgmt_addr            = control.address,
            i_cfg_mgmt_read            = control.read,
            o_cfg_mgmt_read_data       = control.data,
            o_cfg_mgmt_read_write_done = control.done,
            o_cfg_flr_in_process       = flr.in_process,
            i_cfg_flr_done             = flr.done,
            o_cfg_interrupt_msi_enable = enabled,
            i_cfg_interrupt_msi_int    = msi.interrupt,
            o_cfg_interrupt_msi_sent   = msi.sent,
            o_cfg_interrupt_msi_fail   = msi.failed,
        )

    def add_crossing(self):
        """LitePCIe's streams, `pcie`, become those of `sys`."""
        link_up         = self._link_status.fields.status
        self.crossing   = crossing = LinkCrossing(self.data_width, self.pcie_data_width, link_up)
        self.link_up    = crossing.link_up
        requests        = crossing.transmit(self.req_sink)
        completions     = crossing.transmit(self.cmp_sink)
        self.comb      += [self.rq_adapter.cut.eq(requests.cut), self.cc_adapter.cut.eq(completions.cut)]
        self.req_sink   = requests.sink
        self.cmp_sink   = completions.sink
        self.req_source = crossing.receive(self.req_source).source
        self.cmp_source = crossing.receive(self.cmp_source).source
        self.msi        = crossing.message(self.msi).sink

    def add_order(self):
        bits    = 6 if self.plus else 4
        strobes = []
        for port in ("0", "1") if self.plus else ("",):   # The second is for two in a cycle.
            number, valid = Signal(bits), Signal()
            self.ports[f"o_pcie_rq_seq_num{port}"]     = number
            self.ports[f"o_pcie_rq_seq_num_vld{port}"] = valid
            strobes.append(valid & number[-1])
        self.passed = passed = Passed(strobes)
        self.order  = order  = PostedOrder()
        request     = self.req_sink
        self.comb += [
            order.entered.eq(request.valid & request.ready & request.first & has_data(request.dat)),
            order.passed.eq(passed.count),
            order.reset.eq(~self.link_up | ~self.bus_master_enable),
        ]
        self.cmp_sink = order.behind(self.cmp_sink, packets=True)
        self.msi      = order.behind(self.msi,      packets=False)

    def add_sources(self, platform, phy_path=None, phy_filename=None):
        super().add_sources(_IPOnly(platform), phy_path, phy_filename)

    def do_finalize(self):
        if not self.external_hard_ip:
            self.add_sources(self.platform)
        self.specials += Instance(self.module, **self.pcie_phy_params)

# PHYs ---------------------------------------------------------------------------------------------

class UltraScalePHY(_HardBlock, USPCIEPHY):
    """UltraScale, Gen3 x1, x2, x4 or x8; parameters as of LitePCIe's `USPCIEPHY`;
    `data_width`: that of the block or twice as many bits, in `sys`.

    max_tags : requests that can be outstanding (PG156, "Tag Management for Non-Posted Transactions").

    Raises ValueError for a width the block does not have at the lanes of `pads`.
    """
    plus       = False
    module     = "pcie_us"
    capability = 0xc0   # Where the PCI Express capability is.
    max_tags   = 64

    def __init__(self, platform, pads, data_width, **options):
        USPCIEPHY.__init__(self, platform, pads, cd="pcie",
            data_width = self.adapter_width(len(pads.tx_p), data_width), **options)
        self.add_hard_block(data_width)


class UltraScalePlusPHY(_HardBlock, USPPCIEPHY):
    """UltraScale+, Gen3 x1, x2, x4, x8 or x16; parameters as of LitePCIe's `USPPCIEPHY`;
    `data_width`: that of the block or twice as many bits, in `sys`.

    max_tags : requests that can be outstanding (PG213, "Extended Tag").

    Raises ValueError for a width the block does not have at the lanes of `pads`.
    """
    plus       = True
    module     = "pcie_usp"
    capability = 0x70
    max_tags   = 256

    def __init__(self, platform, pads, data_width, **options):
        USPPCIEPHY.__init__(self, platform, pads, cd="pcie",
            data_width = self.adapter_width(len(pads.tx_p), data_width), **options)
        self.add_hard_block(data_width)
