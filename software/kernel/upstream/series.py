#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: GPL-2.0-only

"""Writes the driver as a series of patches for a kernel tree, with a cover letter, as git format-patch does.

    python software/kernel/upstream/series.py --tree LINUX --author "NAME <ADDRESS>" [--output DIR]

No patch before the sixth has anything that the kernel builds, so the kernel builds after each patch. Of the driver's
folder, the patches leave out what is only for other kernels or for builds outside a kernel tree.
"""

import argparse
import difflib
import fnmatch
import sys

from email.utils import formatdate, parseaddr
from pathlib     import Path

HERE   = Path(__file__).resolve().parent
DRIVER = HERE.parent
PLACE  = "drivers/misc/litepcie"

# Subject, file with the text, and patterns of the driver's files; the first patch whose pattern matches has a file.
PATCHES = (
    ("misc: litepcie: Add the user interface", "interface", ("include/uapi/linux/*",)),
    ("misc: litepcie: Add descriptors", "descriptors",
        ("litepcie_regs.h", "descriptor*")),
    ("misc: litepcie: Add the DMA engines", "engines",
        ("request.h", "queue.*", "fair*", "ring.*", "feed*", "engine.*", "submit.*", "params.*", "trace.*",
            "litepcie_trace.h")),
    ("misc: litepcie: Add transfers", "transfers",
        ("transfer.*", "pages.*", "memory.*", "dmabuf*")),
    ("misc: litepcie: Add streams", "streams", ("bank.*", "stream*")),
    ("misc: litepcie: Add the driver of LitePCIe SoC cards", "driver", ("*.c", "*.h", "Kconfig", "Makefile")),
    ("Documentation: litepcie: Describe driver and sysfs", "documentation",
        ("Documentation/*/*", "Documentation/ABI/testing/sysfs-*")),
    ("selftests: litepcie: Test the calls of the character device", "selftests", ("upstream/selftests/*",)),
)
# What differs in a kernel tree, or does not belong there.
LEFT_OUT = ("compat.h", "dkms.conf", "Documentation/ABI/testing/debugfs-*", "upstream/series.py", "upstream/text/*")


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


def content(name):
    """Returns the text of a file of the driver's folder as it is in a kernel tree."""
    text = (DRIVER / name).read_text()
    if name == "Makefile":
        head    = text[:text.index("#\n# In a kernel tree")]
        objects = text[text.index("obj-$(CONFIG_LITEPCIE)"):text.index("\nelse\n")]
        text    = f"{head}\n{objects}"
    if name.endswith((".c", ".h")):
        text = text.replace('#include "compat.h"\n', "")
    return text


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def files():
    """Returns a list of the driver's files for each patch."""
    found = [[] for _ in PATCHES]
    for path in sorted(DRIVER.rglob("*")):
        name = str(path.relative_to(DRIVER))
        if not path.is_file() or "__pycache__" in path.parts or matches(name, LEFT_OUT):
            continue
        for patch, (_, _, patterns) in enumerate(PATCHES):
            # A pattern without a folder is for the driver's own folder.
            if matches(name, [one for one in patterns if ("/" in one) == ("/" in name)]):
                found[patch].append(name)
                break
        else:
            raise SeriesError(f"no patch has the file {name}; add it to PATCHES or LEFT_OUT")
    return found


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


# Changes of files that the tree has: (patch, file, function of its text and name).
CHANGES = (
    (0, "MAINTAINERS", maintainers),
    (0, "Documentation/userspace-api/ioctl/ioctl-number.rst", lambda text, where: inserted(text,
        written("ioctl-number.txt"), ("0xDB", "0xDD"), where)),
    (5, "drivers/misc/Kconfig", lambda text, where: inserted(text, f'source "{PLACE}/Kconfig"\n', "endmenu", where)),
    (5, "drivers/misc/Makefile", lambda text, where: text + "obj-$(CONFIG_LITEPCIE)\t\t+= litepcie/\n"),
    (6, "Documentation/misc-devices/index.rst", lambda text, where: inserted(text, "   litepcie\n",
        ("   mrvl_cn10k_dpi", "   oxsemi", "   pci-endpoint"), where)),
    (7, "tools/testing/selftests/Makefile", lambda text, where: inserted(text, "TARGETS += drivers/litepcie\n",
        ("TARGETS += drivers/net", "TARGETS += drivers/ntsync", "TARGETS += drivers/s390x"), where)),
)


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
    for at, name, change in CHANGES:
        if at == number:
            try:
                old = (tree / name).read_text()
            except OSError as e:
                raise SeriesError(f"{tree} is no kernel tree: {name}: {e.strerror}") from e
            lines += difference(name, old, change(old, name))
    for name in files()[number]:
        lines += difference(place(name), None, content(name))
    return "".join(lines)


def diffstat(text):
    """Returns a line for each file of a patch with the number of its added lines, and their sum."""
    counts = {}
    for line in text.splitlines():
        if line.startswith("diff --git "):
            name = line.split(" b/")[1]
            counts[name] = 0
        elif line.startswith("+") and not line.startswith("+++ "):
            counts[name] += 1
    return "".join(f" {name} | {count}\n" for name, count in counts.items()) + (
        f" {len(counts)} files changed, {sum(counts.values())} insertions(+)\n")


def mail(number, author, subject, body):
    title = f"[PATCH {number}/{len(PATCHES)}] {subject}"
    return f"From: {author}\nDate: {formatdate()}\nSubject: {title}\n\n{body}"


def write(tree, author, output):
    """Writes the series into the folder `output`; returns the paths, the cover letter first."""
    output.mkdir(parents=True, exist_ok=True)
    diffs  = [patch(number, tree) for number in range(len(PATCHES))]
    shorts = "".join(f"  {subject}\n" for subject, _, _ in PATCHES)
    cover  = written("cover.txt") + f"\n{parseaddr(author)[0]} ({len(PATCHES)}):\n{shorts}\n"
    mails  = [("cover-letter", mail(0, author, "misc: litepcie: Add a driver for LitePCIe SoC DMA cards",
        cover + diffstat("".join(diffs))))]
    for number, ((subject, name, _), text) in enumerate(zip(PATCHES, diffs), 1):
        body = written(f"{name}.txt")
        mails.append((name, mail(number, author, subject,
            f"{body}\nSigned-off-by: {author}\n---\n{diffstat(text)}\n{text}-- \n")))
    paths = []
    for number, (name, text) in enumerate(mails):
        paths.append(output / f"{number:04}-{name}.patch")
        paths[-1].write_text(text)
    return paths


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Writes the driver as a series of patches for a kernel tree.")
    parser.add_argument("--tree", type=Path, required=True, help="kernel tree, with or without git")
    parser.add_argument("--author", required=True, help='who sends and signs it, as in "NAME <ADDRESS>"')
    parser.add_argument("--output", type=Path, default=Path("build/series"), help="folder (default %(default)s)")
    args = parser.parse_args(arguments)
    if not all(parseaddr(args.author)):
        parser.error(f"argument --author: {args.author!r} is not NAME <ADDRESS>")
    try:
        print("\n".join(map(str, write(args.tree, args.author, args.output))))
    except SeriesError as e:
        print(f"series: error: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
