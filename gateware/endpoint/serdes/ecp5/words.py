#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Configuration words of the SerDes block ``DCUA`` for PCI Express at 2.5 GT/s, two symbols per clock cycle.

A word that is not named is 0 in the bitstream, so the words of the unused channel keep it switched off. nextpnr-ecp5
takes amplitude from ``TDRV_*`` and ignores ``PROTOCOL``, ``TXAMPLITUDE``, ``TXDEPRE``, ``TXDEPOST`` and ``*_MAX_RATE``,
so those are not set.

The values are binary (``0b``), decimal (``0d``) or hexadecimal (``0x``) as nextpnr-ecp5 reads them.
"""

from migen import *

from litex.gen import *

# Digital Words ------------------------------------------------------------------------------------

# Words of both channels: power, transmit PLL (25 times the reference clock), limits of the lock detectors.
COMMON = {
    "MACROPDB":          "0b1",
    "IB_PWDNB":          "0b1",
    "TXPLL_PWDNB":       "0b1",
    "XGE_MODE":          "0b0",
    "BUS8BIT_SEL":       "0b0",
    "LOW_MARK":          "0d4",
    "HIGH_MARK":         "0d12",
    "CDR_LOL_SET":       "0b00",
    "PLL_LOL_SET":       "0b01",  # Locked within 300 ppm, lost beyond 2000 ppm.
    "BITCLK_LOCAL_EN":   "0b1",
    "BITCLK_ND_EN":      "0b0",
    "BITCLK_FROM_ND_EN": "0b0",
    "SYNC_LOCAL_EN":     "0b1",   # With 0 the PLL locks, but PCLK and gearbox do not run.
    "SYNC_ND_EN":        "0b0",
    "REFCK_MODE":        "0b100", # 25 times.
    "TX_VCO_CK_DIV":     "0b000",
    "RG_SET":            "0b00",
}

# Words of the channel: PCI Express mode, 8b/10b and comma alignment in the block, gearbox of two symbols.
CHANNEL = {
    "UC_MODE":          "0b0",
    "PCIE_MODE":        "0b1",
    "RIO_MODE":         "0b0",
    "WA_MODE":          "0b0",
    "PCIE_EI_EN":       "0b0",    # 1 forces electrical idle for ever.
    "LSM_DISABLE":      "0b0",
    "ENC_BYPASS":       "0b0",
    "DEC_BYPASS":       "0b0",
    "SB_BYPASS":        "0b0",
    "RX_SB_BYPASS":     "0b0",
    "WA_BYPASS":        "0b0",
    "CTC_BYPASS":       "0b1",
    "RX_GEAR_BYPASS":   "0b0",
    "TX_GEAR_BYPASS":   "0b0",
    "RX_GEAR_MODE":     "0b1",
    "TX_GEAR_MODE":     "0b1",
    "FF_RX_H_CLK_EN":   "0b1",
    "FF_RX_F_CLK_DIS":  "0b1",
    "FF_TX_H_CLK_EN":   "0b1",
    "FF_TX_F_CLK_DIS":  "0b1",
    "SEL_SD_RX_CLK":    "0b1",
    "ENABLE_CG_ALIGN":  "0b1",
    "UDF_COMMA_MASK":   "0x3ff",
    "UDF_COMMA_A":      "0x283",  # COM of positive running disparity, then of negative.
    "UDF_COMMA_B":      "0x17c",
    "MATCH_2_ENABLE":   "0b0",
    "MATCH_4_ENABLE":   "0b1",
    "MIN_IPG_CNT":      "0b11",
    "CC_MATCH_1":       "0x1bc",  # COM SKP SKP SKP.
    "CC_MATCH_2":       "0x11c",
    "CC_MATCH_3":       "0x11c",
    "CC_MATCH_4":       "0x11c",
    "RPWDNB":           "0b1",
    "TPWDNB":           "0b1",
    "RATE_MODE_RX":     "0b0",
    "RATE_MODE_TX":     "0b0",
    "RX_DCO_CK_DIV":    "0b000",
    "RX_DIV11_SEL":     "0b0",
    "TX_DIV11_SEL":     "0b0",
    "PCS_DET_TIME_SEL": "0b00",   # 8 us.
    "LDR_RX2CORE_SEL":  "0b0",
    "LDR_CORE2TX_SEL":  "0b0",
}

# What a mode of the channel does differently, by name; the first is usual. They are alternatives to try on a board.
MODES = {
    "pcie": {},
    # Clock tolerance compensation in the block instead of the elastic buffer of the fabric.
    "ctc":  {"CTC_BYPASS": "0b0", "SEL_SD_RX_CLK": "0b0"},
    # One symbol per cycle of 250 MHz at the block, gearing in the fabric.
    "no-gear": {
        "RX_GEAR_MODE":    "0b0",
        "TX_GEAR_MODE":    "0b0",
        "FF_RX_H_CLK_EN":  "0b0",
        "FF_RX_F_CLK_DIS": "0b0",
        "FF_TX_H_CLK_EN":  "0b0",
        "FF_TX_F_CLK_DIS": "0b0",
    },
    # Code words of ten bits at the block; 8b/10b, comma and alignment in the fabric.
    "raw": {
        "UC_MODE":         "0b1",
        "PCIE_MODE":       "0b0",
        "LSM_DISABLE":     "0b1",
        "ENC_BYPASS":      "0b1",
        "DEC_BYPASS":      "0b1",
        "WA_BYPASS":       "0b1",
        "ENABLE_CG_ALIGN": "0b0",
    },
}

# Analogue Words -----------------------------------------------------------------------------------

# Receiver: termination, equalization, loss of signal; transmitter: termination, driver slices. Common to all sets but
# "litesata".
PADS = {
    "RCV_DCC_EN":      "0b0",
    "REQ_EN":          "0b1",
    "RTERM_RX":        "0d22",
    "RXTERM_CM":       "0b11",
    "RXIN_CM":         "0b11",
    "PDEN_SEL":        "0b1",
    "RLOS_SEL":        "0b1",
    "RX_LOS_EN":       "0b1",
    "RX_LOS_LVL":      "0b100",
    "RX_LOS_CEQ":      "0b11",
    "RX_LOS_HYST_EN":  "0b0",
    "RTERM_TX":        "0d19",    # 50 Ohm.
    "TX_CM_SEL":       "0b00",
    "TDRV_PRE_EN":     "0b0",
    "TDRV_POST_EN":    "0b0",
    "TX_PRE_SIGN":     "0b0",
    "TX_POST_SIGN":    "0b0",
    "TDRV_DAT_SEL":    "0b00",
    "TDRV_SLICE0_CUR": "0b011",
    "TDRV_SLICE0_SEL": "0b01",
    "TDRV_SLICE1_CUR": "0b000",
    "TDRV_SLICE1_SEL": "0b00",
    "TDRV_SLICE2_CUR": "0b11",
    "TDRV_SLICE2_SEL": "0b01",
    "TDRV_SLICE3_CUR": "0b11",
    "TDRV_SLICE3_SEL": "0b01",
    "TDRV_SLICE4_CUR": "0b11",
    "TDRV_SLICE4_SEL": "0b01",
    "TDRV_SLICE5_CUR": "0b00",
    "TDRV_SLICE5_SEL": "0b00",
}

# Words of PLL and CDR by set: (common, channel). "wizard" is what Lattice's generator writes today (2022), "sample" is
# an older set from Lattice's PCI Express sample. Both were seen running on LFE5UM5G: the first to L0 (ECP5-PCIe), the
# second by Yumewatari and katsuo. "luna" and "litesata" are what these projects add to the sample.
_PLL_WIZARD = {
    "RG_EN":             "0b0",
    "CMUSETBIASI":       "0b00",
    "CMUSETI4CPP":       "0d3",
    "CMUSETI4CPZ":       "0d3",
    "CMUSETI4VCO":       "0b00",
    "CMUSETICP4P":       "0b01",
    "CMUSETICP4Z":       "0b101",
    "CMUSETINITVCT":     "0b00",
    "CMUSETISCL4VCO":    "0b000",
    "CMUSETP1GM":        "0b000",
    "CMUSETP2AGM":       "0b000",
    "CMUSETZGM":         "0b000",
    "SETIRPOLY_AUX":     "0b00",
    "SETIRPOLY_CH":      "0b00",
    "SETICONST_AUX":     "0b00",
    "SETICONST_CH":      "0b00",
    "SETPLLRC":          "0d1",
    "REQ_ISET":          "0b000",
    "PD_ISET":           "0b00",
    "DCO_CALIB_TIME_SEL": "0b00",
    "ISETLOS":           "0d0",
}
_CDR_WIZARD = {
    "REQ_LVL_SET":     "0b00",
    "RX_RATE_SEL":     "0d8",
    "AUTO_FACQ_EN":    "0b1",
    "AUTO_CALIB_EN":   "0b1",
    "CALIB_CK_MODE":   "0b0",
    "DCOATDCFG":       "0b00",
    "DCOATDDLY":       "0b00",
    "DCOBYPSATD":      "0b1",
    "DCOCALDIV":       "0b001",
    "DCOCTLGI":        "0b010",
    "DCODISBDAVOID":   "0b0",
    "DCOFLTDAC":       "0b01",
    "DCOFTNRG":        "0b111",
    "DCOIOSTUNE":      "0b000",
    "DCOITUNE":        "0b00",
    "DCOITUNE4LSB":    "0b111",
    "DCOIUPDNX2":      "0b1",
    "DCONUOFLSB":      "0b101",
    "DCOSCALEI":       "0b00",
    "DCOSTARTVAL":     "0b000",
    "DCOSTEP":         "0b00",
    "BAND_THRESHOLD":  "0d0",
    "REG_BAND_OFFSET": "0d0",
    "REG_BAND_SEL":    "0d0",
    "REG_IDAC_SEL":    "0d0",
    "REG_IDAC_EN":     "0b0",
    "CDR_CNT4SEL":     "0b00",
    "CDR_CNT8SEL":     "0b00",
}
_PLL_SAMPLE = {
    "RG_EN":         "0b1",
    "CMUSETI4CPP":   "0d4",
    "CMUSETZGM":     "0b100",
    "SETIRPOLY_AUX": "0b10",
    "SETIRPOLY_CH":  "0b10",
    "SETICONST_AUX": "0b01",
    "SETICONST_CH":  "0b10",
}
_CDR_SAMPLE = {
    "DCOCALDIV":     "0b010",
    "DCOCTLGI":      "0b011",
    "DCODISBDAVOID": "0b1",
    "DCOFLTDAC":     "0b00",
    "DCOFTNRG":      "0b010",
    "DCOIOSTUNE":    "0b010",
    "DCOITUNE4LSB":  "0b010",
    "DCONUOFLSB":    "0b101",
    "DCOSCALEI":     "0b01",
    "DCOSTARTVAL":   "0b010",
    "DCOSTEP":       "0b11",
}

_PLL_LUNA = {
    "PD_ISET":  "0b11",
    "REQ_ISET": "0b011",
}
_CDR_LUNA = {
    "DCOFTNRG":      "0b001",
    "RX_RATE_SEL":   "0d9",
    "REQ_LVL_SET":   "0b01",
    "CALIB_CK_MODE": "0b1",
}
_PADS_LITESATA = {
    "RXTERM_CM":   "0b10",
    "PDEN_SEL":    "0b0",  # The CDR acquires without regard to loss of signal.
    "RX_LOS_LVL":  "0b010",
    "REQ_LVL_SET": "0b01",
}

ANALOGUE = {
    "wizard": (_PLL_WIZARD, _CDR_WIZARD),
    "sample": (_PLL_WIZARD | _PLL_SAMPLE, _CDR_WIZARD | _CDR_SAMPLE),
    # What LiteSATA adds for an LFE5UM5G whose loss of signal was set while data were good.
    "litesata": (_PLL_WIZARD | _PLL_SAMPLE | {"CDR_LOL_SET": "0b10"}, _CDR_WIZARD | _CDR_SAMPLE | _PADS_LITESATA),
    "luna":   (_PLL_WIZARD | _PLL_SAMPLE | _PLL_LUNA, _CDR_WIZARD | _CDR_SAMPLE | _CDR_LUNA),
}

# Sets for one family only.
FAMILY_OF = {"luna": "LFE5UM5G"}

# Reference Clocks ---------------------------------------------------------------------------------

# Value of FFC_RATE_MODE_TX and _RX by Hz: the PLL always makes 25 times the reference clock, 1 halves the bit rate.
RATE_MODES = {100e6: 0, 200e6: 1}

# Words --------------------------------------------------------------------------------------------


def dcu_words(channel=0, *, analogue="wizard", mode="pcie"):
    """Returns the parameters of ``DCUA`` by name. Raises ``ValueError`` with one line.

    Parameters
    ----------
    channel  : channel of the block, 0 or 1.
    analogue : set of analogue words, a key of ``ANALOGUE``.
    mode     : use of the channel, a key of ``MODES``.
    """
    if channel not in (0, 1):
        raise ValueError(f"channel {channel} is not supported; a DCU has channels 0 and 1")
    if analogue not in ANALOGUE:
        raise ValueError(f"analogue words {analogue!r} are not known; choose {', '.join(ANALOGUE)}")
    if mode not in MODES:
        raise ValueError(f"mode {mode!r} of the SerDes is not known; choose {', '.join(MODES)}")
    pll, cdr = ANALOGUE[analogue]
    of_lane  = CHANNEL | PADS | cdr | MODES[mode]
    return {f"D_{name}": value for name, value in (COMMON | pll).items()} \
        | {f"CH{channel}_{name}": value for name, value in of_lane.items()}


def check_words(device, analogue):
    """Raises ``ValueError`` with one line if a set of analogue words is for another family than that of a device."""
    family = FAMILY_OF.get(analogue)
    if family and not device.startswith(f"{family}-"):
        raise ValueError(f"{device} is not an {family}, for which these words are")


def number(word):
    """Returns the value of a word: ``0b101``, ``0x17c`` or ``0d19``."""
    return int(word[2:], {"b": 2, "x": 16, "d": 10}[word[1]])


def in_bitstream(words):
    """Returns {name: value} of the words of ``dcu_words`` as ecpunpack shows them: those that are not 0."""
    return {name: number(word) for name, word in words.items() if number(word)}

# Changes at Run Time ------------------------------------------------------------------------------
# The registers of a SerDes block (Lattice's SerDes Client Interface), which change its words at run time.

# Cycles of ``sys`` that address and data are stable before, in and after the strobe. The block needs a few ns of each.
PHASE_CYCLES = 8


class SerDesRegisters(LiteXModule):
    """Reads or writes one register of 8 bits at a time.

    Attributes
    ----------
    start   : 1, **in**; a pulse begins an access. Ignored while ``busy``.
    write   : 1, **in**; the access writes.
    common  : 1, **in**; a register of both channels instead of one of this channel.
    address : 6, **in**. Like ``write``, ``common`` and ``data`` taken at the start.
    data    : 8, **in**; what is written.
    busy    : 1, **out**.
    result  : 8, **out**; what was read last.
    sel_common, sel_channel : 1, **out**; for ``D_SCIENAUX`` and ``D_SCISELAUX``, for ``CH_SCIEN`` and ``CH_SCISEL``.
    rd, wrn : 1, **out**; for ``D_SCIRD`` and ``D_SCIWSTN``, from registers.
    block_address, wdata : 6, 8, **out**; for ``D_SCIADDR`` and ``D_SCIWDATA``.
    rdata   : 8, **in**, asynchronous; from ``D_SCIRDATA``.
    """
    def __init__(self):
        self.start   = Signal()
        self.write   = Signal()
        self.common  = Signal()
        self.address = Signal(6)
        self.data    = Signal(8)
        self.busy    = Signal()
        self.result  = Signal(8)
        self.sel_common    = Signal()
        self.sel_channel   = Signal()
        self.rd      = Signal()
        self.wrn     = Signal(reset=1)
        self.block_address = Signal(6)
        self.wdata   = Signal(8)
        self.rdata   = Signal(8)

        # # #

        writes, left = Signal(), Signal(max=3*PHASE_CYCLES)
        strobe       = (left >= PHASE_CYCLES) & (left < 2*PHASE_CYCLES)
        self.comb   += self.busy.eq(self.sel_common | self.sel_channel)
        self.sync   += [
            self.wrn.eq(~(self.busy & writes & strobe)),
            self.rd.eq(self.busy & ~writes & (left >= PHASE_CYCLES)),
            If(self.busy,
                left.eq(left - 1),
                If(~writes & (left == PHASE_CYCLES), self.result.eq(self.rdata)),
                If(left == 0, self.sel_common.eq(0), self.sel_channel.eq(0)),
            ).Elif(self.start,
                left.eq(3*PHASE_CYCLES - 1),
                writes.eq(self.write),
                self.sel_common.eq(self.common),
                self.sel_channel.eq(~self.common),
                self.block_address.eq(self.address),
                self.wdata.eq(self.data),
            ),
        ]
