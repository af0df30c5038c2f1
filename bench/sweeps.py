#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The sweeps: lists of points. Each sweep has a quick form that takes seconds."""

from dataclasses import replace

from litepcie_bench.hardware import defaults, everything, hardware
from litepcie_bench.points import AN_BYTES, HOSTS, OURS, PENDING, STOCK, UNEXTENDED_TAGS, Point, narrowest
from litepcie_bench.published import application_notes
from litepcie_bench.waits import lone_points
from litepcie_soc.build.targets import load
from litepcie_soc.dma.engine import DIRECT_BITS

DEFAULT = dict(gen=2, lanes=4, width=128)
FASTEST = dict(gen=3, lanes=8, width=256)
WIDEST  = dict(gen=3, lanes=8, width=512)
BOTH    = (OURS, STOCK)

MSC_SIZES   = tuple(8 << n for n in range(13))      # 8 B to 32 KB.
MSC_BATCHES = (1, 4, 8)
LATENCIES   = (300, 500, 1000, 1500, 2000, 3000, 4000)
COMPLETIONS = (64, 128, 256)
PUBLISHED_NS = (1000, 1300, 2000, 3000)   # Latencies for the figures of the application notes; `notes` has 1000.
TAGS        = (32, 64, 256)
LCRC_EVERY  = (0, 10000, 1000, 300, 100, 30)
JITTER_NS   = 1000
OUTLIERS_NS = (0, 5000, 20000, 100000)
OUTLIER_EVERY = 1000
POLICIES    = ("guideline", "minimum")

LANE_CHAIN    = 10     # Transfers of a chain over the lane, which is simulated slowly.
LANE_POLICIES = {"update_fc": "per-type", "acks": "before-tlp"}  # Of the ends of a lane, which the model has too.

DDR_MHZ       = 200    # Clock of the controller: a quarter of the clock of DDR3-1600.

CHAIN_US      = 200    # Duration of a chain: the first round trip is less than 1 % of it.
CHAIN_LONGEST = 4096   # Descriptors in the largest ring.
STOCK_TABLE   = 256    # Descriptors in the table of stock LitePCIe.

# Latencies of the host in ns, with the parameters of real boards.
BOARD_LATENCIES = (300, 600, 1000, 1250, 1500, 1750, 2000, 2500, 3000, 3500, 4000)

DESCRIPTORS = 256     # In a chain of small transfers.

# Boards and links of the small transfers; None: the default build. With 64 tags the KCU105 cannot cover a round trip.
SMALL = (("sqrl_acorn", None), ("xilinx_kcu105", None), ("sqrl_xcu1525", (3, 8)))

# Helpers ------------------------------------------------------------------------------------------


def chain_length(gen, lanes, size, design=OURS):
    """Returns how many descriptors keep the link busy for CHAIN_US."""
    bytes_per_us = {1: 250, 2: 500, 3: 985}[gen]*lanes
    longest      = STOCK_TABLE if design == STOCK else CHAIN_LONGEST
    return max(8, min(longest, CHAIN_US*bytes_per_us//(size + 45)))


def directions(**options):
    """Returns two points: one direction at a time, and both at once."""
    return [Point(sequence=sequence, **options)
        for sequence in ("write-then-read", "read-and-write")]


def chained(point):
    """Returns the point with one doorbell for all its transfers: the rate that the link sustains."""
    return replace(point, batch=point.iterations, iterations=1)


def whole(link):
    """Returns the bytes of a transfer of the notes in whole words of the data path: stock moves whole words only."""
    word = link["width"]//8
    return AN_BYTES//word*word


def alone_and_chained(**options):
    alone = directions(**options)
    return alone + [chained(point) for point in alone]

# Sweeps with the parameters of real boards --------------------------------------------------------


def _board_point(sweep, found, **options):
    return Point(sweep, OURS, found.gen, found.lanes, found.width, tags=found.tags,
        phy="split" if found.split else "shared", hardware=found, **options)


def _at_1_us(sweep, found):
    """20 x 100 KB after one doorbell: one direction at a time, both, and with completions of 64 bytes."""
    one = chained(_board_point(sweep, found))
    return [one, replace(one, sequence="read-and-write"), replace(one, completion=64)]


def _alone(found):
    """One transfer per doorbell, also with its descriptor in the card's registers if the card has them."""
    one = _board_point("boards", found)
    return [one, replace(one, direct=True)] if found.width >= DIRECT_BITS else [one]


def boards(quick, only=()):
    """Each board's default build and its widest link; ``only``: names of targets."""
    points = []
    for found in defaults(only):
        points += _at_1_us("boards", found)
        points += [replace(points[-3], latency_ns=ns) for ns in BOARD_LATENCIES if ns != 1000 and not quick]
        points += _alone(found)
    return points


def hosts(quick):
    """Each board's default build and its widest link on each host."""
    points = [(chained(_board_point("hosts", found)), found.lanes) for found in defaults()[:1 if quick else None]]
    return [replace(point, host=host, mps=min(point.mps, kind.mps)) for point, lanes in points
        for host, kind in HOSTS.items() if lanes <= kind.lanes]


def stock(quick):
    """Ours and stock, with more and more pending requests, on the hard block, data path and clock of each board."""
    points = []
    for found in defaults()[:1 if quick else None]:
        one     = replace(chained(_board_point("stock", found)), bytes=AN_BYTES//(found.width//8)*(found.width//8))
        points += [one, *(replace(one, design=STOCK, pending=pending) for pending in PENDING)]
    return points


def notes_on_boards(quick, links, latencies):
    """One transfer per doorbell on the boards that have one of these links (gen, lanes), for the sweep "published"."""
    return [] if quick else [_board_point("published", found, latency_ns=ns) for found in everything()
        if found.link in links for ns in latencies]


def links(quick):
    """All other links and data paths of the boards that keep up with the link."""
    known = {replace(found, names=()) for found in defaults()}
    return [] if quick else [point for found in everything() if replace(found, names=()) not in known
        for point in _at_1_us("links", found)]


def lone(quick):
    """One transfer of 64 bytes, on each board with DIRECT."""
    return lone_points([point for found in defaults()[:1 if quick else None] for point in _alone(found)])


def board_sizes(quick):
    """Chains of 256 descriptors of one size, one direction at a time."""
    points = []
    for name, link in SMALL[:1 if quick else None]:
        board = load(name).BOARD
        found = hardware(board, board.configure(*link or ()))
        points += [_board_point("board_sizes", found, bytes=size, batch=DESCRIPTORS, iterations=1)
            for size in MSC_SIZES[::6 if quick else 1]]
    return points

# Sweeps on the ideal PHY --------------------------------------------------------------------------


def note_links(quick):
    """Returns (gen, lanes, width) of the rows of AN 456 and AN 855."""
    return [tuple(DEFAULT.values())] if quick else sorted({(row.gen, row.lanes, row.width)
        for row in application_notes()})


def notes(quick):
    """The rows of AN 456 and AN 855: 100 KB x 20, one transfer per doorbell and all 20 per doorbell. The policy
    "minimum" is for what they print, one per doorbell."""
    points = []
    for gen, lanes, width in note_links(quick):
        link    = dict(sweep="notes", gen=gen, lanes=lanes, width=width)
        points += [point for design in BOTH for point in alone_and_chained(design=design, **link)]
        points += directions(design=OURS, update_fc="minimum", **link)
    return points


def published(quick):
    """The rows of AN 456 and AN 855, one transfer per doorbell, over the latency of the host, of which they say
    nothing: on the ideal PHY with their data paths, and on each board that has such a link."""
    links  = note_links(quick)
    where  = [dict(gen=gen, lanes=lanes, width=width, latency_ns=ns) for gen, lanes, width in links
        for ns in PUBLISHED_NS[3 if quick else 1:]]
    points = [Point("published", OURS, **options) for options in where]
    points += notes_on_boards(quick, {link[:2] for link in links}, PUBLISHED_NS)
    return [replace(point, sequence=sequence, update_fc=policy) for point in points
        for sequence in ("write-then-read", "read-and-write") for policy in POLICIES]


def gen3(quick):
    """Gen3 at 256 and 512 bit; x8 at 512 bit also with a clock at which the data path is not the limit."""
    links = [FASTEST] if quick else [dict(gen=3, lanes=lanes, width=width) for lanes in (4, 8)
        for width in (256, 512)] + [WIDEST | dict(clock_mhz=250)]
    return [point for link in links for design in BOTH
        for point in alone_and_chained(sweep="gen3", design=design, bytes=whole(link), **link)]


def alone(quick):
    """One transfer per doorbell: its descriptor is fetched, or in the card's registers; stock has it in its own table,
    which the host fills before or in the time measured."""
    return [Point("alone", design, bytes=whole(link), **link, **{option: True for option in options})
        for link in ((DEFAULT,) if quick else (DEFAULT, FASTEST))
        for design, *options in ((OURS,), (OURS, "direct"), (STOCK,), (STOCK, "fill"))]


def shapes(quick):
    """Requests and completions in separate channels, little-endian, as on UltraScale."""
    points = alone_and_chained(sweep="shapes", design=OURS, phy="split", **FASTEST)
    return points[-2:] if quick else points


def completions(quick):
    """Sizes of the completions from the host."""
    return [chained(point) for link in ((DEFAULT,) if quick else (DEFAULT, FASTEST, WIDEST))
        for size in COMPLETIONS for design in BOTH
        for point in directions(sweep="completions", design=design, completion=size,
            bytes=whole(link), **link)]


def latency(quick):
    """Latency of the host; then with jitter, where completions overtake each other.

    The fastest link is also measured with all tags: tags are a window, and its oldest request delays the others.
    """
    points = []
    for link in ((DEFAULT,) if quick else (DEFAULT, FASTEST)):
        for ns in LATENCIES[::3 if quick else 1]:
            for design in BOTH:
                plain   = directions(sweep="latency", design=design, latency_ns=ns, **link)
                jitter  = replace(plain[0], jitter_ns=JITTER_NS, reorder=True)
                points += [*plain, jitter]
                if link is FASTEST and design == OURS:
                    points.append(replace(jitter, tags=max(TAGS)))
    return [chained(point) for point in points]


def outliers(quick):
    """A rare request that waits much longer, while later requests complete first."""
    return [chained(Point("outliers", design, outlier_ns=ns, outlier_every=OUTLIER_EVERY*bool(ns),
        reorder=bool(ns), **DEFAULT)) for ns in OUTLIERS_NS[::2 if quick else 1] for design in BOTH]


def tags(quick):
    """Number of outstanding requests against latency."""
    return [chained(Point("tags", OURS, tags=count, mrrs=mrrs, latency_ns=ns, **FASTEST))
        for count in TAGS for mrrs in ((512,) if quick else (128, 512))
        for ns in LATENCIES[2::4 if quick else 1]]


def addresses(quick):
    """Buffers above 4 GiB: headers of four dwords. Stock has 64 bits of address with ``address_width=64``."""
    return [chained(point) for link in ((DEFAULT,) if quick else (DEFAULT, FASTEST)) for design in BOTH
        for point in directions(sweep="addresses", design=design, address_bits=64, bytes=whole(link), **link)]


def errors(quick):
    """Replays: every Nth TLP of each direction is damaged."""
    return [chained(replace(point, lcrc_every=every)) for every in LCRC_EVERY[::2 if quick else 1]
        for design in BOTH for point in directions(sweep="errors", design=design, **DEFAULT)]


def sizes(quick):
    """Chained descriptors of 8 B to 32 KB, as in the MSC8156 (Gen1) and MSC8157 (Gen2) notes."""
    if quick:
        return _sizes_of(Point("sizes", OURS, **DEFAULT, mrrs=256, iterations=1), MSC_SIZES[::4])
    points = []
    links  = [(gen, lanes, narrowest(gen, lanes)) for gen in (1, 2) for lanes in (1, 2, 4)]
    for gen, lanes, width in [*links, tuple(DEFAULT.values())]:
        for mps in (256, 128) if lanes == 4 else (256,):
            point   = Point("sizes", OURS, gen, lanes, width, mps=mps, mrrs=256, iterations=1)
            points += _sizes_of(point, MSC_SIZES)
    return points


def _sizes_of(point, sizes):
    points = []
    for size in sizes:
        point = replace(point, bytes=size)
        chain = chain_length(point.gen, point.lanes, size)
        batches = [*MSC_BATCHES, chain] if (point.mps, point.lanes) == (256, 4) else [chain]
        points += [replace(point, batch=batch) for batch in sorted(set(batches))]
        # Stock LitePCIe moves whole words of its data path.
        if point.lanes == 4 and point.mps == 256 and size >= point.width//8:
            stock   = replace(point, design=STOCK,
                batch=chain_length(point.gen, point.lanes, size, STOCK))
            points += [stock, replace(stock, fill=True)]
    return points


def equal_chains(quick):
    """Chains as long as the table of stock LitePCIe holds, of ours and of stock with more and more pending requests."""
    points = []
    sizes  = [size for size in MSC_SIZES if size >= DEFAULT["width"]//8]  # Stock moves whole words.
    for size in sizes[::4] if quick else sizes:
        one = Point("equal_chains", OURS, **DEFAULT, iterations=1, bytes=size,
            batch=chain_length(2, 4, size, STOCK))
        points += [one, *(replace(one, design=STOCK, pending=pending) for pending in PENDING)]
    return points


def baseline(quick):
    """The rows of the first measurement of stock LitePCIe, measured again, with ours for comparison."""
    gen1   = dict(gen=1, lanes=4, width=64)
    common = dict(sweep="baseline", iterations=1, batch=STOCK_TABLE)
    points = [] if quick else directions(design=STOCK, bytes=4096, **gen1, **common)
    for options in (dict(bytes=4096), dict(bytes=4096, completion=64), dict(bytes=64),
        dict(bytes=512), dict(bytes=4096, latency_ns=4000))[::4 if quick else 1]:
        points.append(Point(design=STOCK, **DEFAULT, **common, **options))
    return [replace(point, design=design) for point in points for design in BOTH]


def pio(quick):
    """Loads and stores of the processor through the window."""
    return [Point("pio", OURS, gen, lanes, width, sequence="pio", bytes=4096, store=store)
        for gen, lanes, width in [(1, 1, 64)] + ([] if quick else [(2, 4, 128)])
        for store in (4, 64)]


def lane(quick):
    """The card with the endpoint in gateware, symbol by symbol, and the link model on the same traffic with the same
    policies."""
    return [chained(point) for mps in ((256,) if quick else (128, 256)) for phy in ("soft", "shared")
        for point in directions(sweep="lane", design=OURS, gen=1, lanes=1, width=64, tags=UNEXTENDED_TAGS, mps=mps,
            phy=phy, clock_mhz=100, iterations=LANE_CHAIN, **LANE_POLICIES)]


def ddr(quick):
    """DDR3-1600 of 64 bit and block RAM with the same data path and clock. At 512 bit the DDR is the limit."""
    return [point for link in ((DEFAULT,) if quick else (DEFAULT, WIDEST)) for memory in ("bram", "ddr")
        for point in alone_and_chained(sweep="ddr", design=OURS, memory=memory, clock_mhz=DDR_MHZ,
            bytes=whole(link), **link)]


SWEEPS = {sweep.__name__: sweep for sweep in (boards, hosts, stock, links, board_sizes, lone, notes, published, gen3,
    alone, shapes, equal_chains, completions, latency, outliers, tags, addresses, errors, sizes, baseline, pio, ddr,
    lane)}
