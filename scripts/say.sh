# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What the user sees of `run` and its scripts: on stderr, for stdout belongs to the command. Sourced.

bold='' red='' plain='' obeys=''
if [[ -t 2 && ${TERM-} != dumb ]]; then
	obeys=yes # control sequences
fi
if [[ -n $obeys && -z ${NO_COLOR-} ]]; then
	bold=$'\e[1m' red=$'\e[31m' plain=$'\e[m'
fi

say() {
	printf '%s%s%s\n' "$bold" "$*" "$plain" >&2
}

die() {
	complain "$*"
	exit 1
}

# The same for words that a command does not take, with the exit status that all of gidway's have.
misused() {
	complain "$*"
	exit 2
}

complain() {
	printf '%srun: %s%s\n' "$red" "$*" "$plain" >&2
}

# Shows a log, its colours only where they are wanted.
show_log() {
	if [[ -n $bold ]]; then
		cat "$@" >&2
	else
		sed 's/\x1b\[[0-9;]*[A-Za-z]//g' "$@" >&2
	fi
}

# Shows every line of its input as the state of the work: in place on a terminal, else one every ten
# seconds.
show_progress() {
	local line width shown=$SECONDS
	width=$(tput cols 2>/dev/null || echo 80)
	while IFS= read -r line; do
		if [[ -n $obeys ]]; then
			printf '\r\e[K  %.*s' $((width - 3)) "$line" >&2
		elif ((SECONDS - shown >= 10)); then
			printf '  %s\n' "$line" >&2
			shown=$SECONDS
		fi
	done
	if [[ -n $obeys ]]; then
		printf '\r\e[K' >&2
	fi
}

# Where a script has looked at its words. `run` may want to know no more: see check() there.
words_taken() {
	[[ ${GIDWAY_WORDS-} != only ]] || exit 0
}
