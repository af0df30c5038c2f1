#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""The man page of litepcie_util and its completions, from the tables that the tool prints (`help --json`).

`python -m tools.command_pages --write` renews the files, `--check` fails if they differ.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile

from pathlib import Path

from litepcie_soc.build import generated

from tools import check_version

USER  = Path(__file__).resolve().parents[1] / "software" / "user"
PROG  = "litepcie_util"
MADE  = "Made by tools/command_pages.py from the tables of the tool: do not edit."
SPDX  = ("SPDX-License-Identifier: BSD-2-Clause", "Copyright (c) 2026 LitePCIe SoC developers")

# Man page -----------------------------------------------------------------------------------------

HEAD = r"""
.TH LITEPCIE_UTIL 1 "" "LitePCIe SoC @VERSION@" "User Commands"
.SH NAME
litepcie_util \- inspect, test and measure LitePCIe SoC cards
.SH SYNOPSIS
.B litepcie_util
.RI [ options ]
.I command
.RI [ options ]
.SH DESCRIPTION
.B litepcie_util
shows the state of a card that the
.B litepcie
driver drives, tests its registers and its DMA engines, and measures their rate.
.PP
Directions are named as seen from the card: a
.I read
moves data from host memory to the card,
a
.I write
moves data from the card to host memory.
.PP
Sizes are in bytes; a suffix K, M or G (also KiB, MiB, GiB) multiplies by a power of 1024.
Numbers are decimal, or hexadecimal after 0x.
MB/s is 10^6 bytes per second.
.PP
A device is given by its number, its device file, or its PCI address, such as 0000:01:00.0 or 01:00.0.
.PP
With
.B \-\-json
the output is one JSON object.
Its
.B format_version
is raised when a key changes its meaning or is removed; a new key does not raise it.
Values that were not measured are absent.
An error is one line on standard error, and also an object with the key
.B error
if no other object was printed.
.SH OPTIONS
These options may be given before or after the command.
"""

TAIL = r"""
A second signal ends the program immediately.
.SH FILES
.I /dev/litepcie0
.SH EXAMPLES
The cards of the machine, and what one of them says of itself:
.PP
.EX
litepcie_util list
litepcie_util \-\-card 0 info
.EE
.PP
The transfers of AN 456, first one direction after the other, then both at the same time:
.PP
.EX
litepcie_util dma_test
litepcie_util dma_test \-\-sequence read\-and\-write
.EE
.PP
Transfers of 1 MiB for half a minute, with their rates every two seconds, and the card's memory as it was before:
.PP
.EX
litepcie_util dma_test \-\-length 1M \-\-time 30 \-\-interval 2 \-\-preserve
.EE
.PP
One figure for a script:
.PP
.EX
litepcie_util \-\-json dma_test | jq .write.counter_bytes_per_second.average
.EE
.PP
A short write at every alignment:
.PP
.EX
for i in $(seq 0 63); do litepcie_util dma_test \-s write \-l 65 \-o $i || break; done
.EE
.PP
Rates of all lengths, as CSV:
.PP
.EX
litepcie_util bench \-\-csv sweep.csv
.EE
.PP
Memory of the card as words of 32 bits, and a file in it:
.PP
.EX
litepcie_util mem read \-\-offset 0x100 \-\-length 64 \-\-width 4
litepcie_util mem load \-\-file samples.bin && litepcie_util mem verify \-\-file samples.bin
.EE
.PP
Ten seconds of a stream, with a ring that lets the disk be late:
.PP
.EX
litepcie_util stream record \-\-file packets.bin \-\-time 10 \-\-ring 64M
.EE
.PP
What all programs do with the card, a line per second:
.PP
.EX
litepcie_util top \-b
.EE
.PP
All that a report of a fault needs:
.PP
.EX
sudo litepcie_util report > report.json
.EE
.SH SEE ALSO
.B litepcie_rescan \-\-help
(load another bitstream without a reboot),
.BR lspci (8),
.BR modprobe (8)
"""


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    # A line that begins with a dot or an apostrophe would be a request.
    return "\n".join("\\&" + line if line[:1] in ".'" else line for line in text.split("\n"))


def sentence(text):
    return text[:1].upper() + text[1:] + "."


def man_option(option):
    name  = f"\\-\\-{roff(option['name'])}"
    value = f' " \\fI{roff(option["argument"].lower())}\\fR"' if option["argument"] else ""
    if option["letter"]:
        head = f'.BR \\-{option["letter"]} , " {name}"{value}'
    else:
        head = f".BR {name}{value}" if value else f".B {name}"
    lines = [".TP", head, roff(sentence(option["help"].removesuffix("; one of")))]
    if option["choices"]:
        lines.append("Choose one of:")
        lines += [".RS", *(line for choice in option["choices"] for line in (".TP", f".B {roff(choice)}")), ".RE"]
    return lines


def man(tables):
    head  = HEAD.strip().replace("@VERSION@", check_version.version())
    lines = [f'.\\" {line}' for line in (*SPDX, MADE)] + head.split("\n")
    for option in tables["options"]:
        lines += man_option(option)
    lines.append(".SH COMMANDS")
    for command in tables["commands"]:
        lines.append(f".SS {command['name']}")
        if command["argument"]:
            lines += [roff(command["argument"].lower()), ".PP"]
        lines.append(roff(sentence(command["summary"])))
        for paragraph in filter(None, command["details"].split("\n\n")):
            lines += [".PP", roff(paragraph)]
        for option in command["options"]:
            lines += man_option(option)
    lines.append(".SH EXIT STATUS")
    for exit_status in tables["exit_statuses"]:
        lines += [".TP", f".B {exit_status['status']}", sentence(exit_status["meaning"])]
    return "\n".join(lines + TAIL.strip().split("\n")) + "\n"

# Completions --------------------------------------------------------------------------------------


def comments():
    return "".join(f"# {line}\n" for line in (*SPDX[:2], "", MADE)).replace("# \n", "#\n")


def spellings(option):
    return [f"--{option['name']}"] + ([f"-{option['letter']}"] if option["letter"] else [])


def takes_file(option):
    return option["argument"] in ("FILE", "DIR") or option["name"] == "device"


def with_choices(tables):
    """(command, option) of each option with a list of values."""
    return [(c, o) for c in tables["commands"] for o in c["options"] if o["choices"]]


def bash(tables):
    names  = " ".join(c["name"] for c in tables["commands"])
    common = " ".join(f"--{o['name']}" for o in tables["options"])
    lines  = ["_litepcie_util()", "{",
        "\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}",
        f'\tlocal commands="{names}"', f'\tlocal options="{common}" command="" word', "",
        '\tfor word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
        '\t\t[[ " $commands " == *" $word "* ]] && { command=$word; break; }', "\tdone", "",
        "\tcase $command:$previous in", "\t*:-d | *:--device)",
        '\t\tmapfile -t COMPREPLY < <(compgen -f -- "${current:-/dev/litepcie}")', "\t\treturn ;;"]
    for command, option in with_choices(tables):
        where = " | ".join(f"{command['name']}:{name}" for name in spellings(option))
        lines += [f"\t{where})",
            f"\t\toptions=\"{' '.join(option['choices'])}\"",
            '\t\tmapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")', "\t\treturn ;;"]
    files = [f"{c['name']}:{n}" for c in tables["commands"] for o in c["options"] if takes_file(o)
        for n in spellings(o)]
    lines += ["\t" + " | ".join(files) + ")", '\t\tcompopt -o filenames 2> /dev/null',
        '\t\tmapfile -t COMPREPLY < <(compgen -f -- "$current")', "\t\treturn ;;"]
    valued = [f"*:{n}" for o in tables["options"] if o["argument"] and o["name"] != "device" for n in spellings(o)]
    valued += [f"{c['name']}:{n}" for c in tables["commands"] for o in c["options"]
        if o["argument"] and not o["choices"] and not takes_file(o) for n in spellings(o)]
    lines += ["\t" + " | \\\n\t".join(valued) + ")", "\t\treturn ;;", "\tesac", "\tcase $command in"]
    for command in filter(lambda c: c["options"], tables["commands"]):
        own = " ".join(f"--{o['name']}" for o in command["options"])
        lines += [f"\t{command['name']})", f'\t\toptions="$options {own}" ;;']
    lines += ["\tesac", "\tif [[ $current == -* ]]; then",
        '\t\tmapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")',
        "\telif [[ -z $command || $command == help ]]; then",
        '\t\tmapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")', "\tfi", "}",
        "complete -F _litepcie_util litepcie_util"]
    return "# shellcheck shell=bash\n".join(("", comments())) + "\n" + "\n".join(lines) + "\n"


def quoted(text):
    return text.replace("\\", "\\\\").replace("'", "'\\''")


def zsh_option(option):
    help_ = quoted(option["help"]).replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    value = ""
    if option["argument"]:
        action = f"({' '.join(option['choices'])})" if option["choices"] else \
            "_files" if takes_file(option) else " "
        value = f":{option['argument']}:{action}"
    return [f"'{name}{'=' if value and name[:2] == '--' else ''}[{help_}]{value}'" for name in spellings(option)]


def zsh(tables):
    common = [text for o in tables["options"] for text in zsh_option(o)]
    lines  = ["_litepcie_util() {", "\tlocal state line", "\tlocal -a commands common", "\tcommands=("]
    lines += [f"\t\t'{c['name']}:{quoted(c['summary'])}'" for c in tables["commands"]]
    lines += ["\t)", "\tcommon=(", *(f"\t\t{text}" for text in common), "\t)",
        "\t_arguments -C $common '1: :->command' '*:: :->rest'", "\tcase $state in",
        "\tcommand)", "\t\t_describe command commands ;;", "\trest)", "\t\tcase $line[1] in"]
    for command in filter(lambda c: c["options"], tables["commands"]):
        own = [text for o in command["options"] for text in zsh_option(o)]
        lines += [f"\t\t{command['name']})", "\t\t\t_arguments $common \\",
            " \\\n".join(f"\t\t\t\t{text}" for text in own) + " ;;"]
    lines += ["\t\thelp)", "\t\t\t_describe command commands ;;", "\t\t*)", "\t\t\t_arguments $common ;;",
        "\t\tesac ;;", "\tesac", "}", '_litepcie_util "$@"']
    return f"#compdef {PROG}\n" + comments() + "\n" + "\n".join(lines) + "\n"


def fish_option(option, condition):
    value = f" -x -a '{' '.join(option['choices'])}'" if option["choices"] else \
        " -r -F" if takes_file(option) else " -x" if option["argument"] else ""
    letter = f" -s {option['letter']}" if option["letter"] else ""
    return f"complete -c {PROG}{condition}{letter} -l {option['name']}{value} -d '{quoted(option['help'])}'"


def fish(tables):
    lines = [f"complete -c {PROG} -f"]
    lines += [f"complete -c {PROG} -n __fish_use_subcommand -a {c['name']} -d '{quoted(c['summary'])}'"
        for c in tables["commands"]]
    names = " ".join(c["name"] for c in tables["commands"])
    lines.append(f"complete -c {PROG} -n '__fish_seen_subcommand_from help' -a '{names}'")
    lines += [fish_option(o, "") for o in tables["options"]]
    lines += [fish_option(o, f" -n '__fish_seen_subcommand_from {c['name']}'")
        for c in tables["commands"] for o in c["options"]]
    return comments() + "\n" + "\n".join(lines) + "\n"

# Main ---------------------------------------------------------------------------------------------

PAGES = {"litepcie_util.1": man, "litepcie_util.bash": bash, "_litepcie_util": zsh, "litepcie_util.fish": fish}


@functools.cache
def tables():
    """Builds the tool and returns its tables."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "-C", str(USER), f"BUILD={folder}", f"{folder}/{PROG}"],
            check=True, stdout=subprocess.DEVNULL)
        return json.loads(subprocess.run([f"{folder}/{PROG}", "help", "--json"], check=True,
            capture_output=True).stdout)


def main(argv=None):
    return generated.main(argv, "tools.command_pages", "Man page and completions of litepcie_util, from its tables.",
        {USER / name: lambda _, page=page: page(tables()) for name, page in PAGES.items()})


if __name__ == "__main__":
    sys.exit(main())
