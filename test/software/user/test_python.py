# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""The Python package on the mock card (test/guest/test_python.py has the driver and the simulated card), and its files:
structures as the C compiler lays them out, the wheel."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from test.software.user.conftest import ROOT, SANITIZE, user_bus
from tools import capture_rates, check_version, make_wheel, mock_card

PACKAGE = ROOT / "software" / "python"

CSR = {"constants": {"config_csr_data_width": 32}, "csr_registers": {
    "core_operand":     {"addr": 0x3000_0000, "size": 1, "type": "rw"},
    "core_result":      {"addr": 0x3000_0004, "size": 1, "type": "ro"},
    "timer_cycles":     {"addr": 0x3000_0008, "size": 2, "type": "rw"},
    "gone_far":         {"addr": 0x3100_0000, "size": 1, "type": "rw"},
    "host_speed":       {"addr": 0x3000_0018, "size": 1, "type": "rw"},
    "identity_scratch": {"addr": 0x28,        "size": 1, "type": "rw"},
    "host_set":         {"addr": 0x8814,      "size": 1, "type": "rw"},
}}


@pytest.fixture
def python(card):
    """Runs a program with the package on the mock card, and returns what it printed."""
    def run(code, **settings):
        program = f"import liblitepcie, numpy, errno, os\nfrom liblitepcie import *\n{code}"
        result  = subprocess.run([sys.executable, "-c", program], env=card.python(**settings), capture_output=True,
            text=True, timeout=60)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout
    return run


def test_memory(python, card):
    """Slices, and buffers of the program in place; what is around the bytes stays."""
    python("""
with Card("litepcie0") as card:
    memory, data = card.memory, numpy.arange(1000, dtype=numpy.uint32)
    assert len(memory) == 1 << 20 and memory[-1] == 0
    memory.write(data, 61)
    back = numpy.zeros(1002, numpy.uint32)
    memory.read_into(back[1:-1], 61)
    assert (back[1:-1] == data).all() and back[0] == back[-1] == 0
    assert (memory.read(1000, 61, numpy.uint32) == data).all()
    assert memory[61:4061].tobytes() == data.tobytes()
    calls, call = [], card._call
    card._call = lambda *arguments: calls.append(arguments) or call(*arguments)
    assert (numpy.asarray(memory)[61:4061] == memory[61:4061]).all() and len(calls) == 2
    card._call = call
    memory[8:12] = b"abcd"
    memory[5] = 255
    assert memory[0:13].tolist() == [0]*5 + [255, 0, 0] + list(b"abcd") + [0]
    assert len(memory[(1 << 20) - 5:1 << 30]) == 5 and len(memory[9:9]) == 0
    target = bytearray(4)
    memory.read_into(target, 8)
    assert target == b"abcd"
    before = card.counters("writer")
    memory[0:4096]
    assert card.counters("writer").since(before).bytes == 4096
""", short=7777)
    assert card.file.read_bytes()[61:4061] == b"".join(n.to_bytes(4, "little") for n in range(1000))


# Runs each line of `codes` and prints its exception.
TRY = """
for code in codes:
    try:
        print(exec(code), "raised nothing")
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""

WRONG = [
    ("card.memory[0:4] = b'abc'", "ValueError: 3 bytes do not fit a slice of 4; give as many as the slice has"),
    ("card.memory[1 << 20]", "IndexError: offset 1048576 is outside the card's memory, which has 1048576 bytes"),
    ("card.memory.write(b'ab', (1 << 20) - 1)", "IndexError: bytes 1048575 to 1048576 are not inside the card's"),
    ("card.memory[0:8:2]", "ValueError: step 2 is not supported; leave it out"),
    ("card.memory.read_into(b'ab')", "ValueError: the buffer is read-only; give one that can be written"),
    ("card.memory.write(numpy.zeros((8, 8))[:, 1])", "ValueError: the buffer is not contiguous; give a contiguous"),
    ("card.counters('both')", "ValueError: direction 'both' is not supported; choose 'reader' or 'writer'"),
    ("card.stream(0, 'x')", "ValueError: mode 'x' is not supported; choose 'r', 'w' or 'rw'"),
    ("card.stream(3)", "LitePCIeError: /dev/litepcie0_stream3: no such device file"),
    ("card.queue(0)", "LitePCIeError: /dev/litepcie0: the driver rejected a value"),
    ("Card(7)", "LitePCIeError: /dev/litepcie7: no such device file"),
    ("Card('/dev/null')", "LitePCIeError: /dev/null: not a device of the LitePCIe SoC driver"),
    ("Card('0000:05:00.0')", "LitePCIeError: 0000:05:00.0: no card of the driver has this PCI address; cards() lists"),
    ("Card('kc705')", "ValueError: 'kc705' is no card; give a number, a name such as 'litepcie0', a path, or a PCI"),
    ("calc(lanes=3)", "ValueError: these values are no link; gen is 1 to 4, lanes are 1, 2, 4, 8 or 16"),
    ("card.close(); card.close(); card.memory[0]", "ValueError: /dev/litepcie0 is closed"),
]


def check_wrong(run, prepare, wrong):
    lines = run(f"{prepare}\ncodes = {[code for code, _ in wrong]}\n{TRY}").splitlines()
    assert len(lines) == len(wrong)
    for line, (code, wanted) in zip(lines, wrong):
        assert wanted in line, code


def test_errors_are_one_line(python):
    check_wrong(python, "card = Card()", WRONG)


def test_an_error_of_a_transfer(python):
    python("""
card = Card(0)
card.memory[0:9]
try:
    card.memory[0:9]
except OSError as error:
    assert error.errno == errno.EIO and error.filename == "/dev/litepcie0", error
    assert str(error).startswith("/dev/litepcie0: the host answered a request of the card with an error")
else:
    raise SystemExit("no error")
assert len(card.memory[0:9]) == 9
""", fail_call=2)


def test_card(python):
    assert python("""
card = Card(0)
info = card.info
print(info.target, info.bus_address, info.gateware_version, info.link_gen, info.link_lanes, *info.capabilities)
print(card.errors().unexpected, hex(card.scratch(0x1234)), card.fd > 2, card, liblitepcie.__version__)
card.memory[0:10] = bytes(10)
card.reset_engine("reader")
print(card.counters("reader").bytes, cards())
before, after = Counters(1, 2, 3, 4, 5, 6, 7, 2**32 - 1), Counters(9, 9, 9, 9, 9, 9, 9, 4)
print(after.since(before).wait_data, after.since(before).active_cycles)
""").splitlines() == ["mock 0000:01:00.0 1.0 2 4 reader writer msi link window",
        f"3 0x1234 True Card('/dev/litepcie0') {check_version.version()}", "0 []", "5 8"]


def test_queue(python):
    """Results by their tags; the queue keeps buffers alive that the program has dropped; an error has its tag."""
    said = python("""
card = Card()
try:
    queue = card.queue(depth=4)
except OSError as error:
    raise SystemExit(0 if print(error) else 0)
room = numpy.zeros(4*4096, numpy.uint8)
queue.register(room)
tags = [queue.write(numpy.full(4096, n + 1, numpy.uint8), n*4096) for n in range(4)]
try:
    queue.write(b"x")
    raise SystemExit("no error")
except OSError as error:
    assert error.errno == errno.EAGAIN
assert len(queue) == 4 and sorted(queue.wait() for n in tags) == [(tag, 4096) for tag in tags]
assert queue.wait() is None
for n in range(4):
    queue.read_into(room[n*4096:(n + 1)*4096], n*4096)
while queue.wait(10):
    pass
assert [int(room[n*4096:(n + 1)*4096].mean()) for n in range(4)] == [1, 2, 3, 4]
tag = queue.read_into(bytearray(100), (1 << 20) - 10)
assert queue.wait() == (tag, 10)
with card.queue(1) as other:
    other.write(b"12345678", 0)
assert card.memory[0:8].tobytes() == b"12345678"
print("all")
""")
    assert said == "all\n"


def test_stream(python, tmp_path):
    """Packets come back as they were sent, whatever the pieces in which the driver gives them."""
    assert python("""
with Card(0).stream(0) as stream:
    packets = [os.urandom(n) for n in (1, 64, 65536, 65537, 200001)]
    for packet in packets:
        stream.write_packet(packet)
        assert stream.read_packet().tobytes() == packet
    samples = numpy.arange(500, dtype=numpy.int16)
    stream.write_packet(samples)
    assert (stream.read_packet().view(numpy.int16) == samples).all()
    os.set_blocking(stream.fileno(), False)
    stream.write_packet(b"head", more=True)
    try:
        stream.read_packet()
    except LitePCIeError as error:
        assert error.errno == errno.EAGAIN
        stream.write_packet(b"tail")
    assert stream.read_packet().tobytes() == b"headtail"
    try:
        stream.write_packet(b"")
    except ValueError as error:
        print(error)
    for n in range(3):
        stream.write_packet(numpy.full(5, n, "<i2"))
    assert [one.tolist() for one in stream.samples("<i2", 3)] == [[n]*5 for n in range(3)]
    stream.write_packet(b"123")
    try:
        next(stream.samples("<i2"))
    except ValueError as error:
        assert str(error).startswith("the packet has 3 bytes, which is no whole number of samples of 2 bytes")
    else:
        assert False
    print(stream.info("writer").lost_bytes, stream.info("writer").overruns, stream.fileno() > 2)
""", stream_piece=30000) == "a packet has at least one byte\n0 3 True\n"


@pytest.fixture
def registers(python, tmp_path):
    """Runs a program with ``regs``, whose values are those of the file that the second result names."""
    settings = user_bus(tmp_path, bytes(range(64)))
    (tmp_path / "csr.json").write_text(json.dumps(CSR))
    return lambda code: python(f"regs = Card().registers({str(tmp_path / 'csr.json')!r})\n{code}", **settings)


def test_registers_by_name(registers, tmp_path):
    registers("""
assert regs.core_result == 0x07060504 and regs["core_result"].value == 0x07060504
assert regs.timer_cycles == 0x0b0a0908_0f0e0d0c
regs.core_operand = 0x12345678
regs["timer_cycles"].value = 0x1_00000002
assert regs.timer_cycles == 0x1_00000002
assert {one.name for one in regs} == {"core_operand", "core_result", "timer_cycles", "gone_far", "host_speed"}
assert "core_operand" in dir(regs)
""")
    assert (tmp_path / "user").read_bytes()[:16].hex() == "78563412" "04050607" "01000000" "02000000"


WRONG_REGISTERS = [
    ("regs.core_result = 1",       "WrongRegister: core_result can only be read"),
    ("regs.core_operand = 2**32",  "ValueError: core_operand: 4294967296 does not fit; the most is 0xffffffff"),
    ("regs.core_operant",          "AttributeError: core_operant is no register of the user's logic in csr.json"),
    ("regs['identity_scratch']",   "WrongRegister: identity_scratch is a register of the card, which only the driver"),
    ("regs.gone_far",              "/dev/litepcie0_user: outside the range of the user's registers"),
]


def test_wrong_registers(registers):
    check_wrong(registers, "", WRONG_REGISTERS)


@pytest.mark.parametrize("arguments, options", [
    ("", ()),
    ("gen=1, lanes=8, mps=128, mrrs=256, acks_all=True", "--gen 1 --lanes 8 --mps 128 --mrrs 256 --acks all".split()),
    ("gen=3, lanes=16, mps=512, completion=64, header=16, ecrc=True, length=4096, latency_ns=700, tags=64",
        "--gen 3 --lanes 16 --mps 512 --completion 64 --header 16 --ecrc -l 4K --latency-ns 700 --tags 64".split())])
def test_calc_is_that_of_the_tool(python, card, arguments, options):
    tool = json.loads(card("calc", "--json", *options).out)
    mine = json.loads(python(f"import json, dataclasses\nprint(json.dumps(dataclasses.asdict(calc({arguments}))))"))
    assert round(mine.pop("raw")) == tool["raw_bytes_per_second"]
    for name, rates in mine.items():
        assert {key: round(rate) for key, rate in rates.items()} == tool[f"{name}_bytes_per_second"], name


def test_a_missing_library_is_one_line(card):
    said = subprocess.run([sys.executable, "-c", "import liblitepcie; liblitepcie.Card(0)"], capture_output=True,
        text=True, env=card.python() | {"LITEPCIE_LIBRARY": "/nowhere/liblitepcie.so"}).stderr.splitlines()[-1]
    assert "LibraryMissing: /nowhere/liblitepcie.so cannot be used (" in said
    assert "or set LITEPCIE_LIBRARY to its path" in said


STRUCTURES = {"Info": "info", "Counters": "counters", "Errors": "errors", "Setup": "stream_setup", "Done": "done",
    "StreamInfo": "stream_info", "Link": "link", "Rates": "rates"}

LAYOUT = f"""
import ctypes
from liblitepcie import _library
for name, c in {STRUCTURES}.items():
    kind = getattr(_library, "C" + name)
    print(f"sizeof(struct litepcie_{{c}}) == {{ctypes.sizeof(kind)}}")
    for field, *_ in kind._fields_:
        print(f"offsetof(struct litepcie_{{c}}, {{field}}) == {{getattr(kind, field).offset}}")
"""


def printed(code, path, folder=None):
    """What a program says that finds the package below `path`."""
    return subprocess.check_output([sys.executable, "-c", code], cwd=folder, text=True,
        env=os.environ | {"PYTHONPATH": str(path)})


def test_structures_are_those_of_the_headers(tmp_path):
    lines = printed(LAYOUT, PACKAGE).splitlines()
    assert len(lines) > 80
    (tmp_path / "check.c").write_text("#include <stddef.h>\n#include <liblitepcie.h>\n" +
        "".join(f'_Static_assert({line}, "{line}");\n' for line in lines))
    subprocess.run(["cc", "-fsyntax-only", f"-I{ROOT}/software/user/lib",
        f"-I{ROOT}/software/kernel/include/uapi", tmp_path / "check.c"], check=True)


def test_wheel(tmp_path):
    """All modules and the mark of a typed package, nothing compiled, and the version of the project."""
    version = check_version.version()
    before  = set(PACKAGE.iterdir())
    wheel   = make_wheel.make(tmp_path)
    assert wheel.name == f"liblitepcie-{version}-py3-none-any.whl"
    names = set(zipfile.ZipFile(wheel).namelist())
    files = {str(path.relative_to(PACKAGE)) for path in (PACKAGE / "liblitepcie").rglob("*")
        if path.suffix in (".py", ".typed")}
    assert names - files == {f"liblitepcie-{version}.dist-info/{name}" for name in ("METADATA", "WHEEL", "RECORD",
        "top_level.txt")} and files <= names
    assert before == set(PACKAGE.iterdir())
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    said = printed("import liblitepcie; print(liblitepcie.__version__)", tmp_path / "installed", tmp_path)
    assert said == f"{version}\n"


@pytest.mark.full
def test_pip_installs_the_folder(tmp_path):
    """As docs/python.md says, with the packages of build/venv instead of those of the network."""
    shutil.copytree(PACKAGE, tmp_path / "python", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index",
        "--no-deps", "--no-build-isolation", "--target", tmp_path / "installed", tmp_path / "python"], check=True)
    said = printed("import liblitepcie as one, liblitepcie.capture.block; print(one.__file__, one.__version__)",
        tmp_path / "installed", tmp_path)
    assert said == f"{tmp_path}/installed/liblitepcie/__init__.py {check_version.version()}\n"


@pytest.mark.skipif(SANITIZE != "", reason="the mock card for users has no sanitizers")
def test_a_program_without_a_card(build, tmp_path, monkeypatch):
    """As docs/python.md says: a capture of a stream without an end, and memory that stays for the next command."""
    done = []
    monkeypatch.setattr(mock_card, "BUILD", build)
    monkeypatch.setattr(mock_card, "CARD", tmp_path / "card")
    monkeypatch.setattr(os, "execvpe", lambda _, command, environment: done.append(subprocess.run(command,
        env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60)))
    for line in ("litepcie_util mem write --value 7", "litepcie_util mem read --length 1",
            "python3 -m liblitepcie.capture record python --packets 65",
            "litepcie_util stream record --file c --packets 65"):
        mock_card.main(line.split())
    assert [run.returncode for run in done] == [0, 0, 0, 0], done
    assert done[1].stdout.startswith("0x00000000: 07")
    samples = (tmp_path / "python").read_bytes()
    assert len(samples) == 65*mock_card.PACKET and samples[:mock_card.PACKET] == samples[-mock_card.PACKET:]
    assert (tmp_path / "c").read_bytes() == samples


@pytest.mark.full
def test_the_rates_of_each_way_to_capture(build, tmp_path, monkeypatch, capsys):
    """The ways of the table in docs/capture.md."""
    monkeypatch.setattr(mock_card, "BUILD", build)
    monkeypatch.setattr(mock_card, "CARD", tmp_path / "card")
    monkeypatch.setattr(capture_rates, "RUNS", 1)
    capture_rates.main("0.1")
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [re.sub(r" +[1-9]\d* MB/s  \(\d+ to \d+\)$", "", line) for line in lines] == [
        name for name, _ in capture_rates.WAYS]


def test_the_mock_card_runs_a_command(capsys):
    assert mock_card.main([]) == 2 and "tools.mock_card python3" in capsys.readouterr().err
