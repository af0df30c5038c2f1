#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: GPL-2.0-only

"""Writes the driver as series of patches for a kernel tree, with cover letters, as git format-patch does.

    python software/kernel/upstream/series.py --tree LINUX --author "NAME <ADDRESS>" [--output DIR]

The first series has the memory of the card; each of the others needs the first, and comes after the ones above it. The
kernel builds after each patch, with what stages.py says of files that later patches complete. Of the driver's folder,
the patches leave out what is only for other kernels or for builds outside a kernel tree.
"""

import argparse
import difflib
import fnmatch
import functools
import sys

from email.utils import formatdate, parseaddr
from pathlib     import Path

from stages import DRIVER, PARTS, Stage, StageError

HERE   = Path(__file__).resolve().parent
PLACE  = "drivers/misc/litepcie"

# Name of the series, subject of its cover letter, and its patches: subject, file with the text, and patterns of the
# driver's files; the first patch whose pattern matches adds the file.
SERIES = (
    ("litepcie", "misc: litepcie: Add a driver for LitePCIe SoC DMA cards", (
        ("misc: litepcie: Find cards and say what they are", "probe",
            ("pci.c", "card.c", "file.c", "driver.h", "request.h", "litepcie_regs.h", "Kconfig", "Makefile",
                "include/uapi/linux/litepcie.h")),
        ("misc: litepcie: Add resets, suspend and bus errors", "power", ("power.c",)),
        ("misc: litepcie: Add ioctls", "ioctl", ("ioctl",)),
        ("misc: litepcie: Add requests and rings", "requests",
            ("queue.c", "ring.c", "memory.c", "trace.c", "litepcie_trace.h", "queue_test.c")),
        ("misc: litepcie: Add DMA engines and interrupts", "engines", ("engine.c",)),
        ("misc: litepcie: Add read() and write()", "transfers", ("transfer.c", "pages.c")),
        ("misc: litepcie: Add aio and io_uring", "aio", ("aio",)),
        ("misc: litepcie: Map the window of the card", "window", ("window.c",)),
        ("misc: litepcie: Move data of dma-bufs", "dmabuf", ("dmabuf.c",)),
        ("misc: litepcie: Show the state of engines in debugfs", "debugfs", ("debugfs.c",)),
        ("Documentation: litepcie: Describe driver and sysfs", "documentation",
            ("Documentation/misc-devices/*", "Documentation/ABI/testing/sysfs-class-litepcie",
                "Documentation/ABI/testing/sysfs-module-*")),
        ("selftests: litepcie: Test the calls of the character device", "selftests", ("upstream/selftests/*",)),
    )),
    ("streams", "misc: litepcie: Add streams", (
        ("misc: litepcie: Add stream channels", "streams",
            ("stream*", "include/uapi/linux/litepcie_stream.h", "Documentation/ABI/testing/sysfs-class-litepcie-*")),
    )),
    ("user", "misc: litepcie: Add registers and interrupts of the user's logic", (
        ("misc: litepcie: Add the user's registers", "registers", ("user.c",)),
        ("misc: litepcie: Add the user's interrupts", "interrupts", ("interrupts",)),
    )),
    ("hostbuf", "misc: litepcie: Add buffers for the user's logic", (
        ("misc: litepcie: Add buffers that the card's logic accesses", "hostbuf",
            ("hostbuf.c", "include/uapi/linux/litepcie_hostbuf.h")),
    )),
)
PATCHES = [patch for _, _, patches in SERIES for patch in patches]
# What does not belong in a kernel tree.
LEFT_OUT = ("compat.h", "dkms.conf", "Documentation/ABI/testing/debugfs-*", "upstream/*.py",
    "upstream/syzkaller/*", "upstream/text/*")


class SeriesError(Exception):
    """What is wrong with the tree, in one line."""


def written(name):
    """Returns the text of a file in text/, without the line of its licence."""
    return (HERE / "text" / name).read_text().split("\n", 1)[1]


def place(name):
    """Returns where a file of the driver's folder is in a kernel tree."""
    if name.startswith(("include/", "Documentation/")):
        return name
    if name.startswith("upstream/selftests/"):
        return f"tools/testing/selftests/{PLACE.replace('/misc', '')}/{Path(name).name}"
    return f"{PLACE}/{name}"


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


@functools.cache
def files():
    """Returns a list of the driver's files, and of parts of them, that each patch adds."""
    found = [[] for _ in PATCHES]
    paths = [path for path in sorted(DRIVER.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    for name in [*(str(path.relative_to(DRIVER)) for path in paths), *PARTS]:
        if matches(name, LEFT_OUT):
            continue
        for patch, (_, _, patterns) in enumerate(PATCHES):
            # A pattern without a folder is for the driver's own folder.
            if matches(name, [one for one in patterns if ("/" in one) == ("/" in name)]):
                found[patch].append(name)
                break
        else:
            raise SeriesError(f"no patch has the file {name}; add it to PATCHES or LEFT_OUT")
    return found


@functools.cache
def stage(number):
    """The driver after the first `number` patches."""
    return Stage(name for names in files()[:number] for name in names)


def inserted(text, line, before, where):
    """Returns `text` with `line` before the first line that begins with `before`."""
    lines = text.splitlines(keepends=True)
    for at, one in enumerate(lines):
        if one.startswith(before):
            return "".join(lines[:at]) + line + "".join(lines[at:])
    raise SeriesError(f"{where} of this tree has no line that begins with {before!r}")


def maintainers(text, where):
    """Returns MAINTAINERS with the driver's entry, in the order of the alphabet."""
    entry = written("maintainers.txt")
    title = entry.splitlines()[0]
    lines = text.splitlines(keepends=True)
    start = next(at for at, line in enumerate(lines) if line.startswith("3C59X"))
    for at in range(start, len(lines)):
        new = lines[at - 1] == "\n" and lines[at][:1].isupper() and lines[at][1:2] != ":"
        if new and lines[at] > title:
            return "".join(lines[:at]) + entry + "\n" + "".join(lines[at:])
    raise SeriesError(f"{where} of this tree has no entry after {title!r}")


def number_of(text):
    """Returns the number, from 0, of the patch whose text is in the file `text`."""
    return [name for _, name, _ in PATCHES].index(text)


def ioctl_number(row):
    return lambda text, where: inserted(text, written("ioctl-number.txt").splitlines(keepends=True)[row],
        ("0xDB", "0xDD"), where)


# Changes of files that the tree has: (patch, file, function of its text and name).
NUMBERS = "Documentation/userspace-api/ioctl/ioctl-number.rst"
CHANGES = (
    ("probe", "MAINTAINERS", maintainers),
    ("probe", NUMBERS, ioctl_number(0)),
    ("probe", "drivers/misc/Kconfig", lambda text, where: inserted(text, f'source "{PLACE}/Kconfig"\n', "endmenu",
        where)),
    ("probe", "drivers/misc/Makefile", lambda text, where: text + "obj-$(CONFIG_LITEPCIE)\t\t+= litepcie/\n"),
    ("documentation", "Documentation/misc-devices/index.rst", lambda text, where: inserted(text, "   litepcie\n",
        ("   mrvl_cn10k_dpi", "   oxsemi", "   pci-endpoint"), where)),
    ("selftests", "tools/testing/selftests/Makefile", lambda text, where: inserted(text,
        "TARGETS += drivers/litepcie\n",
        ("TARGETS += drivers/net", "TARGETS += drivers/ntsync", "TARGETS += drivers/s390x"), where)),
    ("streams", NUMBERS, ioctl_number(1)),
)


def changed(name, tree, number):
    """Returns the text of the tree's file `name` after the first `number` patches."""
    try:
        text = (tree / name).read_text()
    except OSError as e:
        raise SeriesError(f"{tree} is no kernel tree: {name}: {e.strerror}") from e
    for text_file, other, change in CHANGES:
        if other == name and number_of(text_file) < number:
            text = change(text, name)
    return text


def difference(name, old, new):
    """Returns the lines of a git patch of one file; `old` is None for a new file."""
    lines = [f"diff --git a/{name} b/{name}\n"]
    if old is None:
        lines += ["new file mode 100644\n", "index 000000000000..111111111111\n"]
    lines += difflib.unified_diff([] if old is None else old.splitlines(keepends=True), new.splitlines(keepends=True),
        "/dev/null" if old is None else f"a/{name}", f"b/{name}")
    return lines


def patch(number, tree):
    """Returns the difference that patch `number`, from 0, makes to the kernel tree in the folder `tree`."""
    lines = []
    for name in dict.fromkeys(name for _, name, _ in CHANGES):
        old, new = changed(name, tree, number), changed(name, tree, number + 1)
        if old != new:
            lines += difference(name, old, new)
    before, after = stage(number), stage(number + 1)
    for name in sorted(after.present):
        old, new = before.content(name) if name in before.present else None, after.content(name)
        if old != new:
            lines += difference(place(name), old, new)
    return "".join(lines)


def diffstat(text):
    """Returns a line for each file of some patches with the numbers of its added and removed lines, and their sums."""
    counts = {}
    for line in text.splitlines():
        if line.startswith("diff --git "):
            count = counts.setdefault(line.split(" b/")[1], [0, 0])
        elif line.startswith(("+", "-")) and not line.startswith(("+++ ", "--- ")):
            count[line[0] == "-"] += 1
    return "".join(f" {name} | +{added} -{removed}\n" for name, (added, removed) in counts.items()) + (
        f" {len(counts)} files changed, {sum(count[0] for count in counts.values())} insertions(+), "
        f"{sum(count[1] for count in counts.values())} deletions(-)\n")


def mail(number, count, author, subject, body):
    return f"From: {author}\nDate: {formatdate()}\nSubject: [PATCH {number}/{count}] {subject}\n\n{body}"


def write_series(output, author, title, cover, patches, diffs):
    """Writes one series into the folder `output`; returns the paths, the cover letter first."""
    output.mkdir(parents=True, exist_ok=True)
    count  = len(patches)
    shorts = "".join(f"  {subject}\n" for subject, _, _ in patches)
    letter = f"{cover}\n{parseaddr(author)[0]} ({count}):\n{shorts}\n{diffstat(''.join(diffs))}"
    mails  = [("cover-letter", mail(0, count, author, title, letter))]
    for number, ((subject, name, _), text) in enumerate(zip(patches, diffs), 1):
        mails.append((name, mail(number, count, author, subject,
            f"{written(f'{name}.txt')}\nSigned-off-by: {author}\n---\n{diffstat(text)}\n{text}-- \n")))
    paths = []
    for number, (name, text) in enumerate(mails):
        paths.append(output / f"{number:04}-{name}.patch")
        paths[-1].write_text(text)
    return paths


def write(tree, author, output):
    """Writes all series, each into a folder of its name in `output`; returns the paths in the order to apply them."""
    paths, first = [], 0
    for number, (name, title, patches) in enumerate(SERIES, 1):
        diffs  = [patch(first + at, tree) for at in range(len(patches))]
        paths += write_series(output / f"{number}-{name}", author, title, written(f"cover-{name}.txt"), patches, diffs)
        first += len(patches)
    return paths


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Writes the driver as series of patches for a kernel tree.")
    parser.add_argument("--tree", type=Path, required=True, help="kernel tree, with or without git")
    parser.add_argument("--author", required=True, help='who sends and signs it, as in "NAME <ADDRESS>"')
    parser.add_argument("--output", type=Path, default=Path("build/series"), help="folder (default %(default)s)")
    args = parser.parse_args(arguments)
    if not all(parseaddr(args.author)):
        parser.error(f"argument --author: {args.author!r} is not NAME <ADDRESS>")
    try:
        print("\n".join(map(str, write(args.tree, args.author, args.output))))
    except (SeriesError, StageError) as e:
        print(f"series: error: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
