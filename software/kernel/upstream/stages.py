#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: GPL-2.0-only

"""What a file of the driver contains in a kernel tree before all patches are applied, so that each patch builds.

A patch adds whole files. Until the file that defines a function is there, its prototype is an inline function that
does nothing or refuses. So a card without memory channels, streams or buffers, which the driver knows anyway, is what
the earlier patches see. Tables, parts of the uapi header and objects of the Makefile come with their files.
"""

import re
import textwrap

from pathlib import Path

DRIVER = Path(__file__).resolve().parents[1]

# What the inline function returns, by its type.
REFUSALS   = {"bool": "false", "int": "-EOPNOTSUPP", "long": "-EOPNOTSUPP", "ssize_t": "-EOPNOTSUPP"}
EXCEPTIONS = {"litepcie_window_mmap": "-ENODEV"}
# These have nothing to do yet: they succeed.
SUCCEEDS   = re.compile(r"_(init|publish|reset_engines)$")

PROTOTYPE  = re.compile(r"^(?!static|typedef|extern|return)([a-z][\w ]*[ *])(litepcie_\w+)(\([^;{}]*\));\n", re.M)
EXTERN     = re.compile(r"^extern [^;]*?(litepcie_\w+)(?:\[\])?;\n", re.M)

# Of the uapi header and of file.c: what has this word in its names comes with this file.
FEATURES   = (("dmabuf", "dmabuf.c"), ("hostbuf", "hostbuf.c"))
# Lines that wait for a file: (file, line, file that it waits for).
LATER      = (
    ("pci.c", "\tpci_set_master(pdev);\n", "power.c"),
    ("engine.c", "\tstruct litepcie_stream_end *end;\n", "stream.c"),
    ("engine.c", "\tlist_for_each_entry(end, &ld->stream_ends, node)\n"
        "\t\tend->vector = (LITEPCIE_DIRECTIONS * end->channel + end->direction) % count;\n", "stream.c"),
    ("Kconfig", "\tselect DMA_SHARED_BUFFER\n", "dmabuf.c"),
    ("Makefile", "# define_trace.h includes litepcie_trace.h again.\nCFLAGS_trace.o := -I$(src)\n", "trace.c"),
    ("driver.h", "#include <linux/litepcie_hostbuf.h>\n", "include/uapi/linux/litepcie_hostbuf.h"),
    ("include/uapi/linux/litepcie.h", "/* 0x09 and 0x0a are in the header of host buffers. */\n", "hostbuf.c"),
)
# What a later patch adds to a file that is there: the text from one line to another, or to the end of the file, and the
# lines that call it.
PARTS      = {
    "ioctl": ("file.c", "/* Ioctls of /dev/litepcieN. ", "/* File operations of /dev/litepcieN. */",
        "\t.unlocked_ioctl = litepcie_unlocked_ioctl,\n\t.compat_ioctl = compat_ptr_ioctl,\n"),
    "interrupts": ("user.c", "\n/*\n * Interrupts of the user's logic: ", None, None),
    "aio": ("transfer.c", "/* Ends a call in any context, ", "/* A call that moves data: ",
        "\tif (litepcie_async_can(flow, iocb, source, bytes))\n"
        "\t\treturn litepcie_async(flow, iocb, source, bytes, wait);\n"),
}


class StageError(Exception):
    """What no longer fits the driver's sources, in one line."""


def code(text):
    """C without comments and strings."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\]|\\.)*"', "", text, flags=re.S)


def definitions(text):
    """Names of the functions and variables that a file defines for the other files."""
    functions = re.findall(r"^(?!static|extern|\s|#)[\w \*]*?\n?(litepcie_\w+)\([^;{}]*\)\n\{", text, re.M)
    variables = re.findall(r"^(?!static|extern|\s|#)[\w \*]*?(litepcie_\w+)(?:\[\])? = ", text, re.M)
    macros    = re.findall(r"^DEFINE_SIMPLE_DEV_PM_OPS\((litepcie_\w+)", text, re.M)
    return {*functions, *variables, *macros}


def stub(kind, name, arguments):
    """The inline function that stands for a function which is not there yet."""
    kind = kind.strip()
    if kind == "void":
        body = "{ }"
    elif name in EXCEPTIONS:
        body = f"{{ return {EXCEPTIONS[name]}; }}"
    elif kind == "int" and SUCCEEDS.search(name):
        body = "{ return 0; }"
    elif kind in REFUSALS:
        body = f"{{ return {REFUSALS[kind]}; }}"
    else:
        raise StageError(f"{name}() returns {kind}: say in REFUSALS what it returns before it is there")
    arguments = re.sub(r"\s+", " ", arguments)
    line      = f"static inline {kind} {name}{arguments} {body}\n"
    if len(line) <= 101:
        return line
    # The columns of a continued line: tabs, then spaces.
    column = len(name) + 1
    lines  = textwrap.wrap(name + arguments, 100, subsequent_indent=" "*column)
    lines  = [lines[0]] + ["\t"*(column//8) + " "*(column % 8) + one.strip() for one in lines[1:]]
    inner  = body[1:-1].strip()
    return f"\nstatic inline {kind}\n" + "\n".join(lines) + "\n{\n" + (f"\t{inner}\n" if inner else "") + "}\n\n"


def cut(file, part, text):
    """A file's text without a part, and the part."""
    _, start, end, calls = PARTS[part]
    if not all(text.count(one) == 1 for one in (start, end, calls) if one):
        raise StageError(f"{file} no longer has the part {part}")
    begin  = text.index(start)
    finish = text.index(end) if end else len(text)
    return text[:begin] + text[finish:].replace(calls or "\0", ""), text[begin:finish]


class Stage:
    """The driver with some of its files.

    Parameters
    ----------
    present : names of the files, as they are below `software/kernel/`, and of PARTS.
    """
    def __init__(self, present):
        present      = set(present)
        self.parts   = present & set(PARTS)
        self.present = present - set(PARTS)
        sources      = {path.name: path.read_text() for path in DRIVER.glob("*.c")}
        self.owner   = {name: file for file, text in sources.items() for name in definitions(code(text))}
        for part, (file, *_) in PARTS.items():
            self.owner.update(dict.fromkeys(definitions(code(cut(file, part, sources[file])[1])), part))
        # Names that the present sources use.
        self.used    = {word for file, text in sources.items() if file in self.present
            for word in re.findall(r"\blitepcie_\w+", code(self._there(file, text)))}

    def _there(self, file, text):
        """A file's text without the parts that later patches add."""
        for part, (other, *_) in PARTS.items():
            if other == file and part not in self.parts:
                text, _ = cut(file, part, text)
        return text

    def absent(self, name):
        return name in self.owner and self.owner[name] not in self.present | self.parts

    def content(self, name):
        """Returns the text of a file that is present."""
        text = (DRIVER / name).read_text()
        for file, line, other in LATER:
            if file == name:
                if line not in text:
                    raise StageError(f"{name} has no line {line.strip()!r}")
                if other not in self.present:
                    text = text.replace(line, "")
        text = self._there(name, text)
        if name == "Makefile":
            return self._makefile(text)
        if name == "Kconfig" and "queue_test.c" not in self.present:
            return text[:text.index("\nconfig LITEPCIE_KUNIT_TEST")]
        if name.startswith("Documentation/") and "stream.c" not in self.present:
            return re.sub(r"\nStreams\n=======\n.*", "", text, flags=re.S)
        if name.startswith("include/"):
            return self._interface(text)
        if name.endswith(".h"):
            return self._header(name, text)
        return self._source(name, text) if name.endswith(".c") else text

    def _makefile(self, text):
        head    = text[:text.index("#\n# In a kernel tree")]
        objects = text[text.index("obj-$(CONFIG_LITEPCIE)"):text.index("\nelse\n")]

        def only_present(line):
            there = [one for one in line[2].split() if one[:-2] + ".c" in self.present]
            return f"{line[1]} {' '.join(there)}\n" if there else ""

        return f"{head}\n" + re.sub(r"^(litepcie-\S+ \S=)((?: \w+\.o)+)\n", only_present, objects, flags=re.M)

    def _includes(self, name, text):
        """Without the includes of headers that are not there."""
        def there(line):
            return line[0] if line[1] in self.present else ""

        if name.endswith((".c", ".h")):
            text = text.replace('#include "compat.h"\n', "")
        return re.sub(r'^#include "(\w+\.h)"\n', there, text, flags=re.M)

    def _features(self):
        return [word for word, file in FEATURES if file not in self.present]

    def _source(self, name, text):
        text = self._includes(name, text)
        for word in self._features() if name == "file.c" else ():
            member = f"struct litepcie_{word}_"
            text   = re.sub(r"^\t\[_IOC_NR\(\w+\)\] = \{\n(?:\t\t.*\n)*\t\},\n",
                lambda entry, member=member: "" if member in entry[0] else entry[0], text, flags=re.M)
            text   = re.sub(rf"^(?:\t|static_assert\(sizeof\(){member}\w+(?: \w+|.*)\;\n", "", text, flags=re.M)
        # Initialisers that name what is not there.
        for variable in re.findall(r"\blitepcie_\w+", text):
            if self.absent(variable):
                text = re.sub(rf"^\t\.[\w.]+ = [^;{{\n]*\b{variable}\b[^;\n]*,\n", "", text, flags=re.M)
        return text

    def _interface(self, text):
        """A uapi header: paragraphs, and lines of ioctls, that belong to later files are not there."""
        for word in self._features():
            wanted = re.compile(rf"struct litepcie_{word}_\w+ \{{|#define LITEPCIE_{word.upper()}_")
            text   = "\n\n".join(one for one in text.split("\n\n") if not wanted.search(one))
            text   = re.sub(rf"^#define LITEPCIE_IOC_{word.upper()}_\w+(?:[^\n]*\\\n)?[^\n]*\n", "", text, flags=re.M)
        if "interrupts" not in self.parts:
            text = re.sub(r" \* /dev/litepcieN_interruptM is .*?\n \*\n", "", text, flags=re.S)
        return text

    def _header(self, name, text):
        if "debugfs.c" not in self.present:
            text = re.sub(r"/\* debugfs\.c: .*?#else\n(.*?)#endif\n", r"\1", text, flags=re.S)
        text = self._includes(name, text)
        # The list of files by layer.
        text = re.sub(r"^ \*\t((?:\w+\.c ?)+)\t.*\n", lambda row: row[0] if set(row[1].split()) & self.present else "",
            text, flags=re.M)
        text = EXTERN.sub(lambda found: "" if self.absent(found[1]) else found[0], text)
        text = PROTOTYPE.sub(self._prototype, text)
        text = re.sub(r"^/\* (\w+\.c): [^\n]*\*/\n(?=\n)", "", text, flags=re.M)
        if name == "driver.h":
            at   = text.rindex("#endif /*")
            text = text[:at] + self._elsewhere() + text[at:]
        return re.sub(r"\n{3,}", "\n\n", text)

    def _prototype(self, found):
        if not self.absent(found[2]):
            return found[0]
        return stub(*found.groups()) if found[2] in self.used else ""

    def _elsewhere(self):
        """Inline functions for the prototypes of headers that are not there."""
        texts = [path.read_text() for path in sorted(DRIVER.glob("*.h")) if path.name not in self.present]
        stubs = [stub(*found.groups()) for text in texts for found in PROTOTYPE.finditer(text)
            if self.absent(found[2]) and found[2] in self.used]
        return "/* What later patches add. */\n" + "".join(stubs) + "\n" if stubs else ""
