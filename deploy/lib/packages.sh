# shellcheck shell=bash
# Debian packages: found out by what they bring, so that the same thing installed in another way counts too.

missing_packages=()
missing_reasons=()

# need PACKAGE WHY COMMAND…: PACKAGE is missing unless COMMAND succeeds.
need() {
    local package=$1 why=$2
    shift 2
    if ! "$@" >/dev/null 2>&1; then
        missing_packages+=("$package")
        missing_reasons+=("$why")
    fi
}

have() { command -v "$1"; }
have_library() { pkg-config --exists "$1"; }
have_curl_library() { ldconfig -p | grep -qF 'libcurl.so.4 '; }
have_cxx_library() { compgen -G '/usr/lib/gcc/*/*/libstdc++.so'; }
have_pgbouncer() { [[ -x /usr/sbin/pgbouncer ]]; }
have_certificates() { [[ -s /etc/ssl/certs/ca-certificates.crt || -s /etc/pki/tls/certs/ca-bundle.crt ]]; }

# What every build needs.
need_for_building() {
    need git "the package manager of Swift fetches with it" have git
    need ca-certificates "to fetch packages over https" have_certificates
    need g++ "the C and C++ libraries that Swift programs are linked with" have_cxx_library
    need pkg-config "finds the libraries to link with" have pkg-config
    need libpq-dev "PostgreSQL's client library" have_library libpq
    need libssl-dev "libpq is linked with it" have_library libssl
    need zlib1g-dev "the HTTP libraries are linked with it" have_library zlib
}

need_postgres_server() { need postgresql "a PostgreSQL server to start privately; one that Debian starts with it is left alone" find_postgres; }

need_prometheus() { need prometheus "a Prometheus that tests start for themselves; the one that Debian would start is masked" have_prometheus; }
have_nginx() { [[ -x /usr/sbin/nginx ]]; }
have_prometheus() { have prometheus && have promtool; }

# keep_asleep SERVICE COMMAND…: a service that Debian starts with its package, and with the machine from then on, stays down;
# who wants it says systemctl unmask. COMMAND is how to become root.
keep_asleep() {
    local unit=/etc/systemd/system/$1.service
    shift
    if [[ -d ${unit%/*} && ! -e $unit && ! -L $unit ]]; then "$@" ln -s /dev/null "$unit"; fi
}

# install_missing LIST LOG: LIST is a function that calls need. Nothing missing, nothing done.
install_missing() {
    local list=$1 log=$2 index service as_root=()
    missing_packages=() missing_reasons=()
    "$list"
    ((${#missing_packages[@]} > 0)) || return 0
    have apt-get >/dev/null || fail "missing: ${missing_packages[*]} (Debian's names); install them and run this again"
    if ((EUID != 0)); then
        # Without a terminal sudo cannot ask for a password.
        if ! have sudo >/dev/null || { [[ ! -t 0 ]] && ! sudo -n true 2>/dev/null; }; then
            fail "packages are missing and this is not root; as root: apt-get install ${missing_packages[*]}"
        fi
        as_root=(sudo)
    fi
    step "Installing with apt what is missing; this takes a minute or two"
    for index in "${!missing_packages[@]}"; do
        detail "${missing_packages[index]}: ${missing_reasons[index]}"
    done
    for service in prometheus nginx; do
        if [[ " ${missing_packages[*]} " == *" $service "* ]]; then keep_asleep "$service" "${as_root[@]}"; fi
    done
    if ! {
        "${as_root[@]}" apt-get update &&
            "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
                apt-get install --yes --no-install-recommends "${missing_packages[@]}"
    } </dev/null >"$log" 2>&1; then
        show_tail "$log"
        fail "apt could not install ${missing_packages[*]}"
    fi
    missing_packages=() missing_reasons=()
    "$list"
    ((${#missing_packages[@]} == 0)) || fail "apt has installed ${missing_packages[*]}, and still it is not to be found"
}

# The oldest Swift that reads Package.swift.
require_swift() {
    local version
    have swift >/dev/null || fail "Swift is not on PATH; install 6.2 or newer from https://www.swift.org/install/linux"
    version=$(swift --version 2>&1) || fail "Swift does not run here: ${version%%$'\n'*}"
    if [[ ! $version =~ Swift\ version\ ([0-9]+)\.([0-9]+) ]] ||
        ((BASH_REMATCH[1] * 100 + BASH_REMATCH[2] < 602)); then
        fail "Swift 6.2 or newer is needed, found: ${version%%$'\n'*}; see https://www.swift.org/install/linux"
    fi
}

# Apple's own client library, schemathesis, standardwebhooks, the checker of HTML and PostgreSQL's other versions come from PyPI into
# .build: deploy/lib/python-package.
need_python_packages() { need python3-venv "a Python apart, for public packages that judge ours" have_python_venv; }
have_python_venv() { python3 -c 'import ensurepip, venv'; }

# What running all tests takes, beside what they are tested with that comes from elsewhere.
need_for_testing() {
    need_for_building
    need_prometheus
    need libcurl4 "the app's side asks over HTTP by Foundation, which loads it" have_curl_library
    need nginx "the proxy whose files deploy/nginx brings; the one that Debian would start is masked" have_nginx
    need pgbouncer "a pooler to run the programs through; one that Debian starts with it is left alone" have_pgbouncer
    need openssl "a responder to ask about revoked certificates" have openssl
    need_python_packages
    if [[ -z ${STOREHOOK_TEST_DATABASE_URL:-} ]]; then need_postgres_server; fi
}

# What the console's pages are tested with.
need_for_browser() {
    need chromium "the browser in which the console's pages are tested" have chromium
    need chromium-driver "drives it" have chromedriver
    need fonts-noto-cjk "Chinese letters for the pages" have_chinese_letters
    need default-jre-headless "runs the checker of HTML, which comes from PyPI" have java
}
have_chinese_letters() { [[ -n $(fc-list :lang=zh-cn) ]]; }

# install_browser LOG: installs that, or fails and says how to do without.
install_browser() {
    # In a shell of its own: what apt has failed at stands above what is said here.
    (install_missing need_for_browser "$1") ||
        fail "without Chromium and its driver the console's pages are not tested; --no-browser leaves that part out"
}
