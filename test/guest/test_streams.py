# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""/dev/litepcie0_stream0 on a board that loops its streams back: calls, rings, losses, closing (src/stream/)."""

import json
import re
import shlex

import pytest

from litepcie_soc.stream_dma.pattern import bytes_of
from litepcie_sim.guest.debug_kernel import kernel as named_kernel
from test.conftest       import SOFT
from test.guest.conftest import BDF, CARD, DRIVER, KERNEL, TIMEOUT_MS

pytestmark = pytest.mark.guest

STATE  = "/sys/kernel/debug/litepcie/litepcie0/card"
USER_OFFSET = 0x80  # Register of software/kernel/litepcie_regs.h.
BITS   = "64" if SOFT else "128"  # Of a beat of the pattern.
CALLS  = ("packets", "shapes", "headers", "nonblock", "exclusive", "settings", "flush", "fault", "random", "aio",
    "uring")


def passes(guest, *test, **options):
    said = guest.run(" ".join(["stream", *test]), **options)
    assert "checks passed" in said
    return said


@pytest.mark.parametrize("test", CALLS)
def test_calls(guest, test):
    # A link of Gen1 x1, simulated symbol by symbol, fills a ring in seconds.
    passes(guest, test, *["10000"]*(SOFT and test == "nonblock"))


@pytest.mark.full
def test_the_calls_of_a_32_bit_program(guest):
    """Those of the memory's device too."""
    assert "checks passed" in guest.run("compat")


DIRECT = ("direct", "direct_signal", "direct_lost", "direct_forked", "direct_bad", "direct_cancelled", "direct_uring",
    "headers direct", "aio direct", "uring direct")


@pytest.mark.parametrize("test", [*DIRECT[:3], *[pytest.param(test, marks=pytest.mark.full) for test in DIRECT[3:]]])
def test_the_memory_of_a_call(guest, test):
    passes(guest, test)


@pytest.fixture
def timeout_ms(guest):
    """Function that sets this parameter of the module, until the end of the test."""
    before = guest.run(f"cat {TIMEOUT_MS}").strip()
    yield lambda value: guest.run(f"echo {value} > {TIMEOUT_MS}")
    guest.run(f"echo {before} > {TIMEOUT_MS}")


def test_the_memory_of_a_call_comes_back(guest, timeout_ms):
    timeout_ms(500)
    passes(guest, "direct_ends")


@pytest.mark.full
@pytest.mark.parametrize("options", [{"iommu": True}, {"parameters": ("swiotlb=8192,force",)}], ids=str)
def test_the_memory_of_a_call_is_mapped(boot, full_board, options):
    """The simulator refuses and counts accesses to memory that has gone back to the IOMMU. With swiotlb, the kernel
    copies all data through a buffer of its own.
    """
    with boot("direct-mapped", board=full_board, **options) as guest:
        guest.run(f"echo 500 > {TIMEOUT_MS}")
        for test in (*DIRECT, "direct_ends"):
            passes(guest, test)


@pytest.mark.parametrize("test", ["rings", "hostile"])
def test_the_shared_ring(guest, test):
    passes(guest, test)


def test_the_examples(guest):
    assert "100 packets sent and received: equal, " in guest.run("stream_packets")
    said = guest.run("stream_ring /dev/litepcie0_stream1 2000000")
    # A poll and an advance for all buffers that have come, each of 64 KiB or a packet.
    assert 2000000 <= int(said.split()[0]) < 8000000 and " packets, 0 cut, sum " in said


@pytest.mark.full
def test_example_record_ring(boot, full_board):
    """A disk takes the ring's buffers without a copy; the end of the file, of less than a block, is copied."""
    disk = named_kernel(KERNEL).driver("brd")
    with boot("record-ring", board=full_board, files=[(disk, "/lib/modules/brd.ko")]) as guest:
        guest.run("insmod /lib/modules/brd.ko rd_nr=1 rd_size=8192; head -c 2100001 /dev/urandom > /tmp/sent")
        said = guest.run("record_ring /dev/litepcie0_stream0 /dev/ram0 2100001 & "
            "record_play play /dev/litepcie0_stream0 /tmp/sent && wait $!")
        assert "2100001 bytes recorded, 2097152 of them without a copy" in said
        guest.run("head -c 2100001 /dev/ram0 | cmp - /tmp/sent")


def test_stream_of_the_tool(guest):
    """Packets and a file through the card and back; the pattern of the card; a direction in use."""
    assert "loopback: " in guest.run("litepcie_util stream loopback -n 40")
    assert " in 60 packets" in guest.run("litepcie_util stream test -s 1 -n 60")
    guest.run("head -c 200001 /dev/urandom > /tmp/sent")
    guest.run("litepcie_util stream record -f /tmp/recorded -l 200001 & "
        "litepcie_util stream play -f /tmp/sent --packet-bytes 5000 && wait $! && cmp /tmp/sent /tmp/recorded")
    assert "another program uses this direction" in guest.run("sleep 3 < /dev/litepcie0_stream0 & sleep 1; "
        "litepcie_util stream record -f /tmp/x 2>&1; status=$?; wait; exit $status", status=1)


@pytest.mark.full
def test_a_register_switches_between_loop_and_pattern(guest, full_board):
    """As on a real board: the same two streams with their ends exchanged, and back."""
    csr = json.loads((full_board / "software" / "include" / "generated" / "csr.json").read_text())["csr_registers"]
    for loops in ((0, 1), (1, 0)):
        for stream, loop in enumerate(loops):
            guest.run(f"printf '\\x{loop:02x}\\0\\0\\0' | dd of=/dev/litepcie0_user bs=4 "
                f"seek={csr[f'stream{stream}_loop']['addr'] // 4} conv=notrunc 2>/dev/null")
            action = "loopback" if loop else "test"
            assert f"{action}: " in guest.run(f"litepcie_util stream {action} --stream {stream} --packets 20")


@pytest.mark.parametrize("test", ["closing", "killed", "forwarded", "signals"])
def test_what_is_lost_is_counted(guest, test):
    passes(guest, test)


def begin(guest, *test):
    """Starts a test in the background, and returns when it has said that it waits, and sleeps."""
    guest.run(f"rm -f /tmp/said; (stream {' '.join(test)}; echo status $?) > /tmp/said 2>&1 &")
    guest.wait("grep -q waits /tmp/said && grep -q '^State:.S' /proc/$(pidof stream)/status", "cat /tmp/said")


def end(guest):
    """Its output, when it has ended."""
    guest.wait("grep -q status /tmp/said", "cat /tmp/said")
    return guest.run("cat /tmp/said")


@pytest.mark.parametrize("how", ["read", "poll", "direct"])
def test_a_reset_of_the_function_ends_a_call(guest, how):
    begin(guest, "waits", how)
    guest.run(f"echo 1 > /sys/bus/pci/devices/{BDF}/reset")
    said = end(guest)
    assert "ended: No data available" in said and "after" in said and "status 0" in said, said


@pytest.mark.parametrize("how", ["read", "poll", "direct"])
def test_unbinding_ends_a_call(guest, how):
    begin(guest, "waits", how)
    guest.run(f"echo {BDF} > {DRIVER}/unbind", timeout=60)
    said = end(guest)
    guest.run(f"echo {BDF} > {DRIVER}/bind", timeout=60)
    assert "ended: No such device" in said and "status 0" in said, said
    assert how != "poll" or "events: error hang-up" in said
    passes(guest, "packets")


def test_unbinding_takes_the_mapping(guest):
    begin(guest, "mapped")
    guest.run(f"echo {BDF} > {DRIVER}/unbind", timeout=60)
    said = end(guest)
    guest.run(f"echo {BDF} > {DRIVER}/bind", timeout=60)
    assert "status 0" in said, said


def test_an_open_stream_keeps_its_card(guest):
    """Nothing of an unbound card is freed while a stream is open: the card that is bound next has another number."""
    unbind, bind = (f"echo {BDF} > {DRIVER}/{what}" for what in ("unbind", "bind"))
    guest.run(f"(exec 5<>/dev/litepcie0_stream0; {unbind}; {bind}; test -c /dev/litepcie1; said=$?; "
        f"echo x >&5 && exit 9; {unbind}; exit $said)", timeout=60)
    guest.run(f"{bind} && test -c /dev/litepcie0 && ! test -e /dev/litepcie1", timeout=60)


@pytest.mark.parametrize("fault, how", [("ur", ()), *[pytest.param(*case, marks=pytest.mark.full)
    for case in (("poison", ()), ("ur", ("direct",)))]])
def test_a_bad_completion_is_an_errno(guest, shared_guest, fault, how):
    shared_guest.inject(f"{fault}@300")
    assert "error: Input/output error" in passes(guest, "until_error", *how)


@pytest.fixture
def checked(guest, full_board):
    """Function that returns what the card's checker has counted: (beats, errors)."""
    header = (full_board / "software" / "include" / "generated" / "csr.h").read_text()
    places = [int(re.search(rf"define CSR_STREAM1_{name}_ADDR \(CSR_BASE \+ (0x\w+)L\)", header)[1], 16)
        for name in ("BEATS", "ERRORS")]
    def read():
        guest.run(f"echo {BDF} > {DRIVER}/unbind", timeout=60)
        guest.run(f"echo 1 > /sys/bus/pci/devices/{BDF}/enable")
        # The registers are on the bus of the SoC, which begins at USER_OFFSET in BAR0.
        bus    = int(guest.run(f"poke {USER_OFFSET:#x}"), 0)
        counts = [int(guest.run(f"poke {bus + place:#x}"), 0) for place in places]
        guest.run(f"echo 0 > /sys/bus/pci/devices/{BDF}/enable; echo {BDF} > {DRIVER}/bind", timeout=60)
        return counts
    return read


SIZES = pytest.mark.parametrize("how, size", [("read", 4), ("map", 4), *[pytest.param(how, size, marks=
    pytest.mark.full) for how, size in (("read", 32), ("map", 32), ("direct", 4))]])


@SIZES
def test_the_pattern_of_the_card_has_no_gap(guest, how, size):
    print(passes(guest, "source", how, str(size), BITS, timeout=2000))


@pytest.mark.full
def test_a_ring_of_64_mib_has_no_gap(guest):
    """The card fills 1024 buffers while the program is late; root may allow less than the ring of a new file."""
    limit = "/sys/module/litepcie/parameters/stream_bytes"
    passes(guest, "source", "map", "37", BITS, "1024", timeout=600)
    assert "not permitted" in guest.run(f"echo 4194303 > {limit}; "
        "dd if=/dev/litepcie0_stream1 of=/dev/null bs=1 count=1 2>&1; said=$?; "
        f"echo 268435456 > {limit}; exit $said", status=1)
    said = guest.run(f"echo 1048576 > {limit}; r='litepcie_util stream record --stream 1 -l 1M -f /tmp/recorded';"
        f" $r 2>&1; $r --ring 1M; said=$?; echo 268435456 > {limit}; rm -f /tmp/recorded; exit $said")
    assert f"its ring is larger than root allows in {limit}" in said


def memory_space(command):
    """Writes the low byte of the register Command: 4 lets BAR0 read as ones, 2 lets it answer."""
    return f"printf '\\x{command:02x}' | dd of={CARD}/config bs=1 seek=4 conv=notrunc 2>/dev/null"


# What happens to the card, what ends that, and how many calls fail afterwards: -1 if none fails at all. A stream whose
# card was cut off says so once more.
CUTS = {
    "close":   (0, "", ""),
    "overrun": (-1, "true", "true"),
    "engine":  (-1, "states reset", "true"),
    "reset":   (0, f"echo 1 > {CARD}/reset", "true"),
    "cut off": (1, f"{memory_space(4)}; until grep -q 'cut off' {STATE}; do sleep 0.05; done",
                f"{memory_space(2)}; echo 1 > {CARD}/reset; grep -q present {STATE}"),
}


@pytest.mark.parametrize("cut, how", [("reset", "read"), ("cut off", "map"), *[pytest.param(cut, how, marks=
    pytest.mark.full) for cut in CUTS for how in ("read", "map", "direct") if (cut, how) not in (("reset", "read"),
    ("cut off", "map"))]])
def test_no_packet_that_was_cut_looks_whole(guest, timeout_ms, cut, how):
    """The source is cut in the middle of a packet. An error, or the end of the file, stands between its two parts."""
    timeout_ms(500)
    errors, command, back = CUTS[cut]
    passes(guest, "cuts", how, BITS, str(errors), shlex.quote(command), shlex.quote(back))


@SIZES
def test_the_card_finds_no_gap_in_the_pattern(guest, checked, how, size):
    beats, errors = checked()
    assert errors == 0
    said = passes(guest, "check", how.replace("read", "write"), str(size), BITS, timeout=2000)
    print(said)
    sent = int(re.search(r"beats (\d+)", said)[1])
    assert checked() == [(beats + sent) % 2**32, 0]


@pytest.mark.full
def test_the_source_goes_on_after_what_is_counted_as_lost(boot, full_board):
    """Each close() drops what the card's RAM and unread buffers hold: to the byte what the driver counts.

    In a guest of its own: the program must know where the source is in a packet.
    """
    with boot("dropped", board=full_board) as guest:
        said = passes(guest, "dropped", "40", BITS)
    assert int(re.search(r"dropped (\d+)", said)[1]) > 40*1000


def test_the_checker_got_what_is_not_counted_as_lost(guest, checked):
    """A signal ends a close() that waits: what the card's logic got is what was written, less what counts as lost."""
    beats, errors = checked()
    said = passes(guest, "interrupted", BITS)
    written, lost = map(int, re.search(r"written (\d+) lost (\d+)", said).groups())
    got, wrong = checked()
    assert errors == wrong == 0 and lost > 0
    assert sum(bytes_of(beat, int(BITS)) for beat in range((got - beats) % 2**32)) == written - lost


# Those that do not wait for the card end in far less time than this timeout_ms.
LONG_MS = 60000


def closing(guest, how, seconds=50):
    assert "checks passed" in guest.run(f"closing {how}", timeout=seconds)


@pytest.mark.parametrize("how", ["duplicate", "exec", "exit", "nonblock"])
def test_a_close_that_does_not_wait(guest, timeout_ms, how):
    timeout_ms(LONG_MS)
    closing(guest, how)


@pytest.mark.parametrize("how, limit", [("drains", LONG_MS), ("last", 500)])
def test_the_last_close_waits_until_the_card_has_all_or_takes_nothing(guest, timeout_ms, how, limit):
    timeout_ms(limit)
    closing(guest, how)


@pytest.mark.full
@pytest.mark.skipif(SOFT, reason="a link of Gen1 x1, simulated symbol by symbol, is slower than the reader")
def test_the_last_close_waits_half_a_minute_at_most(guest, timeout_ms):
    """The card takes a buffer each half second."""
    timeout_ms(LONG_MS)
    closing(guest, "slow", 200)


def test_a_close_cancels_no_asynchronous_call(guest):
    closing(guest, "async")
