#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The man page liblitepcie(3), with a section for each call, from the comments of liblitepcie.h.

`python -m tools.library_page --write` renews the page, `--check` fails if it differs.
"""

import re
import sys

from pathlib import Path

from litepcie_soc.build import generated

from tools import check_version

USER   = Path(__file__).resolve().parents[1] / "software" / "user"
HEADER = USER / "lib" / "liblitepcie.h"
PAGE   = USER / "liblitepcie.3"

HEAD = r""".\" Made by tools/library_page.py from liblitepcie.h: do not edit.
.\" SPDX-License-Identifier: BSD-2-Clause
.\" Copyright (c) 2026 LitePCIe SoC developers
.TH LIBLITEPCIE 3 "" "LitePCIe SoC @VERSION@" "Library Functions Manual"
.SH NAME
liblitepcie \- access to LitePCIe SoC cards
.SH LIBRARY
.RI "LitePCIe SoC library (" liblitepcie ", " \-llitepcie )
.SH SYNOPSIS
.B #include <liblitepcie.h>
"""

EXAMPLE = r"""#include <stdio.h>
#include <string.h>
#include <liblitepcie.h>

int main(void)
{
	char text[] = "hello, card", back[sizeof(text)];
	struct litepcie *card;
	ssize_t moved = litepcie_open(&card, "/dev/litepcie0");

	/* The offset is an address in the card's memory. */
	if (moved >= 0)
		moved = litepcie_pwrite(card, text, sizeof(text), 0);
	if (moved >= 0)
		moved = litepcie_pread(card, back, sizeof(back), 0);
	if (moved < 0) {
		fprintf(stderr, "%s\n", litepcie_strerror((int)moved));
		return 1;
	}
	puts(memcmp(text, back, sizeof(text)) ? "different" : "equal");
	litepcie_close(card);
	return 0;
}
"""

TAIL = r""".SH SEE ALSO
.BR litepcie_util (1),
.BR io_uring (7),
.BR poll (2)
"""

SECTION = re.compile(r"/\* -{4} (.+?) -+ \*/")
BLOCK   = re.compile(r"^/\*(.*?)\*/\n((?:(?!\n\n|#|^/\*).)*)", re.DOTALL | re.MULTILINE)
ITEM    = re.compile(r" {2}(-E\w+(?:, -E\w+)*|-) +(.*)")

# Troff --------------------------------------------------------------------------------------------


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def prose(comment):
    """Lines of troff of a comment: paragraphs, and lists of errors or of points."""
    lines, ended = [], False
    for line in (re.sub(r"^\s*\* ?", "", line).rstrip() for line in comment.strip().splitlines()):
        item = ITEM.match(line)
        if item:
            mark = "\\(bu 2" if item[1] == "-" else f"\n.B {escaped(item[1])}"
            lines += [f".IP {mark}" if item[1] == "-" else f".TP{mark}", escaped(item[2].strip())]
        elif not line:
            lines.append(".PP")
        elif line.startswith("\t"):
            lines += [".nf", escaped(line.expandtabs()), ".fi"]
        else:
            if ended and not line.startswith(" "):
                lines.append(".PP")
            lines.append(escaped(line.strip()))
        ended = bool(item) or (ended and line.startswith(" "))
    return [line for line in lines if line]


def section(title, text):
    """A section of the header: a part of the page for each comment that describes declarations."""
    lines = [f".SH {escaped(title).upper()}"]
    for comment, code in BLOCK.findall(text):
        names = re.findall(r"\b(litepcie_\w+)\(", code)
        if names:
            lines += [f".SS {', '.join(escaped(name) + '()' for name in names)}", ".nf",
                *[escaped(line.expandtabs()) for line in code.strip().splitlines()], ".fi", ".PP", *prose(comment)]
        elif code.strip():
            lines += [".PP", *prose(comment), ".PP", ".nf",
                *[escaped(line.expandtabs()) for line in code.strip().splitlines()], ".fi"]
        else:
            lines += [".PP", *prose(comment)]
    return lines


def page():
    text  = HEADER.read_text(encoding="utf-8")
    parts = SECTION.split(text)
    about = re.findall(r"/\*(.*?)\*/", parts[0], re.DOTALL)[2]
    _, about = about.split("Conventions of all functions:")
    lines = [HEAD.replace("@VERSION@", check_version.version()).strip(), ".SH CONVENTIONS", *prose(about)]
    for title, body in zip(parts[1::2], parts[2::2]):
        lines += section(title, body)
    example = EXAMPLE.rstrip().replace("\\", "\\e").replace("-", "\\-").split("\n")
    lines  += [".SH EXAMPLE", "Built with",
        ".BR \"cc example.c $(pkg\\-config \\-\\-cflags \\-\\-libs liblitepcie)\" :", ".PP", ".EX", *example, ".EE"]
    return "\n".join([*lines, TAIL])


# Markdown -----------------------------------------------------------------------------------------


def markdown_prose(comment):
    """Markdown of a comment: paragraphs, lists, and lines of code, which begin with a tab."""
    lines = [re.sub(r"^\s*\* ?", "", line).rstrip() for line in comment.strip().splitlines()]
    found = []
    for line in lines:
        item, code = ITEM.match(line), line.startswith("\t")
        text = re.sub(r"([\\*_<>\[\]#])", r"\\\1", line.strip())
        if item:
            text = text if item[1] == "-" else f"- `{item[1]}`: {text[len(item[1]):].strip()}"
            found.append(["item", text])
        elif not line or not found or code or (found[-1][0] in ("item", "code") and not line.startswith(" ")):
            found.append(["code", f"    {line.expandtabs()}"] if code else ["text", text])
        else:
            found[-1][1] = f"{found[-1][1]} {text}".strip()
    joined = ""
    for (kind, text), before in zip(found, [None, *(kind for kind, _ in found)]):
        joined += ("\n" if kind == before != "text" else "\n\n") + text if text else ""
    return joined.strip("\n")


def markdown():
    """The reference of the library as a page of the site, from the same comments."""
    parts  = SECTION.split(HEADER.read_text(encoding="utf-8"))
    about  = re.findall(r"/\*(.*?)\*/", parts[0], re.DOTALL)[2].split("Conventions of all functions:")[1]
    pieces = ["# C reference", "Made of the comments in `liblitepcie.h`, as `man 3 liblitepcie` is. "
        "[The library in C](../library.md) has an example.", markdown_prose(about)]
    for title, text in zip(parts[1::2], parts[2::2]):
        pieces.append(f"## {title}")
        for comment, code in BLOCK.findall(text):
            names = re.findall(r"\b(litepcie_\w+)\(", code)
            pieces += [f"### {', '.join(names)}".replace("_", "\\_")] if names else []
            code    = "\n".join(f"    {line.expandtabs()}" for line in code.strip().splitlines())
            pieces += [part for part in (code, markdown_prose(comment)) if part]
    return "\n\n".join(pieces) + "\n"


def main(argv=None):
    return generated.main(argv, "tools.library_page", "The page liblitepcie(3), from liblitepcie.h.",
        {PAGE: lambda _: page()})


if __name__ == "__main__":
    sys.exit(main())
