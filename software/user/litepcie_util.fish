# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
#
# Made by tools/command_pages.py from the tables of the tool: do not edit.

complete -c litepcie_util -f
complete -c litepcie_util -n __fish_use_subcommand -a list -d 'print all cards, with their links, slots and driver'
complete -c litepcie_util -n __fish_use_subcommand -a info -d 'print identity, link, counters and errors of the card'
complete -c litepcie_util -n __fish_use_subcommand -a scratch_test -d 'write patterns to the scratch register and read them back'
complete -c litepcie_util -n __fish_use_subcommand -a dma_test -d 'move data by DMA, verify it, compare the rate with theory'
complete -c litepcie_util -n __fish_use_subcommand -a help -d 'show help for the program or a command'
complete -c litepcie_util -n __fish_use_subcommand -a version -d 'print the version of the program and of the driver interface it uses'
complete -c litepcie_util -n '__fish_seen_subcommand_from help' -a 'list info scratch_test dma_test help version'
complete -c litepcie_util -s d -l device -r -d 'number, path or PCI address of the card (default /dev/litepcie0)'
complete -c litepcie_util -s c -l card -x -d 'the same as --device /dev/litepcieN'
complete -c litepcie_util -l json -d 'print JSON'
complete -c litepcie_util -s V -l version -d 'the same as the command version'
complete -c litepcie_util -s h -l help -d 'show help for the program or a command'
complete -c litepcie_util -n '__fish_seen_subcommand_from dma_test' -s s -l sequence -x -a 'write read read-then-write write-then-read read-and-write' -d 'directions and their order (default read-then-write); one of'
complete -c litepcie_util -n '__fish_seen_subcommand_from dma_test' -s l -l length -x -d 'bytes per transfer, such as 4K or 1M (default 100000)'
complete -c litepcie_util -n '__fish_seen_subcommand_from dma_test' -s n -l iterations -x -d 'measured transfers per direction (default 20)'
complete -c litepcie_util -n '__fish_seen_subcommand_from dma_test' -s o -l offset -x -d 'offset in the card'\''s memory (default 0)'
complete -c litepcie_util -n '__fish_seen_subcommand_from dma_test' -l host-offset -x -d 'offset of the host buffers in a page, 0 to 4095 (default 0)'
complete -c litepcie_util -n '__fish_seen_subcommand_from dma_test' -l seed -x -d 'seed of the test data (default 1)'
complete -c litepcie_util -n '__fish_seen_subcommand_from dma_test' -l header -x -a '12 16' -d 'request header in the theory; 16 for buffers above 4 GiB (default 12)'
