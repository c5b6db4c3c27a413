# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completion of gid-cockpit in bash: its commands and options, and the domains of the file.

_gid_cockpit() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' words='' i
	local config=/etc/gidway/gidway.conf
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-c | --config) config=${COMP_WORDS[++i]} ;;
		-n | --lines) ((i++)) ;;
		-*) ;;
		*) command=${command:-${COMP_WORDS[i]}} ;;
		esac
	done
	case $before in
	-c | --config)
		compopt -o filenames 2>/dev/null # as that of gidctl does
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	-n | --lines) ;;
	*)
		if [[ -z $command && $word == -* ]]; then
			words='--config --help --version'
		elif [[ -z $command ]]; then
			words='check down guest init libvirt-xml logs podman-args qemu-args quadlet reload run screenshot status up'
		elif [[ $word == -* ]]; then
			case $command in
			status | podman-args | qemu-args) words='--config --json --help' ;;
			logs) words='--config --follow --lines --help' ;;
			*) words='--config --help' ;;
			esac
		elif [[ $command != check && $command != init ]]; then
			# Names alone: compgen would run what is between $( and ).
			words=$(sed -n 's/^[[:space:]]*\[domain[[:space:]]*\([[:alnum:]._-]*\)[[:space:]]*\].*/\1/p' \
				"$config" 2>/dev/null)
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _gid_cockpit gid-cockpit
