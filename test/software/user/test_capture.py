# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""liblitepcie.capture on the mock card: files, replay, server, signals, and bad input. test/guest has the card."""

import contextlib
import importlib
import json
import os
import resource
import signal
import struct
import subprocess
import sys

from pathlib import Path

import numpy
import pytest

from test.software.user.conftest import LIMIT, ROOT, framed, until

LENGTHS = (1, 64, 65536, 3, 200001, 4096)
FILES   = ("capture", "capture.parquet")

# Raw files share their paths with tables, and also those of tables that make test walks.
RAW_FULL   = (pytest.param("capture", marks=pytest.mark.full), "capture.parquet")
TABLE_FULL = ("capture", pytest.param("capture.parquet", marks=pytest.mark.full))


def packets(count=6):
    """The same ones each time."""
    random = numpy.random.default_rng(1)
    return [random.bytes(LENGTHS[n % len(LENGTHS)]) for n in range(count)]


def write_raw(path, *packets):
    """A raw file of zeros with these packets: (time in ns, bytes, whether the next one continues it)."""
    table = numpy.array(list(packets), [("time_ns", "<u8"), ("bytes", "<u4"), ("more", "<u4")])
    path.write_bytes(bytes(int(table["bytes"].sum())))
    table.tofile(f"{path}.packets")


@pytest.fixture
def start(card):
    def started(*arguments, prepare="", limit=None, **settings):
        command = [sys.executable, "-c", f"{prepare}\nimport runpy, sys\nsys.argv[0] = 'capture'\n"
            "runpy.run_module('liblitepcie.capture', run_name='__main__', alter_sys=True)", *map(str, arguments)]
        return subprocess.Popen(command, env=card.python(**settings), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, preexec_fn=limit)
    return started


@pytest.fixture
def capture(start):
    """Runs the program; its status, output and errors."""
    def run(*arguments, **settings):
        with start(*arguments, **settings) as process:
            out, err = process.communicate(timeout=LIMIT)
        return process.returncode, out, err
    return run


@pytest.fixture
def package(monkeypatch):
    """The package in this process, for what needs no card. `main` changes the handlers of signals."""
    monkeypatch.syspath_prepend(ROOT / "software" / "python")
    before = [(one, signal.getsignal(one)) for one in (signal.SIGINT, signal.SIGTERM)]
    yield importlib.import_module("liblitepcie.capture.__main__")
    for one, handler in before:
        signal.signal(one, handler)


def held(package, path):
    """The packets of a file."""
    source, found, now = package.open_file(path), [], b""
    for block in source.blocks(lambda: False):
        for data, _, more in block.each():
            now += data.tobytes()
            if not more:
                found.append(now)
                now = b""
    source.close()
    return found


@pytest.mark.parametrize("name", RAW_FULL)
def test_record_and_play(capture, package, tmp_path, name):
    """Each packet with its end, whatever the pieces in which it came; a replay sends the same packets."""
    (tmp_path / "in").write_bytes(framed(packets(12)))
    file = tmp_path / name
    code, out, err = capture("record", file, "-n", 9, "--json", stream_in=tmp_path / "in", stream_piece=30000)
    told = json.loads(out)
    assert (code, err, told["packets"], told["bytes"]) == (0, "", 9, sum(map(len, packets(9))))
    assert told["source"] == "/dev/litepcie0_stream0 of mock" and told["overruns"] == told["lost_bytes"] == 0
    assert held(package, file) == packets(9)
    code, out, err = capture("play", file, stream_out=tmp_path / "out")
    assert (code, err) == (0, "") and out.startswith(f"play: {told['bytes']} bytes in 9 packets, ")
    # Each piece is a call, with its header; the next piece has the rest of the packet.
    sent, data, now = [], (tmp_path / "out").read_bytes(), b""
    while data:
        length, flags = struct.unpack("<II", data[:8])
        now, data = now + data[8:8 + length], data[8 + length:]
        if not flags & 1:
            sent.append(now)
            now = b""
    assert sent == packets(9) and not now


@pytest.mark.parametrize("name", TABLE_FULL)
def test_lost_data(capture, package, tmp_path, name):
    """The driver's counts, and a reset of the card: exit status 3, and the file has the rest and says so."""
    (tmp_path / "in").write_bytes(framed(packets()))
    file = tmp_path / name
    settings = dict(stream_in=tmp_path / "in", stream_lost=77)
    assert capture("record", file, "-n", 2, **settings)[::2] == (3, "liblitepcie.capture: /dev/litepcie0_stream0 of "
        f"mock: 77 bytes and the ends of 1 packets were lost; {file} has the rest\n")
    assert held(package, file) == packets(2)
    code, out, err = capture("record", file, "--force", stream_in=tmp_path / "in")
    assert (code, out) == (3, "") and "data was lost, because the card was reset or suspended, or" in err
    assert held(package, file) == packets() and "ended by: /dev/litepcie0_stream0: data" in capture("info", file)[1]


@pytest.mark.parametrize("name", FILES)
def test_samples_and_what_they_are(capture, package, tmp_path, name):
    """What --meta says is in the file, also after a conversion, and load uses it."""
    sent = [one*2 for one in packets()]  # Whole samples of 16 bit.
    (tmp_path / "in").write_bytes(framed(sent))
    meta = {"dtype": "<i2", "sample_rate_hz": "1e6", "units": "mV"}
    file, other = tmp_path / name, tmp_path / f"other.{'raw' if 'parquet' in name else 'parquet'}"
    assert capture("record", file, "-n", 6, "--compression", "none", *(word for item in meta.items()
        for word in ("--meta", "=".join(item))), stream_in=tmp_path / "in")[::2] == (0, "")
    assert capture("convert", file, other)[0] == 0
    for one in (file, other):
        told = capture("info", one, "--json")[1]
        assert json.loads(told)["meta"] == meta and "\n  units: mV\n" in capture("info", one)[1]
        load = importlib.import_module("liblitepcie").load
        assert (load(one) == numpy.frombuffer(b"".join(sent), "<i2")).all() and load(one).dtype == "<i2"
        assert load(one, "u1").nbytes == sum(map(len, sent))
        with pytest.raises(ValueError, match="no whole number of samples of 3 bytes"):
            load(one, "S3")
    codec = importlib.import_module("pyarrow.parquet").ParquetFile(file if "parquet" in name else other)
    assert codec.metadata.row_group(0).column(3).compression == ("UNCOMPRESSED" if "parquet" in name else "ZSTD")


def test_ring_flush_and_overruns(capture, tmp_path):
    """The settings reach the driver, after those of the library; an overrun is a status of its own on request only."""
    (tmp_path / "in").write_bytes(framed(packets()))
    file, setup = tmp_path / "capture", tmp_path / "setup"
    settings = dict(stream_in=tmp_path / "in", stream_overruns=7, stream_setup=setup)
    assert capture("record", file, "-n", 2, "--ring", "100M", "--flush-us", 5000, **settings)[::2] == (0, "")
    direction, depth, buffer_bytes, flush_us = map(int, setup.read_text().splitlines()[-1].split())
    assert (direction, flush_us) == (1, 5000) and depth*buffer_bytes == 128 << 20 and depth <= 1024
    code, _, err = capture("record", file, "-n", 2, "--force", "--fail-on-overrun", **settings)
    assert code == 5 and "the card's logic waited for this program 7 times: give a larger --ring" in err
    assert capture("record", file, "-n", 2, "--force", "--ring", "512M", **settings)[::2] == (1, "liblitepcie.capture: "
        "--ring: 536870912 bytes are more than root allows: echo 536870912 > "
        "/sys/module/litepcie/parameters/stream_bytes\n")
    code, _, err = capture("record", file, "--meta", "dtype=int17")
    assert code == 2 and "dtype 'int17' is no type of NumPy" in err


@pytest.mark.parametrize("name, number", [*zip(FILES, (signal.SIGINT, signal.SIGTERM))])
def test_a_signal_keeps_what_was_captured(card, start, package, tmp_path, name, number):
    """With a card that sends no more: the capture ends, and the file is complete."""
    os.mkfifo(tmp_path / "in")
    file = tmp_path / name
    with start("record", file, stream_in=tmp_path / "in", says=card.says) as process, \
            open(tmp_path / "in", "wb", 0) as pipe:
        pipe.write(framed(packets(2)))
        card.wait_for(process, "packet 2")
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, err) == (128 + number, "")
    assert out.startswith("record: 65 bytes in 2 packets, ") and held(package, file) == packets(2)
    assert not (tmp_path / f"{name}.part").exists()


def test_a_full_disk(capture, package, tmp_path):
    """One line, and what was written before is a complete capture in both kinds of file."""
    sent = [os.urandom(1000000) for _ in range(9)]
    (tmp_path / "in").write_bytes(framed(sent))

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4500000, 4500000))
    # Row groups of two packets; then one group, of which a half fits.
    small = "from liblitepcie.capture import table\ntable.GROUP = 2000000"
    for name, prepare, count in ((FILES[0], "", 4), (FILES[1], small, 4), ("b.parquet", "", 4)):
        status, out, err = capture("record", tmp_path / name, "-n", 9, stream_in=tmp_path / "in", limit=limit,
            prepare=prepare)
        part = "" if name == FILES[0] else ".part"
        assert (status, out, err) == (1, "", f"liblitepcie.capture: {tmp_path / name}{part}: File too large; "
            f"{tmp_path / name} has what was written before\n")
        assert held(package, tmp_path / name) == sent[:count], name
        assert "File too large" in package.open_file(tmp_path / name).summary.error
        assert package.open_file(tmp_path / name).summary.packets == count
    assert not list(tmp_path.glob("*.part*"))


def test_a_killed_recorder_of_a_table(card, start, package, tmp_path, capsys):
    """SIGKILL, as a power cut: all complete groups can be read, by this program and, with their footer, by others."""
    import pyarrow.parquet
    os.mkfifo(tmp_path / "in")
    file, part = tmp_path / "a.parquet", tmp_path / "a.parquet.part"
    small = "from liblitepcie.capture import table\ntable.GROUP = 1"
    with start("record", file, stream_in=tmp_path / "in", prepare=small) as process, \
            open(tmp_path / "in", "wb", 0) as pipe:
        for count in (1, 2):
            pipe.write(framed(packets(2)[count - 1:count]))
            footer = Path(f"{part}.footer")
            until(lambda count=count: footer.exists() and pyarrow.parquet.read_metadata(footer).num_rows == count)
        process.kill()
    assert held(package, file) == packets(2)
    with open(part, "ab") as opened:
        opened.write(bytes(1000))
    assert held(package, file) == packets(2)
    assert package.main(["info", str(file)]) == 0
    assert f"ended by: the capture was not ended: {part} has the groups that were" in capsys.readouterr().out
    assert package.main(["record", str(file)]) == 1 and f"{part}: exists; give" in capsys.readouterr().err
    (tmp_path / "b.parquet").write_bytes(part.read_bytes() + footer.read_bytes())
    assert pyarrow.parquet.read_table(tmp_path / "b.parquet")["data"].to_pylist() == packets(2)
    assert held(package, tmp_path / "b.parquet") == packets(2)


def test_a_group_is_on_the_disk_before_its_footer_names_it(package, tmp_path, monkeypatch):
    """So that a power cut at any moment leaves a footer whose groups are all there."""
    done, fsync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (done.append(Path(os.readlink(f"/proc/self/fd/{fd}")).name), fsync(fd)))
    monkeypatch.setattr(os, "replace", lambda new, old: (done.append(f"rename {Path(old).name}"), replace(new, old)))
    (tmp_path / "any").write_bytes(bytes(10000))
    assert package.main(["convert", f"{tmp_path}/any", f"{tmp_path}/a.parquet"]) == 0
    assert done == ["a.parquet.part", "a.parquet.part.footer.new", "rename a.parquet.part.footer", tmp_path.name,
        "a.parquet.part", "rename a.parquet", tmp_path.name]


@pytest.mark.parametrize("name", FILES)
def test_rotation(package, tmp_path, monkeypatch, capsys, name):
    """By size and by time: each file is complete, has whole packets, and begins with a packet."""
    from liblitepcie.capture import block
    (tmp_path / "any").write_bytes(os.urandom(300001))
    suffix = Path(name).suffix
    for limit in ("80000", "0.001s"):
        monkeypatch.setattr(block.time, "monotonic", iter(numpy.arange(1e6, 2e6)).__next__)
        folder = tmp_path / limit
        folder.mkdir()
        assert package.main(["convert", f"{tmp_path}/any", f"{folder}/{name}", "--packet-bytes", "32K",
            "--rotate", limit]) == 0
        monkeypatch.undo()
        files = sorted(one for one in folder.iterdir() if one.suffix == suffix)
        found = [held(package, one) for one in files]
        assert files[0].name == f"capture-0001{suffix}" and b"".join(sum(found, [])) == (tmp_path / "any").read_bytes()
        assert {len(one) for one in found[:-1]} == {3 if limit == "80000" else 1}
        assert [package.open_file(one).summary.packets for one in files] == [len(one) for one in found]
    assert package.main(["convert", f"{tmp_path}/any", f"{folder}/{name}", "--rotate", "1K"]) == 1
    assert f"capture-0001{suffix}: exists; give" in capsys.readouterr().err


def test_convert(package, tmp_path, capsys):
    """Any file, in packets of one size; both ways; and what another program reads in the table."""
    import pyarrow.parquet
    data = os.urandom(300001)
    (tmp_path / "any").write_bytes(data)
    assert package.main(["convert", f"{tmp_path}/any", f"{tmp_path}/a.parquet", "--packet-bytes", "4K"]) == 0
    assert package.main(["convert", f"{tmp_path}/a.parquet", f"{tmp_path}/raw"]) == 0
    assert (tmp_path / "raw").read_bytes() == data
    assert [len(one) for one in held(package, tmp_path / "raw")] == [4096]*73 + [993]
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    assert table.column_names == ["packet", "time", "more", "data"]
    assert table["packet"].to_pylist() == list(range(74)) and b"".join(table["data"].to_pylist()) == data
    # A packet that is longer than a piece.
    assert package.main(["convert", f"{tmp_path}/any", f"{tmp_path}/b.parquet", "--packet-bytes", "1G"]) == 0
    assert held(package, tmp_path / "b.parquet") == [data]
    assert "300001 bytes in 74 packets" in capsys.readouterr().out
    (tmp_path / "long").write_bytes(bytes(5 << 20))
    assert package.main(["convert", f"{tmp_path}/long", f"{tmp_path}/c.parquet", "--packet-bytes", "3000000"]) == 0
    assert [len(one) for one in held(package, tmp_path / "c.parquet")] == [3000000, (5 << 20) - 3000000]
    rows = pyarrow.parquet.read_table(tmp_path / "c.parquet").to_pydict()
    assert rows["packet"] == sorted(rows["packet"]) and len(rows["packet"]) > 4
    assert max(map(len, rows["data"])) <= 1 << 20


def test_what_was_killed_can_be_read(package, tmp_path, capsys):
    """Raw files without a summary, and with bytes whose pieces were not written; tables with the meta of the rest."""
    (tmp_path / "any").write_bytes(bytes(10000))
    package.main(["convert", f"{tmp_path}/any", f"{tmp_path}/raw", "--packet-bytes", "1000"])
    (tmp_path / "raw.json").unlink()
    (tmp_path / "raw").write_bytes(bytes(10500))
    assert package.main(["info", f"{tmp_path}/raw"]) == 0
    assert f"ended by: the capture was not ended: {tmp_path}/raw.json is missing" in capsys.readouterr().out
    assert held(package, tmp_path / "raw") == [bytes(1000)]*10
    block = importlib.import_module("liblitepcie.capture.block")
    table = importlib.import_module("liblitepcie.capture.table")
    sink  = table.ParquetSink(tmp_path / "x.parquet", meta={"units": "mV"})
    sink.write(block.Block(numpy.zeros(4, "u1"), numpy.array([(1, 4, 0)], block.PIECE)), lambda: False)
    sink._end_group()
    sink.close()
    source = package.open_file(tmp_path / "x.parquet")
    assert source.summary.meta == {"units": "mV"} and "was not ended" in source.summary.error
    source.close()


@pytest.fixture
def server(start, tmp_path):
    """Starts one; its process and its address. Only the machine itself reaches it."""
    @contextlib.contextmanager
    def started(*arguments, **settings):
        with start("serve", "--listen", "127.0.0.1:0", *arguments, **settings) as process:
            line = process.stdout.readline()
            try:
                yield process, line.split(" at ")[1].strip()
            finally:
                process.send_signal(signal.SIGINT)
                assert process.wait(LIMIT) == 130 and process.stderr.read() == ""
    return started


def test_a_served_file(server, package, tmp_path, capsys):
    (tmp_path / "any").write_bytes(os.urandom(300001))
    package.main(["convert", f"{tmp_path}/any", f"{tmp_path}/a.parquet", "--packet-bytes", "4K"])
    with server(tmp_path / "a.parquet", tmp_path / "any") as (_, address):
        assert package.main(["fetch", address, "--name", "a.parquet", f"{tmp_path}/one"]) == 0
        assert package.main(["fetch", address, "--name", "any", f"{tmp_path}/two.parquet"]) == 0
        assert package.main(["fetch", address, "--name", "any", f"{tmp_path}/three", "-n", "2"]) == 0
        capsys.readouterr()
        for more, said in ((["--name", "../any"], "no capture '../any'; this server has a.parquet, any"),
                ([], "has 2 captures; choose one of a.parquet, any")):
            assert package.main(["fetch", address, *more, f"{tmp_path}/x"]) == 1
            assert capsys.readouterr().err == f"liblitepcie.capture: grpc+tcp://{address}: {said}\n"
        assert package.main(["serve", f"{tmp_path}/any", "--listen", address]) == 1
        assert capsys.readouterr().err.startswith(f"liblitepcie.capture: --listen {address}: cannot be used, or")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "any").read_bytes()
    assert [len(one) for one in held(package, tmp_path / "one")] == [4096]*73 + [993]
    assert [len(one) for one in held(package, tmp_path / "two.parquet")] == [65536]*4 + [300001 - 4*65536]
    assert [len(one) for one in held(package, tmp_path / "three")] == [65536]*2
    assert package.main(["fetch", address, f"{tmp_path}/x"]) == 1 and "unavailable" in capsys.readouterr().err


def test_the_example_without_our_package(server, package, tmp_path):
    """It reads the file and the server, and ends with one line for others."""
    def example(*arguments):
        result = subprocess.run([sys.executable, "-I", ROOT / "examples" / "python" / "read_capture.py", *arguments],
            capture_output=True, text=True)
        return result.returncode, result.stdout, result.stderr
    write_raw(tmp_path / "raw", (10**9, 1000, 1), (1999999999, 1, 0), (3*10**9, 70, 0))
    package.main(["convert", f"{tmp_path}/raw", f"{tmp_path}/a.parquet"])
    said = "00:00:01        1 packets         1001 bytes\n00:00:03        1 packets           70 bytes\n"
    assert example(tmp_path / "a.parquet") == (0, said, "")
    with server(tmp_path / "raw") as (_, address):
        assert example(address, "raw") == (0, said, "")
        status, out, err = example(address, "none")
        assert (status, out) == (1, "") and "no capture 'none'; this server has raw" in err
    status, out, err = example(tmp_path / "raw")
    assert (status, out) == (1, "") and err.count("\n") == 1


def test_a_served_stream(start, server, package, tmp_path):
    """Live: packets before the client ends by a signal. The client's losses are those that the driver counted."""
    os.mkfifo(tmp_path / "in")
    # The server opens the stream once to check it: the end of no writer would be a reset.
    with open(os.open(tmp_path / "in", os.O_RDWR), "wb", 0) as pipe, \
            server(stream_in=tmp_path / "in", stream_lost=5) as (_, address):
        with start("fetch", address, tmp_path / "live") as client:
            pipe.write(framed(packets(2)))
            came = tmp_path / "live.packets"
            until(lambda: came.exists() and came.stat().st_size == 2*16)
            client.send_signal(signal.SIGINT)
            out, err = client.communicate(timeout=LIMIT)
        assert client.returncode == 3 and "5 bytes and the ends of 1 packets were lost" in err
        assert out.startswith("fetch: 65 bytes in 2 packets, ")
    assert held(package, tmp_path / "live") == packets(2)


@pytest.mark.full
def test_pace(capture, package, tmp_path):
    """With --pace, the replay takes as long as the recording: 0.6 s, and an hour that nobody waits for without it."""
    for last, more in ((3600*10**9, ()), (6*10**8, ("--pace",))):
        write_raw(tmp_path / "raw", *((5*10**9 + later, 4, 0) for later in (0, 10**8, last)))
        told = json.loads(capture("play", tmp_path / "raw", "--json", *more, stream_out=tmp_path / "out")[1])
        assert told["packets"] == 3
    assert told["elapsed_seconds"] >= 0.6


WRONG = [
    ("info {}/none",                    1, "{}/none: No such file or directory"),
    ("info {}/none.parquet",            1, "{}/none.parquet: No such file or directory"),
    ("info {}/any.parquet",             1, "{}/any.parquet: is no Parquet file: Parquet file size is 3 bytes"),
    ("info {}/other.parquet",           1, "{}/other.parquet: is no capture of this program: it has other columns"),
    ("info {}/bad",                     1, "{}/bad: has 3 bytes, fewer than {}/bad.packets says; the capture"),
    ("convert {}/any {}/any",           2, "{}/any: is the capture itself; give another name"),
    ("convert {}/any {}/bad",           1, "{}/bad: exists; give another name, or --force to replace it"),
    ("convert {}/any {}/no/where",      1, "{}/no/where: No such file or directory"),
    ("fetch a:b:c {}/x",                2, "'a:b:c' is no address; give HOST, HOST:PORT or [IPV6]:PORT"),
    ("record {}/x --card 7",            4, "/dev/litepcie7: no such device file"),
    ("record {}/x --card kc705",        2, "'kc705' is no card; give a number, a name such as 'litepcie0'"),
    ("record {}/x --stream 3",          4, "/dev/litepcie0_stream3: no such stream; litepcie_util info shows how many"),
    ("serve --stream 3",                4, "/dev/litepcie0_stream3: no such stream"),
]


def test_bad_input(capture, package, tmp_path):
    """One line each, and no file; the mock has no card 7 and no stream 3."""
    import pyarrow.parquet
    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), tmp_path / "other.parquet")
    for name in ("any", "any.parquet", "bad"):
        (tmp_path / name).write_bytes(b"abc")
    (tmp_path / "bad.packets").write_bytes(struct.pack("<QII", 0, 4, 0))
    before = sorted(tmp_path.iterdir())
    commands = [command.replace("{}", str(tmp_path)).split() for command, *_ in WRONG]
    program  = f"from liblitepcie.capture.__main__ import main\nfor one in {commands!r}:\n" \
        "    print(main(one), file=sys.stderr)\nsys.exit()"
    lines = capture(prepare=f"import sys\n{program}")[2].splitlines()
    assert len(lines) == 2*len(WRONG), lines
    for (command, status, said), line, code in zip(WRONG, lines[::2], lines[1::2]):
        assert line.startswith("liblitepcie.capture: " + said.replace("{}", str(tmp_path))), (command, line)
        assert int(code) == status, command
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("arguments, said", [
    ("",                            "the following arguments are required: COMMAND; see python3 -m "),
    ("record",                      "the following arguments are required: FILE; see python3 -m liblite"),
    ("record x -n 0",               "argument -n/--packets: 0 is not supported; the least is 1; see"),
    ("record x -t soon",            "argument -t/--time: 'soon' is not a number; see"),
    ("play x --packet-bytes 1Q",    "argument --packet-bytes: '1Q' is not a size; give bytes, such as 4096")])
def test_usage(package, capsys, arguments, said):
    with pytest.raises(SystemExit) as ended:
        package.main(arguments.split())
    assert ended.value.code == 2 and capsys.readouterr().err.startswith(f"liblitepcie.capture: {said}")


def test_without_pyarrow(capture, tmp_path):
    """Raw files need NumPy only."""
    (tmp_path / "in").write_bytes(framed(packets(2)))
    hidden = dict(prepare="import sys\nsys.modules['pyarrow'] = None", stream_in=tmp_path / "in")
    assert capture("record", tmp_path / "raw", "-n", 2, **hidden)[::2] == (0, "")
    assert capture("convert", tmp_path / "raw", tmp_path / "a.parquet", **hidden) == (1, "",
        "liblitepcie.capture: pyarrow is missing; run: pip install 'liblitepcie[capture]'\n")


def test_times(package, tmp_path):
    """They stay to the nanosecond through both kinds of file."""
    write_raw(tmp_path / "raw", *((one, 4, 0) for one in (1795454242832742001, 1795454242832742002,
        1795454242932742003)))
    package.main(["convert", f"{tmp_path}/raw", f"{tmp_path}/a.parquet"])
    package.main(["convert", f"{tmp_path}/a.parquet", f"{tmp_path}/back"])
    assert (tmp_path / "back.packets").read_bytes() == (tmp_path / "raw.packets").read_bytes()
