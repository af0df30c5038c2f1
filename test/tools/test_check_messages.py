# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
"""Tests of tools/check_messages.py: a missing message and a wrong name are found."""

from tools import check_messages

GUIDE = check_messages.GUIDE.read_text(encoding="utf-8")


def test_a_message_that_the_guide_does_not_have_is_found():
    assert not check_messages.missing(r"%s made no progress for %u ms\n", GUIDE)
    assert check_messages.missing(r"%s moved everything for %u ms\n", GUIDE)
    assert not check_messages.missing(r"%s: %s\n", GUIDE)


def test_a_message_with_advice_needs_no_row_and_a_row_may_end_early():
    message = r"%s: the moon has %u sides: %s\n"
    assert check_messages.missing(message, "the moon has sides: ...")
    assert not check_messages.missing(message, "the moon has N sides: ...")
    assert not check_messages.missing(r"%s: the moon has no sides; give --sun\n", "")


def test_complaints_name_source_and_message():
    found = list(check_messages.complaints("./targets/no_board.py\n"))
    assert "driver: no row for: unknown reason" in found
    assert "targets/no_board.py is named, and does not exist" in found
    assert {line.split(":")[0] for line in found[:-1]} == {"driver", "tool", "rescan", "targets"}
