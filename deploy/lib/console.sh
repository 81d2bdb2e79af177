# shellcheck shell=bash
# What deploy/run says about the console: where it is, and who may log in.

# Who may log in to the console, as $console_login says it. Where the database has no admin, one is made with a password that is
# printed this once: only its hash is kept. Where it has one, nothing is made or changed.
# shellcheck disable=SC2034
choose_admin() {
    local admin=admin@localhost members password
    console_login=''
    if [[ ${STOREHOOK_CONSOLE_AUTH:-login} != login ]]; then
        console_login="the proxy of STOREHOOK_CONSOLE_AUTH logs people in"
        return 0
    fi
    members=$("${storehook:?}" staff list --format json 9>&-) || fail "the members of the staff cannot be read"
    if [[ $members == *'"role":"admin"'* ]]; then
        console_login="log in as a member of the staff (storehook staff list); another password for one: $(
            printf '%q staff password EMAIL --generate --config %q' "$storehook" "${settings:?}"
        )"
        return 0
    fi
    # By itself this stops before it is seen: the password would be lost.
    [[ ${once:?} == false ]] || return 0
    "$storehook" staff add "$admin" --role admin --as deploy/run --format json >/dev/null 9>&- ||
        fail "no admin could be made for the console"
    password=$("$storehook" staff password "$admin" --generate --as deploy/run --format table 9>&-) ||
        fail "no password could be made for $admin; storehook staff password $admin --generate --config $settings makes one"
    console_login="log in as $admin with the password ${password%%$'\n'*}, which is shown this once"
}

# Its first page. Where the environments that are served have no Production, the pages that begin with it would be empty.
console_url() {
    local url=http://127.0.0.1:${console_port:?}${STOREHOOK_CONSOLE_PATH:-/}
    case ${STOREHOOK_ENVIRONMENTS:-Production} in
    *Production*) ;;
    *Sandbox*) url+='?environment=Sandbox' ;;
    esac
    printf '%s' "$url"
}
