# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completion of gidctl in bash: its commands and options, domains, their streams; and of the programs beside
# it, by what their --help tells.

# A name with a space is to be quoted. For other shells offer.bash asks, and quotes nothing.
_gid_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# Those that run here.
_gidctl_domains() {
	local socket
	for socket in "${GID_RUNTIME_DIR:-/run/gidway}"/*/gidd.sock; do
		[[ ! -S $socket ]] || basename "$(dirname "$socket")"
	done
}

# Of a configuration, as gidd reads it.
_gidd_domains() {
	gidd "$@" --check --json 2>/dev/null | grep -oE '"name": "[^"]*"' | cut -d '"' -f 4
}

# Streams that the domain, else that which is asked, may read of others: each with whose it is.
_gidctl_readable() {
	gidctl ${1:+-d "$1"} list readable 2>/dev/null | sed 1d
}

# Domains whose streams the given one can read, wherever they run.
_gidctl_owners() {
	local stream owner
	{
		_gidctl_domains
		while read -r stream owner; do echo "$owner"; done < <(_gidctl_readable "$1")
	} | sort -u
}

# Of the domain, else of that which is asked. One that runs elsewhere is known by its second, the reader.
_gidctl_streams() {
	local stream owner
	{
		gidctl ${1:+-d "$1"} --json list streams 2>/dev/null | sed -n 's/^.*"name" *: *"\([^"]*\)".*/\1/p'
		while read -r stream owner; do
			[[ $owner != "$1" ]] || echo "$stream"
		done < <(_gidctl_readable "$2")
	} | sort -u
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
		_gid_files "$word"
		return
		;;
	-d | --domain | --from) words=$(_gidctl_domains) ;;
	-i | -n | --interval | --frames | --wait) ;;
	*)
		if [[ $word == -* ]]; then
			words='--all --assurance --config --domain --frames --from --help --interval --json --once --output
				--plain --version --wait'
		else
			case $command in
			'') words='doctor list revoke seal snap status top unseal watch' ;;
			list) words='slabs streams readable subscriptions' ;;
			revoke) words=$(if ((at)); then _gidctl_streams "${COMP_WORDS[at]}"; else _gidctl_domains; fi) ;;
			snap | watch)
				words=$(if ((at)); then
					_gidctl_streams "${COMP_WORDS[at]}" "$domain"
				else
					_gidctl_owners "$domain"
					_gidctl_streams "$domain"
				fi)
				;;
			esac
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

# Programs of which --help tells all: options, and commands where there are some. Else files.
_gid_options() {
	local program=$1 word=$2 before=$3 words='' domain='' reader='' config=() ask i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-c | --config) config=("${COMP_WORDS[@]:i:2}") ;;
		-d | --domain | --desktop) domain=${COMP_WORDS[i + 1]} ;;
		--reader) reader=${COMP_WORDS[i + 1]} ;;
		esac
	done
	ask=("$program" --help)
	[[ $COMP_CWORD == 1 || ${COMP_WORDS[1]} == -* ]] || ask=("$program" "${COMP_WORDS[1]}" --help)
	case $before in
	-d | --domain)
		case $program in
		gidd) words=$(_gidd_domains "${config[@]}") ;; # which does not run yet
		gid-input | gid-pipewire | gid-view) words=$(_gidctl_owners "$reader") ;; # whose stream it is
		*) words=$(_gidctl_domains) ;;
		esac
		;;
	--desktop) words=$(_gidctl_owners "$reader") ;;
	--reader) words=$(_gidctl_domains) ;;
	-s | --stream) words=$(_gidctl_streams "$domain" "$reader") ;;
	*)
		if [[ $word == -* ]]; then
			words=$("${ask[@]}" 2>/dev/null | grep -oE -- '(^|[ ,])--[a-z][a-z-]*' | tr -d ' ,' | sort -u)
		elif ((COMP_CWORD == 1)); then
			words=$("${ask[@]}" 2>/dev/null | sed -n 's/^    \([a-z][a-z-]*\)  .*/\1/p')
		fi
		;;
	esac
	if [[ -n $words ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	else
		_gid_files "$word"
	fi
}

complete -F _gidctl gidctl
complete -F _gid_options gid-capture gid-cluster gid-compose gid-engine gid-evaluate gid-input gid-map gid-meter gid-monitor gid-pipewire gid-recorder \
	gid-telltale gid-timeline gid-view gidd
