# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 LitePCIe SoC developers
#
# bash completion of litepcie_util. Commands, options and values are read from the tool's help.

_litepcie_util()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
	local tool=${COMP_WORDS[0]} commands command="" word

	commands=$("$tool" help 2> /dev/null | sed -n '/^commands:/,/^$/s/^  \([a-z_]*\) .*/\1/p')
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		[[ " ${commands//$'\n'/ } " == *" $word "* ]] && { command=$word; break; }
	done

	case $previous in
	-d | --device)
		mapfile -t COMPREPLY < <(compgen -f -- "${current:-/dev/litepcie}")
		return ;;
	-s | --sequence | --header)
		word=$previous
		[[ $word == -s ]] && word=--sequence
		# The values are in the line after the option.
		mapfile -t COMPREPLY < <(compgen -W "$("$tool" help dma_test 2> /dev/null |
			grep -A1 -e " $word " | tail -n 1 | tr -d ,)" -- "$current")
		return ;;
	esac
	if [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$tool" help ${command:+"$command"} 2> /dev/null |
			grep -oE -e '--[a-z-]+')" -- "$current")
	elif [[ -z $command || $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
	fi
}
complete -F _litepcie_util litepcie_util
