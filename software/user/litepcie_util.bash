# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
#
# Made by tools/command_pages.py from the tables of the tool: do not edit.

_litepcie_util()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
	local commands="list info config bus link mem scratch_test dma_test pio_test bench stream top report reset load flash calc help version"
	local options="--device --card --json --version --help" command="" word

	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		[[ " $commands " == *" $word "* ]] && { command=$word; break; }
	done

	case $command:$previous in
	*:-d | *:--device)
		mapfile -t COMPREPLY < <(compgen -f -- "${current:-/dev/litepcie}")
		return ;;
	mem:--width | mem:-w)
		options="1 2 4 8"
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
		return ;;
	mem:--pattern)
		options="constant counter random"
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
		return ;;
	dma_test:--sequence | dma_test:-s)
		options="write read read-then-write write-then-read read-and-write"
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
		return ;;
	dma_test:--pattern | dma_test:-p)
		options="prbs counter constant file"
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
		return ;;
	dma_test:--header)
		options="12 16"
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
		return ;;
	bench:--direction | bench:-s)
		options="read write both"
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
		return ;;
	calc:--header)
		options="12 16"
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
		return ;;
	calc:--acks)
		options="data all"
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
		return ;;
	bus:--names | link:--save | mem:--file | mem:-f | dma_test:--file | dma_test:-f | bench:--csv | stream:--file | stream:-f | load:--output-dir | flash:--output-dir)
		compopt -o filenames 2> /dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return ;;
	*:--card | \
	*:-c | \
	config:--interval-ms | \
	config:--count | \
	link:--serial | \
	link:--baud | \
	link:--address | \
	link:--seconds | \
	link:--capture | \
	link:--test | \
	link:--registers | \
	mem:--offset | \
	mem:-o | \
	mem:--length | \
	mem:-l | \
	mem:--to | \
	mem:--value | \
	mem:--seed | \
	dma_test:--length | \
	dma_test:-l | \
	dma_test:--iterations | \
	dma_test:-n | \
	dma_test:--time | \
	dma_test:-t | \
	dma_test:--interval | \
	dma_test:-i | \
	dma_test:--offset | \
	dma_test:-o | \
	dma_test:--host-offset | \
	dma_test:--depth | \
	dma_test:--cards | \
	dma_test:--value | \
	dma_test:--seed | \
	dma_test:--latency-ns | \
	pio_test:--count | \
	pio_test:-n | \
	pio_test:--offset | \
	pio_test:-o | \
	pio_test:--user-address | \
	bench:--min | \
	bench:--max | \
	bench:--depth | \
	bench:--offset | \
	bench:-o | \
	bench:--time-ms | \
	bench:-t | \
	stream:--stream | \
	stream:-s | \
	stream:--length | \
	stream:-l | \
	stream:--packets | \
	stream:-n | \
	stream:--packet-bytes | \
	stream:--time | \
	stream:-t | \
	stream:--timeout | \
	stream:--ring | \
	stream:--seed | \
	top:--interval-ms | \
	top:-i | \
	top:--count | \
	top:-n | \
	report:--limit | \
	reset:--channel | \
	load:--gen | \
	load:--lanes | \
	load:--data-width | \
	load:--cable | \
	load:--port | \
	flash:--gen | \
	flash:--lanes | \
	flash:--data-width | \
	flash:--cable | \
	calc:--gen | \
	calc:--lanes | \
	calc:--mps | \
	calc:--mrrs | \
	calc:--completion | \
	calc:--length | \
	calc:-l | \
	calc:--latency-ns | \
	calc:--tags)
		return ;;
	esac
	case $command in
	config)
		options="$options --bytes --watch --interval-ms --count" ;;
	bus)
		options="$options --cards --names" ;;
	link)
		options="$options --serial --baud --address --clear --seconds --capture --test --registers --save" ;;
	mem)
		options="$options --offset --length --to --file --value --width --pattern --seed --pio" ;;
	dma_test)
		options="$options --sequence --length --iterations --time --interval --json-lines --preserve --offset --host-offset --depth --cards --pattern --value --file --seed --latency-ns --header" ;;
	pio_test)
		options="$options --count --offset --user-address" ;;
	bench)
		options="$options --direction --min --max --depth --offset --time-ms --csv" ;;
	stream)
		options="$options --stream --file --length --packets --packet-bytes --time --timeout --ring --seed" ;;
	top)
		options="$options --interval-ms --count --batch" ;;
	report)
		options="$options --limit" ;;
	reset)
		options="$options --channel" ;;
	load)
		options="$options --gen --lanes --data-width --output-dir --cable --port" ;;
	flash)
		options="$options --gen --lanes --data-width --output-dir --cable" ;;
	calc)
		options="$options --gen --lanes --mps --mrrs --completion --header --ecrc --length --latency-ns --tags --acks" ;;
	esac
	if [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
	elif [[ -z $command || $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
	fi
}
complete -F _litepcie_util litepcie_util
