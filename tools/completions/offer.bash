# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# offer.bash FILE PROGRAM WORD…: what FILE, the completion for bash of the program, offers for the last
# word, a line each. So other shells offer the same.

# shellcheck source=/dev/null
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
[[ $(complete -p "$1") =~ \ -F\ ([^ ]+) ]]
"${BASH_REMATCH[1]}" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
# bash has the value of --option=value alone; who asks here has one word.
[[ ${COMP_WORDS[COMP_CWORD]} != --*=* ]] || COMPREPLY=("${COMPREPLY[@]/#/"${COMP_WORDS[COMP_CWORD]%%=*}="}")
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
