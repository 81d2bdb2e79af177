# shellcheck shell=bash
# Programs that run beside the script. Only what was launched here is ever signalled, by its pid.

# The account programs are launched as; empty for the script's own.
launch_as=()

# By its pid, the shell that launched a process.
launched=()

# launch VARIABLE SIGNAL COMMAND…: starts COMMAND and puts its pid into VARIABLE; redirections are the caller's. It gets
# a session of its own, so that a Ctrl-C at the terminal reaches the script alone and the script decides who ends when;
# should the script be killed, the kernel sends it SIGNAL. Never call this in a subshell: its end would count as ours.
launch() {
    local variable=$1 signal=$2
    shift 2
    # Descriptor 9 is the lock of deploy/run. Bash has background commands ignore SIGINT; they are to have it back. The
    # signal for our death is set last, because a change of account forgets it.
    setsid env --default-signal=INT --default-signal=QUIT "${launch_as[@]}" \
        setpriv --pdeathsig "$signal" "$@" </dev/null 9>&- &
    launched[$!]=$BASHPID
    printf -v "$variable" '%d' $!
}

# Of what this shell launched its list of jobs says so: after the end the system may give the number to another process.
is_running() {
    (($1 > 0)) || return 1
    if [[ ${launched[$1]:-} == "$BASHPID" ]]; then
        grep -qxF -- "$1" <<<"$(jobs -pr)"
    else
        kill -0 "$1" 2>/dev/null
    fi
}

# Waits so many seconds, and not a moment longer when a signal comes.
pause_pid=0
pause() {
    # The callers report a killed process themselves, and better than Bash would.
    {
        sleep "$1" 9>&- &
        pause_pid=$!
        wait "$pause_pid" || true
        pause_pid=0
    } 2>/dev/null
}

# Waits until a process is gone; fails if it still runs after so many seconds.
wait_until_gone() {
    local pid=$1 tenths=$(($2 * 10))
    while is_running "$pid"; do
        ((tenths-- > 0)) || return 1
        sleep 0.1
    done
}

# terminate NAME PID SIGNAL SECONDS: asks by SIGNAL, and after SECONDS insists.
terminate() {
    local name=$1 pid=$2 signal=$3 seconds=$4
    is_running "$pid" || return 0
    kill -s "$signal" "$pid" 2>/dev/null || true
    wait_until_gone "$pid" "$seconds" && return 0
    detail "$name does not stop within $seconds s: killed"
    kill -s KILL "$pid" 2>/dev/null || true
    wait_until_gone "$pid" 5 || true
}
