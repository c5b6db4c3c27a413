# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completion of gid-cockpit in bash: its commands and options, and the domains of the file.

# The name of a file, in `config`, as it was typed: with quotes and ~. Nothing of it is run.
_gid_cockpit_file() {
	config=${1//\\/}
	config=${config#[\"\']} config=${config%[\"\']}
	[[ $config != "~/"* ]] || config=$HOME${config#"~"}
}

# Reads one word. Of --option=value bash makes three, and other shells one.
_gid_cockpit_read() {
	case $1 in
	-c | --config) option=config ;;
	-n | --lines) option=lines ;;
	=) ;;
	--config=*) _gid_cockpit_file "${1#*=}" ;;
	-*) option='' ;;
	*)
		case $option in
		config) _gid_cockpit_file "$1" ;;
		lines) ;;
		*) command=${command:-$1} ;;
		esac
		option=''
		;;
	esac
}

_gid_cockpit() {
	local word=${COMP_WORDS[COMP_CWORD]} config=/etc/gidway/gidway.conf command='' option='' words='' i
	for ((i = 1; i < COMP_CWORD; i++)); do
		_gid_cockpit_read "${COMP_WORDS[i]}"
	done
	case $word in
	=) word='' ;;
	--config=*) option=config word=${word#*=} ;;
	esac
	case $option in
	config)
		compopt -o filenames 2>/dev/null # as that of gidctl does
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	lines) ;;
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
				-- "$config" 2>/dev/null)
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _gid_cockpit gid-cockpit
