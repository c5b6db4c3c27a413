# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completion of gidctl in bash: its commands and options, domains, their streams; and of the programs beside
# it, by what their --help tells.

# A name with a space is to be quoted. For other shells offer.bash asks, and quotes nothing.
_gid_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# The words that were typed, in `said`. Of --option=value bash makes three, and other shells one: here they are two.
_gid_read() {
	local i
	said=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--*=*) said+=("${COMP_WORDS[i]%%=*}" "${COMP_WORDS[i]#*=}") ;;
		=) ((i < COMP_CWORD)) || said+=("") ;;
		*) said+=("${COMP_WORDS[i]}") ;;
		esac
	done
}

# Those of some words that begin as what was typed. compgen -W would run what $(…) in one of them says, and a gidd
# that was taken over may call a stream so. No name, option or command has other characters than these.
_gid_offer() {
	local words one IFS=$' \t\n'
	read -r -d '' -a words <<<"$1"
	COMPREPLY=()
	for one in "${words[@]}"; do
		[[ $one != "$2"* || $one == *[!A-Za-z0-9._/-]* ]] || COMPREPLY+=("$one")
	done
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
	local said word before command='' domain='' words='' i at=0
	_gid_read
	word=${said[-1]} before=${said[-2]}
	for ((i = 1; i < ${#said[@]} - 1; i++)); do
		case ${said[i]} in
		-d | --domain) domain=${said[++i]} ;;
		-c | -i | -o | -n | --config | --interval | --output | --frames | --wait | --from) ((i++)) ;;
		-*) ;;
		*) if [[ -z $command ]]; then command=${said[i]}; else at=$i; fi ;;
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
			revoke) words=$(if ((at)); then _gidctl_streams "${said[at]}"; else _gidctl_domains; fi) ;;
			snap | watch)
				words=$(if ((at)); then
					_gidctl_streams "${said[at]}" "$domain"
				else
					_gidctl_owners "$domain"
					_gidctl_streams "$domain"
				fi)
				;;
			esac
		fi
		;;
	esac
	_gid_offer "$words" "$word"
}

# Programs of which --help tells all: options, and commands where there are some. Else files.
_gid_options() {
	local program=$1 said word before words='' domain='' reader='' config=() ask i
	_gid_read
	word=${said[-1]} before=${said[-2]}
	for ((i = 1; i < ${#said[@]} - 1; i++)); do
		case ${said[i]} in
		-c | --config) config=("${said[@]:i:2}") ;;
		-d | --domain | --desktop) domain=${said[i + 1]} ;;
		--reader) reader=${said[i + 1]} ;;
		esac
	done
	ask=("$program" --help)
	[[ ${#said[@]} == 2 || ${said[1]} == -* ]] || ask=("$program" "${said[1]}" --help)
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
		elif ((${#said[@]} == 2)); then
			words=$("${ask[@]}" 2>/dev/null | sed -n 's/^    \([a-z][a-z-]*\)  .*/\1/p')
		fi
		;;
	esac
	if [[ -n $words ]]; then
		_gid_offer "$words" "$word"
	else
		_gid_files "$word"
	fi
}

complete -F _gidctl gidctl
complete -F _gid_options gid-capture gid-cluster gid-compose gid-engine gid-evaluate gid-input gid-map gid-meter gid-monitor gid-pipewire gid-recorder \
	gid-telltale gid-timeline gid-view gidd
