#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Boards: their options and limits, and one choice of options."""

from dataclasses import dataclass, field

from litepcie_soc.board.user_options import NO_USER_LOGIC, UserOptions
from litepcie_soc.common import abi
from litepcie_soc.common.link_rates import data_path_rate, link_rate
from litepcie_soc.common.pcie import DATA_WIDTHS, TAGS_WITHOUT_EXTENDED

# Flash --------------------------------------------------------------------------------------------
# The configuration flash of Xilinx boards: settings of the bitstream, the image, the time that the FPGA needs.

LANES = 4  # Bits per clock of a quad SPI flash.


@dataclass(frozen=True)
class Flash:
    """A quad SPI flash and how the FPGA reads it.

    rate      : CONFIGRATE in MHz, a value that Vivado has for the family. The FPGA samples at the falling edge, so a
        whole period is for the flash's output delay and the FPGA's setup time. The clock is the FPGA's own oscillator:
        it may be 50 % faster or slower on 7-series (DS181, DS182), 15 % on UltraScale and UltraScale+ (DS892, DS923).
    volts     : supply of the configuration bank in V.
    bitstream : bytes of a bitstream that is not compressed (UG470, UG570). None: not known.
    mbytes    : size for the image in MB. Above 16, addresses have 32 bits.
    kind      : "bin" or "mcs", the suffix of the image.
    start     : byte address at which the FPGA reads the bitstream.
    """
    rate:      float
    volts:     float
    bitstream: int
    mbytes:    int = 16
    kind:      str = "bin"
    start:     int = 0

    @property
    def bitstream_commands(self):
        """Properties of the bitstream. CFGBVS says whether the bank has 2.5 V or more, or 1.8 V or less (UG470)."""
        properties = {
            "CFGBVS":                       "VCCO" if self.volts > 1.8 else "GND",
            "CONFIG_VOLTAGE":               self.volts,
            "BITSTREAM.GENERAL.COMPRESS":   "TRUE",
            "BITSTREAM.CONFIG.CONFIGRATE":  self.rate,
            "BITSTREAM.CONFIG.SPI_BUSWIDTH": LANES,
            "BITSTREAM.CONFIG.SPI_FALL_EDGE": "YES",
            **({"BITSTREAM.CONFIG.SPI_32BIT_ADDR": "YES"} if self.mbytes > 16 else {}),
        }
        return [f"set_property {name} {value} [current_design]" for name, value in properties.items()]

    @property
    def image_command(self):
        return (f"write_cfgmem -force -format {self.kind} -interface spix4 -size {self.mbytes} "
            f"-loadbit \"up 0x{self.start:08x} {{build_name}}.bit\" -file {{build_name}}.{self.kind}")

    def add_to(self, platform):
        """Makes Vivado write a bitstream for this flash, and its image. Replaces what the platform has for that."""
        platform.toolchain.bitstream_commands  = self.bitstream_commands
        platform.toolchain.additional_commands = [self.image_command]

    def milliseconds(self, size):
        """Returns the calculated time to read a bitstream of ``size`` bytes, at the nominal clock."""
        return size*8 / LANES / self.rate / 1e3

    def report(self, size):
        """Returns the line for the user of a bitstream of ``size`` bytes."""
        return (f"from flash the FPGA takes {self.milliseconds(size):.0f} ms "
            f"(calculated: {size} bytes, {LANES} bits at {self.rate:g} MHz)")

# Board --------------------------------------------------------------------------------------------


def size(number):
    """Returns bytes as text in the largest unit that gives a whole number."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if number and number % unit == 0:
            return f"{number // unit} {name}"
    return f"{number} bytes"


def mega(freq):
    """Returns a frequency in the form of the option --sys-clk-freq: 125e6."""
    return f"{freq / 1e6:g}e6" if freq >= 1e6 else f"{freq:g}"


@dataclass(frozen=True)
class Configuration:
    """One choice of options. ``Board.configure`` makes it and fills in defaults.

    gen, lanes     : link.
    data_width     : width of the data path in bits: the width of the hard block or twice that.
    sys_clk_freq   : frequency of ``sys`` in Hz.
    tags           : number of requests that all channels can have outstanding.
    dma_channels   : number of memory channels, each with a reader and a writer.
    with_ddr       : endpoint memory in the board's DDR instead of block RAM.
    with_litescope : LiteScope probes on the use of the link.
    device         : name of the device, one of the board's ``devices``. Empty: the board has one device.
    refclk         : the link's reference clock in Hz that the SerDes tries first, one of the board's ``refclks``.
    seed           : seed of placement, if the tools take one.
    analogue       : set of analogue words of the SerDes, one of the board's ``analogues``.
    serdes         : use of the SerDes, one of the board's ``serdes_modes``.
    receiver_detect : the SerDes looks for a receiver before the link trains.
    lower_address_bits : bits of a completion's lower address that are compared on UltraScale and UltraScale+: 2 or 7.
    user           : ``UserOptions``, logic at the user's side of the card.
    retry_link     : the hard block is reset until its link is up.
    bringup        : the image for bring-up of a SerDes instead of a card.
    own_streams    : number of stream channels for logic that is no option.
    """
    gen:            int
    lanes:          int
    data_width:     int
    sys_clk_freq:   float
    tags:           int
    dma_channels:   int  = 1
    with_ddr:       bool = False
    with_litescope: bool = False
    device:         str  = ""
    refclk:         float = 100e6
    seed:           int  = 1
    analogue:       str  = ""
    serdes:         str  = ""
    receiver_detect: bool = True
    lower_address_bits: int = 2
    user:           UserOptions = NO_USER_LOGIC
    own_streams:    int  = 0
    retry_link:     bool = False
    bringup:        bool = False

    @property
    def link_rate(self):
        """Rate of one direction of the link in bytes per second."""
        return link_rate(self.gen, self.lanes)

    @property
    def data_path_rate(self):
        """Rate of the data path in bytes per second."""
        return data_path_rate(self.data_width, self.sys_clk_freq)

    def name(self, board):
        """Returns the name of build folder and bitstream: link and width, then everything that is not a default."""
        default = board.configure(self.gen, self.lanes, self.data_width, with_ddr=self.with_ddr, device=self.device)
        name    = f"{board.name}_bringup" if self.bringup else \
            f"{board.name}_gen{self.gen}_x{self.lanes}_{self.data_width}"
        name   += "_ddr" * self.with_ddr
        name   += f"_{self.dma_channels}ch" * (self.dma_channels != default.dma_channels)
        name   += f"_tags{self.tags}" * (self.tags != default.tags)
        name   += self.user.suffix()
        name   += f"_{self.sys_clk_freq / 1e6:g}mhz".replace(".", "p") * (self.sys_clk_freq != default.sys_clk_freq)
        name   += f"_{self.device.replace('-', '')}" * (self.device != board.default_device)
        name   += f"_refclk{self.refclk / 1e6:g}" * (self.refclk != board.refclks[0])
        name   += f"_{self.analogue}" * (self.analogue != board.analogues[0])
        name   += f"_{self.serdes.replace('-', '')}" * (self.serdes != board.serdes_modes[0])
        name   += "_nodetect" * (not self.receiver_detect)
        name   += f"_seed{self.seed}" * (self.seed != default.seed)
        name   += f"_lower{self.lower_address_bits}" * (self.lower_address_bits != default.lower_address_bits)
        name   += "_retry" * self.retry_link
        return name + "_litescope" * self.with_litescope


@dataclass(frozen=True)
class Memory:
    """Endpoint memory of a board. Sizes are in bytes and powers of two.

    bram     : size in block RAM, chosen to leave room for the rest of the design.
    ddr      : size of the DDR. 0: the board has no DDR, or it is not supported.
    kind     : name of the DDR ("16 bit DDR3-1000").
    ddr_rate : bytes per second of the DDR, reads and writes together, if it has a clock of its own. None: the DDR keeps
        up with the data path.
    """
    bram:     int
    ddr:      int   = 0
    kind:     str   = ""
    ddr_rate: float = None


@dataclass(frozen=True)
class Board:
    """A target board: its options and limits.

    name       : name of the target; every build name begins with it.
    title      : name of the board for documents and messages.
    family     : FPGA family, a key of ``gateware/board/identity.py``.
    platform   : LiteX platform class.
    links      : {(gen, lanes): {data width: default Hz of ``sys``}}; the first width of a link is its default.
    link       : default (gen, lanes).
    memory     : ``Memory``.
    programmer : an object with ``load`` and ``flash``, as in ``gateware/build/program.py``.
    channels   : largest number of memory and stream channels together that fits.
    tags       : largest number of outstanding requests of the hard block, and the default.
    clocks     : lowest and highest Hz of ``sys``.
    ddr_device : the device whose card has this DDR; empty: all.
    ddr_clocks : lowest and highest Hz of ``sys`` with DDR, if the memory limits them.
    flash      : ``Flash`` of a board that Vivado builds.
    gt_sites   : transceivers of lane 0 and up, as in GTPE2_CHANNEL_X0Y4 or GTXE2_CHANNEL_X0Y4, of a 7-series board.
    toolchain  : "vivado", or "trellis" for yosys, nextpnr and Project Trellis.
    devices    : {name for --device: highest Hz of ``sys``} of the devices that the board has, the default first.
    refclks    : reference clocks of the link in Hz, the default first.
    slot_clock : the link's reference clock is known to be the slot's.
    check_part : function that raises ``ValueError`` with one line if the family has no device of a name.
    analogues, serdes_modes : names for --analogue and --serdes, the defaults first, if the SerDes has such options.
    check_analogue : function (device, analogue) that raises ``ValueError`` with one line if they do not fit.
    """
    name:       str
    title:      str
    family:     str
    platform:   type
    links:      dict
    link:       tuple
    memory:     Memory
    programmer: object
    channels:   int   = abi.MAX_CHANNELS
    tags:       int   = 64
    clocks:     tuple = (50e6, 250e6)
    ddr_device: str   = ""
    ddr_clocks: tuple = None
    flash:      object = None
    gt_sites:   tuple = ()
    toolchain:  str   = "vivado"
    devices:    dict  = field(default_factory=dict)
    refclks:    tuple = (100e6,)
    slot_clock: bool  = True
    check_part: callable = None
    analogues:      tuple    = ("",)
    serdes_modes:   tuple    = ("",)
    check_analogue: callable = None

    @property
    def default_device(self):
        return next(iter(self.devices), "")

    @property
    def gens(self):
        return sorted({gen for gen, _ in self.links})

    @property
    def lanes(self):
        return sorted({lanes for _, lanes in self.links})

    @property
    def data_widths(self):
        return sorted({width for widths in self.links.values() for width in widths})

    def configure(self, gen=None, lanes=None, data_width=None, *, sys_clk_freq=None, tags=None, device=None,
        refclk=None, seed=None, analogue=None, serdes=None, **options):
        """Returns a checked ``Configuration`` with the board's defaults. Raises ``ValueError`` with one line."""
        device = device or self.default_device
        self.check_device(device)
        gen    = gen or self.link[0]
        lanes  = lanes or self.link[1]
        widths = self.links.get((gen, lanes), {})
        width  = data_width or next(iter(widths), None)
        usual  = self.usual_clock(widths.get(width), options.get("with_ddr"), device)
        configuration = Configuration(gen, lanes, width,
            sys_clk_freq = usual if sys_clk_freq is None else sys_clk_freq,
            tags         = self.tags if tags is None else tags,
            device       = device,
            refclk       = self.refclks[0] if refclk is None else refclk,
            seed         = 1 if seed is None else seed,
            analogue     = self.analogues[0] if analogue is None else analogue,
            serdes       = self.serdes_modes[0] if serdes is None else serdes,
            **options)
        self.check(configuration)
        return configuration

    def limits(self, with_ddr, device):
        """Returns the lowest and the highest Hz of ``sys``."""
        low, high = self.ddr_clocks if with_ddr and self.ddr_clocks else self.clocks
        return low, min(high, self.devices.get(device, high))

    def usual_clock(self, freq, with_ddr, device):
        """Returns the default Hz of ``sys``: ``freq`` of the link, within the limits of device, board and DDR."""
        low, high = self.limits(with_ddr, device)
        return freq and min(max(freq, low), high)

    def check(self, configuration):
        """Raises ``ValueError`` if the board does not support a configuration; the line names option and choices."""
        for check in (self.check_link, self.check_memory, self.check_channels, self.check_clock, self.check_serdes,
            self.check_bringup):
            check(configuration)

    def check_device(self, name):
        if name in self.devices or not name:
            return
        if not self.devices:
            raise ValueError(f"--device {name} is not supported; {self.title} has one device")
        if self.check_part is not None:
            self.check_part(name)
        raise ValueError(f"--device {name} is not supported; {self.title} has {' or '.join(self.devices)}")

    def check_memory(self, c):
        if c.with_ddr and not self.memory.ddr:
            raise ValueError(f"--with-ddr is not supported; the memory of {self.title} is {size(self.memory.bram)} of "
                "block RAM")
        if c.with_ddr and self.ddr_device not in ("", c.device):
            raise ValueError(f"--with-ddr is not supported with --device {c.device}: the chips of that card are not "
                "known")

    def check_link(self, c):
        links = ", ".join(f"Gen{gen} x{lanes}" for gen, lanes in self.links)
        if c.gen not in self.gens:
            raise ValueError(f"--gen {c.gen} is not supported; {self.title} has {links}")
        if (c.gen, c.lanes) not in self.links:
            raise ValueError(f"--lanes {c.lanes} is not supported at Gen{c.gen}; {self.title} has {links}")
        widths = self.links[c.gen, c.lanes]
        if c.data_width not in widths:
            raise ValueError(f"--data-width {c.data_width} is not supported at Gen{c.gen} x{c.lanes}; choose "
                f"{' or '.join(map(str, sorted(widths)))}")

    def check_channels(self, c):
        c.user.check(c.dma_channels, "--dma-channels", self.channels, self.title, c.own_streams)
        tags = [tags for tags in (TAGS_WITHOUT_EXTENDED, 64, 128, 256) if tags <= self.tags]
        if c.tags not in tags:
            raise ValueError(f"--tags {c.tags} is not supported; choose {' or '.join(map(str, tags))}")

    def check_clock(self, c):
        low, high = self.limits(c.with_ddr, c.device)
        if not low <= c.sys_clk_freq <= high:
            raise ValueError(f"--sys-clk-freq {mega(c.sys_clk_freq)} is not supported"
                f"{' with --with-ddr' * (c.with_ddr and self.ddr_clocks is not None)}; "
                f"choose {mega(low)} to {mega(high)} Hz")
        if c.refclk not in self.refclks:
            raise ValueError(f"--refclk {mega(c.refclk)} is not supported; choose "
                f"{' or '.join(map(mega, self.refclks))}")
        if c.seed < 1:
            raise ValueError(f"--seed {c.seed} is not supported; choose 1 or more")

    def check_serdes(self, c):
        for option, value, choices in (("analogue", c.analogue, self.analogues),
            ("serdes", c.serdes, self.serdes_modes)):
            if value not in choices:
                raise ValueError(f"--{option} {value} is not supported; choose {', '.join(choices)}")
        if self.check_analogue is not None:
            self.check_analogue(c.device, c.analogue)

    def check_bringup(self, c):
        card = {"--dma-channels": c.dma_channels != 1, "--tags": c.tags != self.tags, "--with-litescope":
            c.with_litescope, "--streams, --user-bus, --host-buffers, --interrupts or --user-core":
            c.user != NO_USER_LOGIC}
        for option, given in card.items():
            if c.bringup and given:
                raise ValueError(f"--bringup builds no card, so it takes no {option}")

    def memory_size(self, configuration):
        """Returns the size of the endpoint memory in bytes."""
        return self.memory.ddr if configuration.with_ddr else self.memory.bram

    def memory_rate(self, configuration):
        """Returns the rate of the endpoint memory in bytes per second, or None if it keeps up with the data path."""
        return self.memory.ddr_rate if configuration.with_ddr else None

    def configurations(self, **options):
        """Yields a configuration for every link and data width, with ``options`` of ``configure``."""
        for (gen, lanes), widths in self.links.items():
            for width in widths:
                yield self.configure(gen, lanes, width, **options)

# Data Paths of the Links --------------------------------------------------------------------------
# Which data paths a board offers at each of its links, from the user clocks of its hard block.


def link_widths(user_clocks, lanes, sys_clk_freqs, doubled=None):
    """``links`` of a ``Board``: (gen, lanes) to {data width: Hz of ``sys``}, the widest data path first.

    Parameters
    ----------
    user_clocks   : {(gen, lanes, bits): user clock in MHz} of the hard block.
    lanes         : numbers of lanes that the board offers.
    sys_clk_freqs : {user clock in MHz: Hz of ``sys``} that the fabric of this board reaches.
    doubled       : Hz of ``sys`` for twice the block's bits at links whose widest data path needs 250 MHz; None: such
        a data path is not offered.
    """
    found = {}
    for (gen, n, width), clock in sorted(user_clocks.items(), key=lambda item: (*item[0][:2], -item[0][2])):
        if n in lanes:
            if clock == 250 and doubled and (gen, n) not in found and 2 * width in DATA_WIDTHS:
                found[gen, n] = {2 * width: doubled}
            found.setdefault((gen, n), {})[width] = sys_clk_freqs[clock]
    return found
