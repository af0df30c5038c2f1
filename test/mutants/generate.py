#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Makes generated.diff: mutants that nobody chose, by a seed, over all sources of gateware, driver and tool.

    python -m test.mutants.generate > test/mutants/generated.diff

A mutant changes a number, an operator or a condition.
"""

import random
import re

from tools import tracked

SEED  = 31
# Sources, and the number of mutants in them.
AREAS = [(r"gateware/(?!build/).*\.py$", 12), (r"software/kernel/[^/]*(?<!_test)\.c$", 9), (r"software/user/.*\.c$", 9)]
SWAPS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+", "&": "|", "|": "&",
    "&&": "||", "||": "&&", "and": "or", "or": "and", "if (": "if (1 || ", "If(": "If(~"}
# Strings and comments of both languages, directives of the preprocessor; then what can change, by its kind.
SKIP  = r'"""(?s:.*?)"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//.*|/\*(?s:.*?)\*/|#(?:.*\\\n)*.*'
KINDS = {"number": r"\b\d+\b", "condition": r"\b(?:if \(|If\()", "operator": r"(?<= )(?:[=!<>]=|&&|\|\||[<>+&|-]|"
    r"and|or)(?= )"}
TOKEN = re.compile(SKIP + "".join(f"|(?P<{kind}>{pattern})" for kind, pattern in KINDS.items()))


def block(path, text, found):
    """The lines of generated.diff for the change of a token."""
    token = found[0]
    lines = text.splitlines()
    row   = text.count("\n", 0, found.start())
    at    = found.start() - text.rfind("\n", 0, found.start()) - 1
    new   = SWAPS.get(token) or str(int(token) + 1)
    first = row
    while text.count("\n".join(lines[first:row + 1])) > 1:
        first -= 1
    return ["", f"== {path} {row + 1} {token.strip(' (')}: a changed {found.lastgroup}", f"--- {path}",
        *[f" {line}" for line in lines[first:row]], f"-{lines[row]}",
        f"+{lines[row][:at]}{new}{lines[row][at + len(token):]}"]


def main():
    chance = random.Random(SEED)
    print("# SPDX-License-Identifier: BSD-2-Clause\n# Copyright (c) 2026 LitePCIe SoC developers")
    for area, count in AREAS:
        sources = [(path, (tracked.ROOT / path).read_text(encoding="utf-8")) for path in tracked.files()
            if re.match(area, path)]
        sites   = [(path, text, found) for path, text in sources for found in TOKEN.finditer(text) if found.lastgroup]
        # As many of each kind: there are far more numbers than operators, and more operators than conditions.
        chosen  = [site for kind in KINDS for site in chance.sample([one for one in sites if one[2].lastgroup == kind],
            count//len(KINDS))]
        for path, text, found in sorted(chosen, key=lambda site: (site[0], site[2].start())):
            print(*block(path, text, found), sep="\n")


if __name__ == "__main__":
    main()
