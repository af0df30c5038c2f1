# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""MSI, messages of errors and PME_TO_Ack, byte by byte, and what the host's switches do to them."""

import pytest

from litepcie_soc.endpoint.transaction.own_requests import OwnRequests
from test.gateware.endpoint.packets                 import joined
from test.gateware.simulation                       import Watch, accept, forever, simulate
from test.gateware.steps                            import pulse, wait

LOW = bytes.fromhex("40000001 0508000f fee01234 b2a10000")
HIGH = bytes.fromhex("60000001 0508000f 00000012 fee01234 b2a10000")
ACK = bytes.fromhex("35000000 0508001b 00000000 00000000")
COR, NONFATAL, FATAL = (bytes.fromhex(f"30000000 050800{code} 00000000 00000000") for code in ("30", "31", "33"))


def play(dut, steps):
    """A step is a number of cycles, a pulse (name, value), values {name: value} that stay, or an assertion."""
    for step in steps:
        if isinstance(step, int):
            yield from wait(step)
        elif isinstance(step, tuple):
            yield from pulse(getattr(dut, step[0]), step[1])
            yield
        elif isinstance(step, dict):
            yield [getattr(dut, name).eq(value) for name, value in step.items()]
            yield
        else:
            assert not (yield getattr(dut, step) if step == "busy" else dut.source.valid)
            yield


def run(steps, **values):
    """TLPs that leave while the steps and 60 more cycles pass."""
    dut   = OwnRequests()
    watch = Watch(dut.source)
    usual = dict(id=0x0508, address=0xfee01234, data=0xa1b2, enable=1, master=1, awake=1)
    simulate(dut, [play(dut, [usual | values, *steps, 60]), forever(watch.watch()), forever(accept(dut.source))])
    return [joined(beats) for beats in watch.packets()]


MSI, PME, EACH, QUIET = ("msi", 1), ("pme", 1), ("errors", 0b111), ["valid"]*50

CASES = {
    "MSIs":                             ([MSI, 30, MSI], {}, [LOW, LOW]),
    "MSIs above 4 GiB":                 ([MSI, 30, MSI], dict(address=0x12_fee01234), [HIGH, HIGH]),
    "an MSI while one leaves":          ([MSI, 5, MSI, PME], {}, [LOW, ACK, LOW]),
    "bus mastering comes later":        ([MSI, MSI, *QUIET, {"master": 1}], dict(master=0), [LOW]),
    "MSI is disabled":                  ([MSI, 5, {"enable": 1}], dict(enable=0), []),
    "PME needs no bus mastering":       ([PME], dict(master=0, enable=0), [ACK]),
    "the worst error first, and once":  ([MSI, EACH, EACH, EACH], {}, [LOW, FATAL, NONFATAL, COR]),
    "an error while its message leaves": ([("errors", 1), 3, ("errors", 1)], {}, [COR, COR]),
    # What no TLP caused.
    "late errors wait for D0":          ([("late", 0b101), ("errors", 0b010), 60, "busy", {"awake": 1}], dict(awake=0),
        [NONFATAL, FATAL, COR]),
    # What waits is forgotten, and what comes.
    "silent":                           ([("late", 0b111), {"silent": 1}, EACH, PME, {"silent": 0, "awake": 1}],
        dict(awake=0), [ACK]),
    # Without bus mastering; one for each error.
    **{f"{name}, {port}": ([(port, 1 << kind), 30]*2, dict(master=0, enable=0), [tlp]*2)
        for kind, (name, tlp) in enumerate({"correctable": COR, "non-fatal": NONFATAL, "fatal": FATAL}.items())
        for port in ("errors", "late")},
}


# Rules: TXN.2.12#2; TXN.2.12#7; 6.1.4; 6.2
@pytest.mark.parametrize("case", CASES)
def test_what_is_sent(case):
    steps, values, expected = CASES[case]
    assert run(steps, **values) == expected


# Rules: 5.3.3
def test_pme_to_ack_waits_for_the_requests_before_it_and_an_msi_is_named():
    dut   = OwnRequests()
    watch = Watch(dut.source)
    def script():
        yield from play(dut, [dict(id=0x0508, address=0xfee01234, data=0xa1b2, enable=1, master=1, wait=1), PME])
        for _ in range(50):
            assert not (yield dut.source.valid) and (yield dut.busy) and not (yield dut.inside)
            yield
        yield from play(dut, [MSI])
        while not (yield dut.inside):
            yield
        while (yield dut.inside):
            assert (yield dut.source.valid)
            yield
        yield from play(dut, [{"wait": 0}, 60])
    simulate(dut, [script(), forever(watch.watch()), forever(accept(dut.source))])
    assert [joined(beats) for beats in watch.packets()] == [LOW, ACK]
