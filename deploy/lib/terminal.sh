# shellcheck shell=bash
# What the scripts say, and how.

if [[ -t 1 ]]; then
    bold=$'\e[1m' plain=$'\e[0m' rewrite=$'\r\e[K'
else
    bold='' plain='' rewrite=''
fi

# A new step begins.
step() { printf '%s==>%s %s\n' "$bold" "$plain" "$*"; }

# A line that belongs to the step.
detail() { printf '    %s\n' "$*"; }

# A line that is written over by the next one; only for people who watch.
progress() { if [[ -n $rewrite ]]; then printf '%s    %s' "$rewrite" "$*"; fi; }
clear_progress() { printf '%s' "$rewrite"; }

# Says in one line what is wrong and what to do, and ends the script.
fail() {
    clear_progress
    printf '%s: %s\n' "${script:?}" "$*" >&2
    exit 1
}

# The end of a log, for an error that stands in it.
show_tail() {
    local log=$1 lines=${2:-20}
    clear_progress
    printf -- '--- the last lines of %s\n' "$log" >&2
    tail -n "$lines" -- "$log" >&2 || true
    printf -- '---\n' >&2
}

# Seconds as people say them.
spoken() { if (($1 < 120)); then printf '%d s' "$1"; else printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); fi; }
