# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""What a SerDes may do wrong, and what `litepcie_util link` shows of it: the table in `docs/bring-up-ecp5.md`.

`python3 -m test.gateware.endpoint.serdes.ecp5.misbehaviours --write` updates it. Each row is a case of
`test/software/user/test_misbehaviours.py`: from the option of ``dcua.v`` to the line of the tool.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

from litepcie_soc.build import generated
from litepcie_soc.endpoint.lane_view.layout import COUNTERS

PAGE = Path(__file__).resolve().parents[5] / "docs" / "bring-up-ecp5.md"


@dataclass(frozen=True)
class Case:
    """what    : for the reader. None: not in the table.
    flags, values, options : of the run, and of the channel.
    up      : the link comes up, with flow control, and the tool has no advice.
    shows   : a key of ``litepcie_util link --json``, with its value; or a counter, which is not 0.
    advice  : of the tool, a part of it.
    """
    what:    str
    flags:   tuple = ()
    values:  dict  = field(default_factory=dict)
    options: dict  = field(default_factory=dict)
    shows:   dict  = field(default_factory=dict)
    advice:  str   = None

    @property
    def up(self):
        return self.advice is None

    @property
    def name(self):
        return " ".join([*self.flags, *map("{0[0]}={0[1]}".format, (self.values | self.options).items())]) or "none"


CASES = (
    Case(None, shows={"signal": True, "receiver_locked": True, "detections_without_answer": 0}),
    Case("loss of signal is always told, with good data", ("NO_SIGNAL",), shows={"signal": False}),
    Case("loss of signal is never told", ("SIGNAL",)),
    Case("loss of signal is told for half of the time", values={"CHATTER_NS": 2000}),
    Case("receiver detection says that there is none", values={"PRESENT": 0}, shows={"receiver_detected": False}),
    Case("receiver detection does not answer", ("NO_DONE",), shows={"detections_without_answer": 1}),
    *[Case(f"status {n} with every symbol", values={"STATUS": n}, shows={f"status_{n}": None}) for n in range(1, 8)],
    Case("the recovered clock stands still while its lock is told", ("DEAD_RX",), shows={"receiver_locked": True},
        advice="the receiver's clock stands still"),
    Case("the recovered clock wanders while its lock is told", ("WANDERING",), shows={"receiver_locked": True},
        advice="The receiver's clock is off by more than 1000 ppm"),
    Case("the reference clock reaches the block only", ("NO_ROUTE",), shows={"reference_clock_hz": 100_000_000}),
    *[Case(f"the host's clock is off by {ppm} ppm: beyond the limit of the lock", values={"PPM": ppm},
        shows={"receiver_locked": False}, advice="the receiver does not lock to it") for ppm in (1500, -1500)],
    Case("the transmitter sends nothing for 430 ns after electrical idle", values={"UNMUTE_NS": 430}),
    Case("the transmit clock stands still", ("DEAD_TX",), shows={"pll_locked": False},
        advice="The transmit PLL does not lock"),
)


def shown(key, value):
    if key in COUNTERS:
        return f"`{key}` grows"
    return f"`{key}`: {str(value).lower()}"


def table():
    rows = [(case.what, "the link comes up" if case.up else f"\"{case.advice}\"",
        "; ".join(shown(*item) for item in case.shows.items()) or "-") for case in CASES if case.what]
    return generated.table(("what the SerDes does", "what comes of it, or what the tool says", "`link --json`"), rows)


def main(argv=None):
    return generated.main(argv, "test.gateware.endpoint.serdes.ecp5.misbehaviours",
        "The table of docs/bring-up-ecp5.md.", {PAGE: lambda text: generated.renewed(text, {"misbehaviours": table()})})


if __name__ == "__main__":
    sys.exit(main())
