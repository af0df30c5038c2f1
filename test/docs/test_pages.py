# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The pages about the user's own logic: what they call `soc.NAME` is there in any SoC, and their code runs; the
pictures of the README; how long all pages are."""

import importlib.util
import re
import xml.etree.ElementTree

from pathlib import Path

import litepcie
import pytest
from migen import Signal
from litex.build.generic_platform import GenericPlatform
from litex.soc.integration import soc as soc_of_litex
from litex.soc.integration.soc_core import SoCMini

from docs.pictures import demo as recording
from litepcie_sim.demo import __main__ as demo
from litepcie_soc.phy.sim import SimPHY
from litepcie_soc.soc import regs
from litepcie_soc.soc.soc import add_litepcie

DOCS  = Path(__file__).parents[2] / "docs"
PAGES = ("from-litepcie.md", "in-your-litex-soc.md", "own-logic.md", "user-interrupts.md",
    "contracts/streams.md", "contracts/user-bus.md")


@pytest.fixture(scope="module")
def soc():
    """A SoC that is not a LitePCIeSoC, with all that the pages speak of."""
    soc     = SoCMini(GenericPlatform("none", [], name="any"), 125e6)
    soc.phy = SimPHY(64)
    add_litepcie(soc, soc.phy, target="docs", gen=1, lanes=1, memory_size=4096, channels=0, streams=1, user_bus=True,
        host_buffers=1, host_axi=True, host_descriptors=True)
    return soc


@pytest.mark.parametrize("page", PAGES)
def test_names(soc, page):
    """Paths such as `soc.litepcie.streams[n].source`; `soc.h` and `soc.py` are files. A page may add modules."""
    text = (DOCS / page).read_text()
    own  = set(re.findall(r"\bsoc\.(\w+) = ", text))
    for path in re.findall(r"(?<![\w.\"/-])soc\.(?!h\b|py\b)[a-z][\w.]*(?:\[[n0]\][\w.]*)?", text):
        if path.split(".")[1] not in own:
            eval(path.rstrip("."), {"soc": soc, "n": 0})  # An AttributeError names what is missing.


# Text of what both sides of a table of from-litepcie.md name: files of LitePCIe and LiteX, and of this tree.
UPSTREAM = (*Path(litepcie.__file__).parent.rglob("*.[pch]*"), Path(soc_of_litex.__file__),
    *Path(litepcie.__file__).parents[1].glob("litepcie-*/entry_points.txt"))
OURS     = [path for pattern in ("gateware/**/*.py", "setup.py", "software/user/lib/*.h", "software/user/util/*.c",
    "software/kernel/include/uapi/linux/*.h", "examples/c/*.c", "sim/*.py") for path in DOCS.parent.glob(pattern)]
# Of both: the device files, values, and names of the user's own.
FREE     = r"/dev/\w+|\"\w+\"|config\.yml|--streams N|\bN\b|\bn\b|0x\w+|\b\d+\b"


def names_of(cell):
    """The names in the code of a cell of a table; of a path, its last part is a name of its own."""
    code = " ".join(re.findall(r"`([^`]+)`", cell))
    return set(re.findall(r"[A-Za-z_]\w+", re.sub(FREE, " ", code)))


@pytest.mark.parametrize("side, files", [(0, UPSTREAM), (1, OURS)])
def test_names_of_both_sides(side, files):
    """Each name that a table of from-litepcie.md gives is in LitePCIe, or here."""
    text  = "\n".join(path.read_text(errors="replace") for path in files if path.is_file())
    known = set(re.findall(r"\w+", text))
    rows  = re.findall(r"^\|([^|]+)\|(.+)\|$", (DOCS / "from-litepcie.md").read_text(), re.M)
    wrong = [name for row in rows for name in names_of(row[side]) if name not in known
        and not (name.startswith("_") and any(other.endswith(name) for other in known))]
    assert len(rows) > 30 and wrong == []


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)


@pytest.mark.parametrize("build", [False, pytest.param(True, marks=pytest.mark.full)])
def test_target_of_the_page(tmp_path, build):
    """The file of in-your-litex-soc.md makes Verilog with the stream that the page tells of."""
    names = {"__name__": "page"}
    exec(blocks("in-your-litex-soc.md")[0], names)
    if build:
        soc = names["SoC"]()
        names["Builder"](soc, output_dir=tmp_path).build(run=False)
        assert "litepcie_writer0" in (tmp_path / "gateware" / "sqrl_acorn.v").read_text()
        assert regs.moved(soc) == [] and soc.constants["CONFIG_PCIE_STREAM_ADC"] == 0


def test_interrupts_of_the_page(soc):
    code, = blocks("user-interrupts.md")
    names = {"Signal": Signal}
    exec(code, names)
    names["add_interrupts"](soc)
    assert [name for name, _, _ in soc.litepcie.wanted_interrupts] == ["timer", "trigger"]
    assert "add_litepcie" not in code.replace("add_litepcie(..., user_bus=True)", "")  # No board can call it again.


def test_the_boxes_lie_in_the_picture_and_no_two_overlap():
    spec = importlib.util.spec_from_file_location("path_picture", DOCS / "pictures" / "path.py")
    path = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(path)
    root  = xml.etree.ElementTree.fromstring(path.picture())
    boxes = [tuple(float(rect.get(key)) for key in ("x", "y", "width", "height"))
        for rect in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert len(boxes) == sum(len(row) for _, row, _ in path.ROWS)
    for n, (x, y, width, height) in enumerate(boxes):
        assert 0 <= x and x + width <= path.MIDDLE + 1 and y + height <= float(root.get("height"))
        for other_x, other_y, *_ in boxes[n + 1:]:
            assert other_y >= y + height or (other_y == y and other_x >= x + width)


def test_the_recording_of_the_demo():
    """It shows each command of today's demo from FIRST on, and loads nothing from elsewhere."""
    svg  = recording.PICTURE.read_text(encoding="utf-8")
    said = "".join(xml.etree.ElementTree.fromstring(svg).itertext()).replace("\xa0", " ")
    assert re.search(r"make demo, 20\d\d-\d\d-\d\d, commit \w{8}", said) and "every byte was correct" in said
    for shown in (recording.FIRST, *(f"dma_test --sequence {name}" for name in demo.SEQUENCES),
            f"of=/dev/litepcie0 bs={demo.WRITE_BLOCK_BYTES}", "sha256sum /boot/vmlinuz"):
        assert shown in said, shown
    assert re.findall(r"https?://\S+|url\((?!#)|font-face", svg) == ['http://www.w3.org/2000/svg">']


def test_a_recording_is_what_the_terminal_said():
    svg  = recording.picture(f"demo: before\n\x1b[1m{recording.FIRST}\x1b[0m\na < b & c\n", "title")
    said = "".join(xml.etree.ElementTree.fromstring(svg).itertext()).replace("\xa0", " ")
    assert "a < b & c" in said and "before" not in said and "title" in said


def test_the_words_of_all_that_a_user_reads():
    """By `cat README.md SECURITY.md docs/*.md examples/README.md | wc -w`: with tables, code and comments."""
    pages = [*DOCS.glob("*.md"), *(DOCS.parent / name for name in ("README.md", "SECURITY.md", "examples/README.md"))]
    texts = {str(page.relative_to(DOCS.parent)): page.read_text(encoding="utf-8") for page in pages}
    assert sum(len(text.split()) for text in texts.values()) <= 35000
    assert len(texts["README.md"].split()) <= 800  # Most of them in the two tables, and two pictures.
    # Each page begins with whom it is for; the README has a door for each reader.
    assert [name for name, text in texts.items() if not re.search(r"^# .*\n\nFor who", text, re.M)] == ["README.md"]
