#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Finds code, links and headings in Markdown, for the checks. Standard library only."""

import re

CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
LINK      = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\]\([^)]*\))*\]\([^)]*\)")
TARGET    = re.compile(r"\]\((?:<([^>]*)>|([^)\s]*))")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s+<?(\S+?)>?(?:\s|$)")
ATTRIBUTE = re.compile(r"<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=\"([^\"]*)\"")
ANCHOR    = re.compile(r"<\w+\b[^>]*?\b(?:id|name)=\"([^\"]*)\"")
HEADING   = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*$")
COMMENT   = re.compile(r"<!--.*?-->")
LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s")


def prose(text):
    """(number, line) of each line that is not code. Lines are numbered from 1.

    An indented block is code if it follows a blank line and the paragraph before that is not a list item.
    """
    fence, code, blank, in_list = None, False, True, False
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r" *(```+|~~~+)", line)
        if fence:
            fence = None if mark and mark[1].startswith(fence) else fence
            continue
        if mark:
            fence = mark[1]
            continue
        if not line.strip():
            blank = True
            continue
        indented = line.startswith("    ")
        code     = indented and (code or (blank and not in_list))
        if not indented:
            in_list = bool(LIST_ITEM.match(line)) or (in_list and not blank)
        blank = False
        if not code:
            yield number, line


def links(text):
    """(number, target) of each link, picture and reference of a document."""
    for number, line in prose(text):
        line = CODE_SPAN.sub("", line)
        yield from ((number, bracketed or plain) for bracketed, plain in TARGET.findall(line))
        yield from ((number, target) for target in ATTRIBUTE.findall(line))
        reference = REFERENCE.match(line)
        if reference:
            yield number, reference[1]


def code_spans(text):
    """(number, code) of each code span of a document."""
    for number, line in prose(text):
        yield from ((number, match[0].strip("` ")) for match in CODE_SPAN.finditer(line))


def slug(heading):
    """The anchor that a forge gives a heading."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")


def anchors(text):
    """The anchors of a document: its headings, numbered where they repeat, and those written as HTML."""
    found = set()
    for _, line in prose(text):
        heading = HEADING.match(line)
        if heading:
            name, count = slug(heading[2]), 0
            while name in found:
                count += 1
                name   = f"{slug(heading[2])}-{count}"
            found.add(name)
        found.update(ANCHOR.findall(CODE_SPAN.sub("", line)))
    return found
