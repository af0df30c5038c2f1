#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Rules of PCI Express for an endpoint, and the tests of each: `docs/contracts/rules.md`.

`python -m tools.rules --write` renews the page, `--check` fails if it differs. A test says which rules it holds in a
comment above itself, or above the `Harness` of a proof: `# Rules: TXN.2.7#1, 2.6.1.2`. In C++ it begins with `//`.
"""

import re
import sys

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from litepcie_soc.build import generated

from tools import tracked

PAGE = tracked.ROOT / "docs" / "contracts" / "rules.md"

# Rules --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """name : assertion of PCI-SIG's checklist, or section of PCIe 2.1. never : why no test is needed."""
    name:  str
    words: str
    never: str = ""


NO_IO     = "the card sends memory requests only"
NO_DIGEST = "the card offers no ECRC"

# The checklist itself is not public. Its assertions are those that models of others print, such as pcievhost's.
RULES = {
    "Transaction layer": (
        Rule("TXN.2.0#2", "reserved bits of a TLP are 0"),
        Rule("TXN.2.1#2", "no reserved format or type is sent"),
        Rule("TXN.2.1#4", "the address of a request has whole dwords"),
        Rule("TXN.2.1#5", "without data, the length of a completion or message is 0"),
        Rule("TXN.2.2#5", "the length is that of the payload"),
        Rule("TXN.2.2#6", "no request crosses 4 KiB"),
        Rule("TXN.2.3#1", "the digest bit agrees with the length"),
        Rule("TXN.2.4#1", "an address below 4 GiB has the short header"),
        Rule("TXN.2.4#2", "requests for I/O have the short header", NO_IO),
        Rule("TXN.2.6#1", "first byte enables of several dwords are not 0"),
        Rule("TXN.2.6#2", "last byte enables of one dword are 0"),
        Rule("TXN.2.6#3", "last byte enables of several dwords are not 0"),
        Rule("TXN.2.6#9", "a read of no byte is answered with one dword"),
        Rule("TXN.2.7#1", "a tag in use is not used again"),
        Rule("TXN.2.7#2", "tags are below 32 unless the host allows more"),
        Rule("TXN.2.8#1", "relaxed ordering is not set where it must not be"),
        Rule("TXN.2.9#1", "no snoop is not set where it must not be"),
        Rule("TXN.2.11#4", "fields of a request for I/O", NO_IO),
        Rule("TXN.2.11#7", "fields of a request for configuration", NO_IO),
        Rule("TXN.2.12#2", "no reserved type of message is sent"),
        Rule("TXN.2.12#7", "no reserved routing of a message is sent"),
        Rule("TXN.2.21#3", "a completion goes to its requester"),
        Rule("TXN.2.21#7", "no reserved status of a completion is sent"),
        Rule("TXN.2.21#8", "BCM is 0"),
        Rule("TXN.2.21#13", "the lower address is 0 unless memory was read"),
        Rule("TXN.2.21#19", "a completion has requester, attributes and traffic class of its request"),
        Rule("TXN.2.21#22", "the byte count is 4 unless memory was read"),
        Rule("TXN.3.2#3", "a request for configuration has one completion"),
        Rule("TXN.3.3#1", "a completion that nobody asked for is dropped"),
        Rule("TXN.3.3#2", "a completion that nobody asked for is reported"),
        Rule("TXN.7.1#6", "the ECRC is right", NO_DIGEST),
        Rule("2.2.7", "requests keep MPS, MRRS and Bus Master Enable"),
        Rule("2.3.1", "requests that are not supported get their completion, once"),
        Rule("2.4.1", "writes pass reads, and nothing passes a write"),
        Rule("2.6.1", "no TLP is sent without credits"),
        Rule("2.6.1.2", "credits are given back at least each 30 us, of each type"),
        Rule("2.7.2.2", "poisoned data are not used"),
        Rule("2.8", "requests without completion end, with an error"),
    ),
    "Data link layer": (
        Rule("DLL.4.1#5-33", "no reserved type of DLLP is sent, and those that come are ignored"),
        Rule("DLL.4.1#34", "the CRC of a DLLP is right, and checked"),
        Rule("DLL.5.2#20", "the LCRC is right, and checked"),
        Rule("3.2.1", "nothing of a link survives its end"),
        Rule("3.3.1", "flow control begins with both initializations, whatever is lost"),
        Rule("3.5.2.1, order", "TLPs leave in order with their numbers, and again until they are acknowledged"),
        Rule("3.5.2.1, timer", "the timer replays within its limits, and stands still in Recovery"),
        Rule("3.5.2.1, retrain", "the fourth replay without progress retrains"),
        Rule("3.5.2.2", "numbers out of the window have no effect"),
        Rule("3.5.3.1, accept", "a good TLP is delivered once"),
        Rule("3.5.3.1, NAK", "there is one NAK until the next good TLP"),
        Rule("3.5.3.1, ACK", "an ACK comes within its limit"),
        Rule("3.5.2.1, DLLP", "NAK, ACK and flow control never wait for long"),
    ),
    "Physical layer": (
        Rule("PHY.2.1#1", "symbols exist and have their running disparity"),
        Rule("4.2.2", "packets have their framing, and broken ones are dropped"),
        Rule("4.2.3", "scrambling"),
        Rule("4.2.4.1", "training sets in a row"),
        Rule("4.2.4.3", "electrical idle is inferred"),
        Rule("4.2.4.4", "an inverted lane"),
        Rule("4.2.6.1", "Detect"),
        Rule("4.2.6.2", "Polling, with Compliance"),
        Rule("4.2.6.3", "Configuration"),
        Rule("4.2.6.4", "Recovery"),
        Rule("4.2.6.6", "L0s is not advertised; a port that uses it anyhow loses no TLP"),
        Rule("4.2.6.7", "L1 and L2"),
        Rule("4.2.6.9", "Disabled"),
        Rule("4.2.6.10", "Loopback"),
        Rule("4.2.6.11", "Hot Reset"),
        Rule("4.2.7, receiver", "SKP sets of 1 to 5 SKP, with clocks 600 ppm apart"),
        Rule("4.2.7, transmitter", "SKP sets are in time, and never inside a packet"),
        Rule("4.3", "levels, jitter and eye of the lane", "needs a board and instruments"),
    ),
    "Configuration, errors, power and interrupts": (
        Rule("5.3.2.1", "D3hot takes the link to L1"),
        Rule("5.3.3", "PME_Turn_Off is answered after what was sent before"),
        Rule("6.1.4", "MSI and MSI-X, with their masks"),
        Rule("6.2", "errors are in Status, Device Status and AER, with the header, and give their message"),
        Rule("6.6.2", "a reset of the function"),
        Rule("7.3.2", "the function has the number by which it was written last"),
        Rule("7.5", "registers of the header, with their attributes"),
        Rule("7.8", "capability PCI Express"),
        Rule("7.10", "capability AER"),
    ),
}

# Marks --------------------------------------------------------------------------------------------

MARK = re.compile(r"^\s*(?:#|//) Rules: (.*)$")
TEST = re.compile(r"\s*(?:def (test_\w+)|class (\w+)\(Harness\)|TEST(?:_F|_P)?\((\w+), (\w+)\))")


def texts_of_tests():
    return {path: (tracked.ROOT / path).read_text(encoding="utf-8") for path in tracked.files()
        if path.startswith("test/") and path.endswith((".py", ".cpp"))}


def marks(texts):
    """{rule: [(file, test)]}. Raises ``ValueError`` if a mark names no rule, or has no test."""
    known  = {rule.name for rules in RULES.values() for rule in rules}
    result = defaultdict(list)
    for name, text in texts.items():
        lines = text.splitlines()
        for number, line in enumerate(lines):
            mark = MARK.match(line)
            if not mark:
                continue
            test = next(filter(None, map(TEST.match, lines[number + 1:number + 20])), None)
            if not test:
                raise ValueError(f"{name}:{number + 1} is a mark without a test; put it above one")
            for rule in mark[1].split("; "):
                if rule not in known:
                    raise ValueError(f"{name}:{number + 1} names {rule}, which tools/rules.py does not have")
                result[rule].append((name, ".".join(filter(None, test.groups()))))
    return result

# Page ---------------------------------------------------------------------------------------------

HEAD = """\
# Rules of PCI Express, and the tests of each
<!-- SPDX-License-Identifier: BSD-2-Clause -->
<!-- Copyright (c) 2026 LitePCIe SoC developers -->

For whoever asks how a rule is held. `tools/rules.py` makes this page from marks in the tests. Names with a number sign
are assertions of PCI-SIG's checklist for endpoints, as far as models of others print them: the checklist is not public.
All other rules have their section in PCIe 2.1. `test/sim/src/referee/test_tlp_checker.cpp` is of the checker that sees
each TLP of the card in every run of the simulator.
"""


def page(texts):
    found = marks(texts)
    parts = [HEAD]
    count = sum(map(len, RULES.values()))
    naked = [rule for rules in RULES.values() for rule in rules if not rule.never and rule.name not in found]
    never = sum(bool(rule.never) for rules in RULES.values() for rule in rules)
    parts.append(f"{count - never - len(naked)} of {count} rules have a test, {never} cannot be broken here, and "
        f"{len(naked)} {'has' if len(naked) == 1 else 'have'} none" + (
        ":\n\n" + "\n".join(f"- {rule.name}: {rule.words}" for rule in naked) if naked else ".") + "\n")
    for title, rules in RULES.items():
        rows = [(rule.name, rule.words, rule.never or "<br>".join(f"`{Path(name).name}` {test}"
            for name, test in found.get(rule.name, ())) or "**none**") for rule in rules]
        parts.append(f"## {title}\n{generated.table(('rule', 'what', 'tests'), rows)}\n")
    return "\n".join(parts)


def main(argv=None):
    return generated.main(argv, "tools.rules", "docs/contracts/rules.md, from marks in the tests.",
        {PAGE: lambda text: page(texts_of_tests())})


if __name__ == "__main__":
    sys.exit(main())
