#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Finds messages of driver, tool, litepcie_rescan and targets that docs/messages.md does not have.

It also finds targets that this page and those of bring-up name and that do not exist. Exit status 1, and one line for
each. Standard library only.
"""

import ast
import re
import sys

from pathlib import Path

ROOT   = Path(__file__).resolve().parents[1]
KERNEL = ROOT / "software" / "kernel"
USER   = ROOT / "software" / "user"
GUIDE  = ROOT / "docs" / "messages.md"

# Messages of C ------------------------------------------------------------------------------------

LITERAL    = r'"((?:[^"\\]|\\.)*)"'
CONVERSION = r"(?:0x)?%[-#0-9.*]*(?:ll|l|z)?[a-zA-Z]"


def joined(text):
    """C without comments, with each string in one piece; PRIu64 and the like are `u`."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    text = re.sub(r'"\s*PRI[a-zA-Z]\d+\s*"', "u", text)
    text = re.sub(r'"\s*PRI[a-zA-Z]\d+', 'u"', text)
    return re.sub(r'"\s*"', "", text)


def calls(text, names):
    """Arguments of each call of a function whose name matches ``names``."""
    for found in re.finditer(rf"\b(?:{names})\(", text):
        depth, at = 1, found.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0) if text[at] != '"' else 0
            at    += len(re.match(LITERAL, text[at:])[0]) if text[at] == '"' else 1
        yield text[found.end():at - 1]


def strings(text):
    return re.findall(LITERAL, text)


def driver():
    for path in sorted(KERNEL.glob("*.c")):
        text = joined(path.read_text(encoding="utf-8"))
        for call in calls(text, r"dev_(?:err|warn|info|notice)(?:_probe|_ratelimited)?"):
            yield from strings(call)
    text = joined((KERNEL / "ring.c").read_text(encoding="utf-8"))
    yield from re.findall(rf"\{{ -E\w+, {LITERAL} \}}", text)
    yield "unknown reason"


def tool():
    for path in sorted((USER / "util").glob("*.c")):
        text = joined(path.read_text(encoding="utf-8"))
        for call in calls(text, "(?:stream_)?fail"):
            if not call.startswith("EXIT_USAGE"):
                yield from strings(call)
        yield from (string for call in calls(text, "snprintf") if call.startswith("test->error")
            for string in strings(call))
        yield from (string for call in calls(text, "printf") for string in strings(call)
            if re.match(" *(note: the|less than)", string))
    yield from re.findall(rf"return {LITERAL};", joined((USER / "util" / "card.c").read_text(encoding="utf-8")))
    yield from re.findall(rf"\{{ E\w+, {LITERAL} \}}", joined((USER / "lib" / "card.c").read_text(encoding="utf-8")))

# Messages of the other programs -------------------------------------------------------------------


def rescan():
    """`say` and `fail`; what `wrong` says is about an option."""
    text = (USER / "litepcie_rescan").read_text(encoding="utf-8")
    for string in re.findall(rf"\b(?:say|fail) {LITERAL}", text):
        if "--help" not in string:
            yield re.sub(r"\$\{?[\w#*]+\}?", "%s", string)


def formatted(node):
    """An expression of a message as a format."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(formatted(part) if isinstance(part, ast.Constant) else "%s" for part in node.values)
    return "%s"


def targets():
    """Yields the messages with which a target ends with status 1, and its notes on standard error."""
    gateware = ROOT / "gateware"
    files    = [path for folder in ("board", "build") for path in sorted((gateware / folder).glob("*.py"))
        if path.name != "generated.py"]  # Its messages are for developers; no target prints them.
    others   = [gateware / "common" / "link_rates.py", ROOT / "targets" / "environment.py"]
    for path in [*files, *others]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                to_stderr = node.func.id == "print" and any(word.arg == "file" for word in node.keywords)
                if node.func.id == "ToolError" or to_stderr:
                    yield formatted(node.args[0])

# Comparison ---------------------------------------------------------------------------------------


def pattern(message):
    """Returns the regular expression that a format must match in the guide: any text stands for a conversion."""
    message = message.replace(r"\n", "").replace(r"\"", '"').strip()
    message = re.sub(rf"^(?:{CONVERSION}[:,]? )+", "", message)
    pieces  = re.split(CONVERSION, message.replace("%%", "%"))
    return ".*?".join(re.escape(piece) for piece in pieces)


def worth_words(message):
    """Returns whether a message has words of its own. Some formats only join other messages."""
    return len(re.sub(rf"{CONVERSION}|[^a-zA-Z]", "", message.replace(r"\n", ""))) >= 8


# Sources, and the fewest messages that each has: fewer mean that this program no longer finds them.
SOURCES = {driver: 30, tool: 25, rescan: 12, targets: 5}

# What a message that says itself what to do has: an order at its begin, or after a colon, a semicolon or a comma.
ADVICE = re.compile(r"(?:^|[:;,] )(?:add|check|choose|give|install|read|run|unbind|use|wait)\b")


def missing(message, guide):
    """Returns whether the guide has no row for a message that needs one. A row may end with `: ...` or `; ...`."""
    if not worth_words(message) or ADVICE.search(message):
        return False
    heads = [message[:found.start()] for found in re.finditer(r"[:;] ", message)]
    return not re.search(pattern(message), guide) and not any(
        re.search(rf"{pattern(head)}[:;] \.\.\.", guide) for head in heads if worth_words(head))


def complaints(guide):
    """Yields one line for each message that the guide does not have, and for each wrong name in it."""
    guide = guide.replace(r"\|", "|")
    for source, least in SOURCES.items():
        messages = [message for message in source() if worth_words(message)]
        if len(messages) < least:
            yield f"{source.__name__}: only {len(messages)} messages were found, at least {least} are expected"
        yield from (f"{source.__name__}: no row for: {message}" for message in messages if missing(message, guide))
    yield from absent_targets(guide)


def absent_targets(text):
    return [f"targets/{name} is named, and does not exist" for name in re.findall(r"\./targets/(\w+\.py)", text)
        if not (ROOT / "targets" / name).exists()]


def main():
    found = [f"docs/messages.md: {line}" for line in complaints(GUIDE.read_text(encoding="utf-8"))]
    for path in sorted(GUIDE.parent.glob("bring-up*.md")):
        found += [f"docs/{path.name}: {line}" for line in absent_targets(path.read_text(encoding="utf-8"))]
    print("\n".join(found) or "messages: docs/messages.md has all")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
