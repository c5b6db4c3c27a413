# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completion of gidctl in bash: its commands and options, domains that run here, their streams.

_gidctl_domains() {
	local socket
	for socket in "${GID_RUNTIME_DIR:-/run/gidway}"/*/gidd.sock; do
		[[ ! -S $socket ]] || basename "$(dirname "$socket")"
	done
}

# Of the domain, else of that which is asked.
_gidctl_streams() {
	gidctl ${1:+-d "$1"} --json list streams 2>/dev/null | sed -n 's/^.*"name" *: *"\([^"]*\)".*/\1/p'
}

_gidctl() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' domain=''
	local words='' i at=0
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-d | --domain) domain=${COMP_WORDS[++i]} ;;
		-c | -i | -o | -n | --config | --interval | --output | --frames | --wait | --from) ((i++)) ;;
		-*) ;;
		*) if [[ -z $command ]]; then command=${COMP_WORDS[i]}; else at=$i; fi ;;
		esac
	done
	case $before in
	-c | --config | -o | --output)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	-d | --domain | --from) words=$(_gidctl_domains) ;;
	-i | -n | --interval | --frames | --wait) ;;
	*)
		if [[ $word == -* ]]; then
			words='--all --config --domain --frames --from --help --interval --json --once --output
				--plain --version --wait'
		else
			case $command in
			'') words='doctor list revoke snap status top watch' ;;
			list) words='slabs streams subscriptions' ;;
			revoke | snap | watch)
				words=$(if ((at)); then
					_gidctl_streams "${COMP_WORDS[at]}"
				else
					_gidctl_domains
					[[ $command == revoke ]] || _gidctl_streams "$domain"
				fi)
				;;
			esac
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _gidctl gidctl
