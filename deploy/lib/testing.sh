# shellcheck shell=bash
# Builds and runs the tests, tells at the end what failed, and tries once more what may have failed by chance: tests hold real
# servers and processes to deadlines on machines that are small and shared.

# More than so many failures are no bad luck, and are not tried again.
most_retried=5

# A target that uses what it does not declare is an error, for whoever builds the tests: so the next one builds nothing anew.
checks=(--explicit-target-dependency-import-check error)

# build_tests RUNNER
build_tests() { "$1" swift build --build-tests "${checks[@]}"; }

# Judges a run by the events that Swift Testing wrote, one JSON object a line. Prints one line a finding:
#   ended ID       a test (not a suite) came to its end, whichever, or was left out as it says of itself
#   passed ID      … and held
#   failed ID      … and did not
#   open ID        it began and never ended: the run broke off there
#   outside        something failed that belongs to no test
#   complete       the run came to its end
# What a test says stands in strings in which every quote is escaped, and so is never taken for a key.
judge_events() {
    [[ -e $1 ]] || return 0
    awk '
        function identifier(   id) {
            if (!match($0, /"testID":"([^"\\]|\\.)*"/)) return ""
            id = substr($0, RSTART + 10, RLENGTH - 11)
            gsub(/\\\//, "/", id)
            # Of a function; suites have no place in a file behind their name.
            return id ~ /\.swift:[0-9]+:[0-9]+$/ ? id : ""
        }
        /"kind":"runEnded"/ { print "complete" }
        /"kind":"issueRecorded"/ && /"isFailure":true/ && identifier() == "" { print "outside" }
        /"kind":"testStarted"/ && (id = identifier()) != "" { open[id] = 1 }
        /"kind":"testSkipped"/ && (id = identifier()) != "" { print "ended " id }
        /"kind":"testEnded"/ && (id = identifier()) != "" {
            delete open[id]
            print "ended " id
            print (/"symbol":"fail"/ ? "failed " : "passed ") id
        }
        END { for (id in open) print "open " id }
    ' "$1"
}

# findings KIND VERDICT: the ids of one kind, a line each.
findings() { sed -n "s/^$1 //p" <<<"$2"; }

# What was expected and where, for people: one line for each failure, as it was recorded.
print_failures() {
    awk '
        # Every value of the key, one after the other.
        function text(key,   found, rest) {
            rest = $0
            while (match(rest, "\"" key "\":\"([^\"\\\\]|\\\\.)*\"")) {
                found = found (found == "" ? "" : ": ") substr(rest, RSTART + length(key) + 4, RLENGTH - length(key) - 5)
                rest = substr(rest, RSTART + RLENGTH)
            }
            gsub(/\\\//, "/", found); gsub(/\\n/, " ", found); gsub(/\\"/, "\"", found)
            return found
        }
        /"kind":"issueRecorded"/ && /"isFailure":true/ {
            line = match($0, /"line":[0-9]+/) ? substr($0, RSTART + 7, RLENGTH - 7) : "?"
            print "    ✘ " (text("testID") == "" ? "outside of any test" : text("testID"))
            print "      " text("fileID") ":" line ": " text("text")
        }
    ' "$1"
}

# exactly ID: a regular expression that only this test matches.
exactly() { printf '^%s$' "$(sed 's/[][\.*^$+?(){}|/]/\\&/g' <<<"$1")"; }

# What was started and not waited for yet, by pid.
declare -A tasks=()

terminate_tasks() {
    local pid
    for pid in "${!tasks[@]}"; do terminate "swift test" "$pid" TERM 30; done
}

# await PID: waits for what was started, and returns its status.
await() {
    local status=0
    wait "$1" || status=$?
    unset "tasks[$1]"
    if ((status == 124)); then printf '%s: stopped after %s\n' "${script:?}" "${limit:-too long}" >&2; fi
    return "$status"
}

# count_tests EVENTS: how many came to an end.
count_tests() { findings ended "$(judge_events "$1")" | sort -u | wc -l; }

# run_side_by_side DIRECTORY START PART ARGUMENT…: two runs at once, with one record of both in DIRECTORY/events, and how many
# tests there are in DIRECTORY/count. What the second one says comes after the first.
run_side_by_side() {
    local directory=$1 start=$2 part=$3 pid='' other='' status=0 other_status=0
    shift 3
    "$start" pid swift test list --skip-build "${checks[@]}" >"$directory/list"
    await "$pid" || return
    grep -c '[.].*(' "$directory/list" >"$directory/count" || true
    # SwiftPM has one at a time build; nothing is built here. Yet each plans, and writes the plan that the other may be reading:
    # the second starts when the first has its tests running.
    "$start" pid swift test --ignore-lock --event-stream-output-path "$directory/events" --filter "$part" "$@"
    while [[ ! -s $directory/events ]] && kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    "$start" other swift test --ignore-lock --event-stream-output-path "$directory/events-beside" --skip "$part" "$@" \
        >"$directory/output" 2>&1
    await "$pid" || status=$?
    await "$other" || other_status=$?
    step "What ran beside"
    cat -- "$directory/output"
    detail "$(count_tests "$directory/events") tests beside $(count_tests "$directory/events-beside")"
    if [[ -e $directory/events-beside ]]; then cat -- "$directory/events-beside" >>"$directory/events"; fi
    return $((status == 0 ? other_status : status))
}

# run_tests DIRECTORY START PART ARGUMENT…: runs `swift test ARGUMENT…`, with its records in DIRECTORY; where PART is not empty
# in two runs side by side, of the tests whose names match this regular expression and of the others. `START VARIABLE COMMAND…`
# starts a command, notes it among the tasks and puts its pid into VARIABLE. Returns 0 only if every run came to its end, no
# test was forgotten, and every test held, at once or when it was tried again, alone.
run_tests() {
    local directory=$1 start=$2 part=$3 status=0 pid='' runs=1 began=$SECONDS verdict id count wanted=''
    local again=() failed=() flaky=()
    shift 3
    if [[ -n $part ]]; then
        runs=2
        run_side_by_side "$directory" "$start" "$part" "$@" || status=$?
        wanted=$(<"$directory/count")
    else
        "$start" pid swift test --event-stream-output-path "$directory/events" "$@"
        await "$pid" || status=$?
    fi
    verdict=$(judge_events "$directory/events")
    count=$(count_tests "$directory/events")
    if ((status == 0)); then
        if (($(grep -cx complete <<<"$verdict") < runs || count == 0)); then
            printf '%s: no test was run\n' "${script:?}" >&2
            return 1
        fi
    fi
    if (($(grep -cx complete <<<"$verdict") == runs)) && [[ -n $wanted && $wanted != "$count" ]]; then
        printf '%s: there are %d tests, and %d were run\n' "$script" "$wanted" "$count" >&2
        return 1
    fi
    if ((status == 0)); then
        step "All $count tests passed, in $(spoken $((SECONDS - began)))"
        return 0
    fi

    step "What failed"
    if [[ -e $directory/events ]]; then print_failures "$directory/events"; fi
    if (($(grep -cx complete <<<"$verdict") < runs)); then
        while IFS= read -r id; do
            if [[ -n $id ]]; then detail "✘ $id did not come to its end"; fi
        done < <(findings open "$verdict")
        printf '%s: the run broke off (status %d)\n' "$script" "$status" >&2
        return "$status"
    fi
    mapfile -t failed < <(findings failed "$verdict" | sort -u)
    if grep -qx outside <<<"$verdict" || ((${#failed[@]} == 0)); then
        printf '%s: swift test failed (status %d), and not by a test alone\n' "$script" "$status" >&2
        return "$status"
    fi
    if ((${#failed[@]} > most_retried)); then
        printf '%s: %d tests failed; up to %d would have been run again\n' "$script" "${#failed[@]}" "$most_retried" >&2
        return "$status"
    fi

    # The arguments as they were, but for those that choose tests.
    while (($# > 0)); do
        case $1 in
        --filter | --skip) shift ;;
        --filter=* | --skip=* | --skip-build) ;;
        *) again+=("$1") ;;
        esac
        if (($# > 0)); then shift; fi
    done
    for id in "${failed[@]}"; do again+=(--filter "$(exactly "$id")"); done
    step "Running again what failed, alone: ${#failed[@]} of $count tests"
    status=0
    "$start" pid swift test --skip-build --event-stream-output-path "$directory/events-again" "${again[@]}"
    await "$pid" || status=$?
    verdict=$(judge_events "$directory/events-again")
    step "What failed"
    for id in "${failed[@]}"; do
        if grep -qxF -- "passed $id" <<<"$verdict" && ! grep -qxF -- "failed $id" <<<"$verdict"; then
            detail "FLAKY  $id: failed once, passed when run again"
            flaky+=("$id")
        else
            detail "✘ $id: failed twice"
        fi
    done
    if ((${#flaky[@]} < ${#failed[@]} || status != 0)) || ! grep -qx complete <<<"$verdict"; then
        printf '%s: %d of the tests that failed did not pass when run again\n' \
            "$script" $((${#failed[@]} - ${#flaky[@]})) >&2
        return $((status == 0 ? 1 : status))
    fi
    printf '%s: PASSED, BUT %d FLAKY: failed once, passed when run again\n' "$script" "${#flaky[@]}" >&2
}
