# shellcheck shell=bash
# A PostgreSQL server of the script's own. No other server is ever touched.

postgres_pid=0
postgres_programs=''

# Finds the server's programs, the newest or those of a major version.
find_postgres() {
    local directory version=${1:-}
    postgres_programs=''
    while read -r directory; do
        [[ -z $version || $directory == */"$version"/bin ]] || continue
        if [[ -x $directory/initdb && -x $directory/postgres && -x $directory/psql ]]; then
            postgres_programs=$directory
        fi
    done < <(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V)
    [[ -n $postgres_programs ]]
}

# Whom the server runs as: the owner of the directory it gets. PostgreSQL refuses to be root.
choose_account() {
    local data=$1 user group
    launch_as=()
    user=$(stat -c %u -- "$data")
    group=$(stat -c %g -- "$data")
    if ((EUID == user)) && ((EUID != 0)); then return 0; fi
    ((EUID == 0)) || fail "$data belongs to $(stat -c %U -- "$data"); run this as that user, or as root"
    ((user != 0)) || fail "$data belongs to root, as whom PostgreSQL does not run; chown it to postgres"
    launch_as=(setpriv --reuid="$user" --regid="$group" --clear-groups)
}

# Runs a command as the server's account, from a directory that it may stand in.
as_account() { (cd / && LC_ALL=C.UTF-8 "${launch_as[@]}" "$@"); }

# make_cluster DATA LOG OPTION…: a new cluster, whole or not at all.
make_cluster() {
    local data=$1 log=$2
    shift 2
    as_account rm -rf -- "$data.new"
    as_account "$postgres_programs/initdb" --pgdata="$data.new" --username=storehook --encoding=UTF8 --locale=C.UTF-8 \
        --auth-local=trust --no-instructions "$@" </dev/null >"$log" 2>&1 || {
        show_tail "$log"
        fail "PostgreSQL could not make its data directory $data"
    }
    as_account mv -- "$data.new" "$data"
}

# start_postgres DATA SOCKETS PORT LOG OPTION…: starts the server and returns when it answers; fails if it ends instead.
start_postgres() {
    local data=$1 sockets=$2 port=$3 log=$4 waited=0
    shift 4
    LC_ALL=C.UTF-8 launch postgres_pid INT "$postgres_programs/postgres" -D "$data" -k "$sockets" -p "$port" "$@" \
        >"$log" 2>&1
    until "$postgres_programs/pg_isready" -q -h "$sockets" -p "$port" -U storehook -d postgres; do
        is_running "$postgres_pid" || return 1
        # After a crash it first reads its log again, which takes as long as it takes.
        ((waited++ < 3000)) || return 1
        pause 0.1
    done
    # Another server's answer would be a mistake, and the one we started would be gone.
    is_running "$postgres_pid"
}

# Stops the server we started: first as one asks (open sessions end, the data is written), then as one must.
stop_postgres() {
    is_running "$postgres_pid" || return 0
    kill -s INT "$postgres_pid" 2>/dev/null || true
    wait_until_gone "$postgres_pid" 60 || terminate PostgreSQL "$postgres_pid" QUIT 10
    postgres_pid=0
}

# A path as a value in a connection URI.
percent_encoded() {
    local text=$1 out='' char index LC_ALL=C
    for ((index = 0; index < ${#text}; index++)); do
        char=${text:index:1}
        case $char in
        [A-Za-z0-9/._~-]) out+=$char ;;
        *) out+=$(printf '%%%02X' "'$char") ;;
        esac
    done
    printf '%s' "$out"
}
