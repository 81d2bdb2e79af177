# shellcheck shell=bash
# Runs the tests, lists at the end what failed, and tries once more what may have failed by chance: tests hold real servers and
# processes to deadlines on machines that are small and shared.

# More than so many failures are no bad luck, and are not tried again.
most_retried=5

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
    for pid in "${!tasks[@]}"; do terminate "the tests" "$pid" TERM 120; done
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

# without_place: names of tests, without the place in a file that stands behind them.
without_place() { sed -E 's|/[^/]+\.swift:[0-9]+:[0-9]+$||'; }

# list_tests BUNDLE: the names of all tests, a line each.
list_tests() { "$1" --testing-library swift-testing --list-tests | { grep '[.].*(' || true; } | without_place | sort -u; }

# A regular expression for the tests of targets that ask a database: those that import its library. The others do not depend on the server.
database_tests() {
    printf '^(%s)[.]' "$(
        grep -rlE --include='*.swift' '^(@testable )?import Postgres$' "${root:?}"/Tests/*Tests |
            sed -E 's|.*/Tests/([^/]+)/.*|\1|' | sort -u | paste -sd '|'
    )"
}

# … for the suites with long proofs: suites with a file that reads the number of samples, and the suite with one long life.
sampled_tests() {
    local file target
    printf '^(%s)/' "$(
        {
            echo 'ProgramTests[.]GoldenTests'
            grep -rlEw --include='*.swift' 'takesAllSamples|sampled|sampledSeeds|samples|isEnough' "${root:?}"/Tests/*Tests |
                while IFS= read -r file; do
                    target=${file#"$root/Tests/"}
                    sed -nE "s/^(final class|struct|enum) ([A-Za-z]+).*/${target%%/*}[.]\\2/p" "$file"
                done
        } | sort -u | paste -sd '|'
    )"
}

# … for a short run on a server of another version: ServedServerTests says that every command is among them.
served_tests() {
    printf '^(%s|%s)/' 'ProgramTests[.](GoldenTests|ServedServerTests|LoginTests|MaintainTests|AppleCommandTests)' \
        'SchemaTests[.](GuardedCastTests|SessionSettingTests|PartitionTests|RetentionTests)'
}

# choose_tests [--filter REGEX | --skip REGEX | --without FILE]…: of the names on standard input those that a filter matches, or all
# without one, but for those to be skipped, and for the lines of FILE.
choose_tests() {
    local filters=() skips=() without=/dev/null
    while (($# > 0)); do
        case $1 in
        --filter) filters+=(-e "${2:?--filter takes a regular expression}") && shift ;;
        --skip) skips+=(-e "${2:?--skip takes a regular expression}") && shift ;;
        --without) without=${2:?--without takes a file} && shift ;;
        *) fail "what is $1; --help shows the usage" ;;
        esac
        shift
    done
    if ((${#filters[@]} == 0)); then filters=(-e ''); fi
    { grep -E "${filters[@]}" || true; } | { grep -vxFf "$without" || true; } |
        if ((${#skips[@]} > 0)); then grep -vE "${skips[@]}" || true; else cat; fi
}

# in_turn COUNT: a number below COUNT, 10 at most, by the run's seed.
in_turn() {
    local digits=0${STOREHOOK_TEST_SEED//[!0-9]/}
    printf '%d' $((${digits: -1} % $1))
}

# waiting_tests LIST TURNS: of the tests in the file TURNS, a name a line, those that wait for another run: a run takes every fifth.
waiting_tests() {
    local unknown
    unknown=$({ grep -vxFf "$1" -- "$2" || true; } | head -n 1)
    [[ -z $unknown ]] || fail "$2 names what is no test: $unknown"
    awk -v turn="$(in_turn 5)" 'NR % 5 != turn' "$2"
}

# measured_times EVENTS: how many seconds each test took, a line each: the seconds, a tab, its name.
measured_times() {
    awk '
        function value(pattern, skipped) {
            return match($0, pattern) ? substr($0, RSTART + skipped, RLENGTH - skipped) : ""
        }
        /"kind":"test(Started|Ended)"/ {
            id = value("\"testID\":\"([^\"\\\\]|\\\\.)*", 10)
            gsub(/\\\//, "/", id)
            if (!sub(/\/[^\/]+\.swift:[0-9]+:[0-9]+$/, "", id)) next
            at = value("\"absolute\":[0-9.]+", 11)
            if (/"kind":"testStarted"/) began[id] = at
            else if (id in began) printf "%.2f\t%s\n", at - began[id], id
        }
    ' "$1" | LC_ALL=C sort -t $'\t' -k 2
}

# divide_tests LIST TIMES PARTS DIRECTORY: writes DIRECTORY/part-1 and so on, each a regular expression for the tests of one process,
# so that all take about as long: the longest suite first, each to the process that has least to do. TIMES is what measured_times
# wrote; a test that it does not know counts as a second.
divide_tests() {
    awk -F '\t' '
        FILENAME == ARGV[1] { seconds[$2] = $1; next }
        {
            suite = $1
            sub(/\/.*/, "", suite)
            total[suite] += $1 in seconds ? seconds[$1] : 1
            name = $1
            gsub(/[][\\.*^$+?(){}|]/, "\\\\&", name)
            names[suite] = names[suite] (names[suite] == "" ? "" : "|") name
        }
        END { for (suite in total) printf "%.2f\t%s\n", total[suite], names[suite] }
    ' "$2" "$1" | LC_ALL=C sort -k 1,1nr -k 2 | awk -F '\t' -v parts="$3" -v directory="$4" '
        {
            least = 1
            for (part = 2; part <= parts; part++) if (load[part] < load[least]) least = part
            load[least] += $1
            names[least] = names[least] (names[least] == "" ? "" : "|") $2
        }
        END { for (part in names) print "^(" names[part] ")(/|$)" >(directory "/part-" part) }
    '
}

# start_tests VARIABLE START BUNDLE EVENTS ARGUMENT…: one process, in which one test runs after the other: hundreds of them at
# once would starve each other of the threads that keep deadlines. `START VARIABLE COMMAND…` starts a command, notes it among
# the tasks and puts its pid into VARIABLE.
start_tests() {
    local variable=$1 start=$2 bundle=$3 events=$4
    shift 4
    "$start" "$variable" "$bundle" --testing-library swift-testing --no-parallel --event-stream-output-path "$events" "$@"
}

# show_tests DIRECTORY: a line that shows how far they are.
show_tests() {
    [[ -n $rewrite ]] || return 0
    progress "$(cat -- "$1"/events-* 2>/dev/null | grep -cE '"kind":"testEnded".*\.swift:[0-9]+:[0-9]+"') of $(
        wc -l <"$1/list"
    ) tests, $(spoken "$SECONDS")"
}

# run_side_by_side DIRECTORY START BUNDLE PROCESSES: a process for each DIRECTORY/part-N, PROCESSES at a time, with one record of
# all of them in DIRECTORY/events. What they say comes at the end, one after the other.
run_side_by_side() {
    local directory=$1 start=$2 bundle=$3 processes=$4 pid='' status=0 part_status number=0
    local -A running=()
    while [[ -e $directory/part-$((number + 1)) ]] || ((${#running[@]} > 0)); do
        while ((${#running[@]} < processes)) && [[ -e $directory/part-$((number + 1)) ]]; do
            start_tests pid "$start" "$bundle" "$directory/events-$((++number))" --filter "$(<"$directory/part-$number")" \
                >"$directory/output-$number" 2>&1
            running[$pid]=$number
        done
        show_tests "$directory"
        pause 1
        for pid in "${!running[@]}"; do
            if is_running "$pid"; then continue; fi
            part_status=0
            await "$pid" || part_status=$?
            if ((part_status > status)); then status=$part_status; fi
            unset "running[$pid]"
        done
    done
    clear_progress
    local parts=$number
    for ((number = 1; number <= parts; number++)); do
        step "Process $number"
        cat -- "$directory/output-$number"
        detail "process $number ran $(count_tests "$directory/events-$number") tests"
    done
    cat -- "$directory"/events-* >"$directory/events" 2>/dev/null || true
    return "$status"
}

# run_tests DIRECTORY START BUNDLE PROCESSES PARTS TIMES [--filter REGEX | --skip REGEX]…: runs the chosen tests of BUNDLE, divided into
# PARTS by TIMES (see divide_tests), PROCESSES at a time, with the records in DIRECTORY. Returns 0 only if every process came to its
# end, no test was forgotten, and every test held, at once or when it was tried again, alone.
run_tests() {
    local directory=$1 start=$2 bundle=$3 processes=$4 parts=$5 times=$6 status=0 pid='' began=$SECONDS verdict id count wanted runs
    local again=() failed=() flaky=()
    shift 6
    list_tests "$bundle" | choose_tests "$@" >"$directory/list" || return
    wanted=$(wc -l <"$directory/list")
    if ((wanted == 0)); then
        printf '%s: no test was run\n' "${script:?}" >&2
        return 1
    fi
    if [[ ! -e $times ]]; then times=/dev/null; fi
    divide_tests "$directory/list" "$times" "$parts" "$directory"
    runs=$(find "$directory" -name 'part-*' | wc -l)
    run_side_by_side "$directory" "$start" "$bundle" "$processes" || status=$?
    verdict=$(judge_events "$directory/events")
    count=$(count_tests "$directory/events")
    if ((status == 0)) && (($(grep -cx complete <<<"$verdict") < runs)); then status=1; fi
    if (($(grep -cx complete <<<"$verdict") == runs && wanted != count)); then
        printf '%s: there are %d tests, and %d were run\n' "$script" "$wanted" "$count" >&2
        return 1
    fi
    if ((status == 0)); then
        step "All $count tests passed, in $(spoken $((SECONDS - began)))"
        return 0
    fi

    step "What failed"
    if [[ -e $directory/events ]]; then print_failures "$directory/events"; fi
    if [[ -n ${STOREHOOK_TEST_SEED:-} ]]; then detail "chance began with STOREHOOK_TEST_SEED=$STOREHOOK_TEST_SEED"; fi
    if (($(grep -cx complete <<<"$verdict") < runs)); then
        while IFS= read -r id; do
            if [[ -n $id ]]; then detail "✘ $id did not come to its end"; fi
        done < <(findings open "$verdict")
        printf '%s: the run broke off (status %d)\n' "$script" "$status" >&2
        return "$status"
    fi
    mapfile -t failed < <(findings failed "$verdict" | sort -u)
    # A process whose tests fail leaves with 1; another status is a crash behind them, or the end of its time.
    if grep -qx outside <<<"$verdict" || ((${#failed[@]} == 0 || status > 1)); then
        printf '%s: the run failed (status %d), and not by a test alone\n' "$script" "$status" >&2
        return "$status"
    fi
    if ((${#failed[@]} > most_retried)); then
        printf '%s: %d tests failed; up to %d would have been run again\n' "$script" "${#failed[@]}" "$most_retried" >&2
        return "$status"
    fi

    for id in "${failed[@]}"; do again+=(--filter "$(exactly "$id")"); done
    step "Running again what failed, alone: ${#failed[@]} of $count tests"
    status=0
    start_tests pid "$start" "$bundle" "$directory/events-again" "${again[@]}"
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
