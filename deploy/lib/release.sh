# shellcheck shell=bash
# The program as it is installed: one file that brings Swift's libraries along, so that the machine needs no Swift.

# What it still takes from the system, by Debian's names; deploy/install sees to it.
# shellcheck disable=SC2034
release_libraries=(libpq5 libstdc++6 zlib1g ca-certificates)

# What the tarball holds beside the program and its bill of materials: what deploy/install puts onto the machine, what
# operators adapt (proxy, alerts, dashboard, catalogs, containers), and the documents with all that they link to.
packed=(
    LICENSE README.md
    deploy/README.md deploy/runbook.md
    deploy/install deploy/lib deploy/systemd deploy/logins.sql deploy/passwords.sql
    deploy/nginx deploy/prometheus deploy/grafana deploy/catalogs
    deploy/compose.yaml deploy/compose.env.example deploy/kubernetes
    sql/README.md sql/roles.sql sql/schema.sql sql/migrations
    Sources/ARCHITECTURE.md Sources/Programs/storehook-bench/README.md Sources/Programs/storehook/storehook.docc
)

# packed_files ROOT: those files, each by its path from ROOT on a line of its own.
packed_files() { (cd -- "$1" && find "${packed[@]}" -type f | LC_ALL=C sort); }

# build_release ROOT FILE LOG COMMIT: builds the program of this commit and puts it at FILE.
build_release() {
    local root=$1 file=$2 log=$3 commit=$4
    # Apart from other builds: linked in another way, it would build all of them anew. SwiftPM leaves it to the linker to
    # drop what is not used.
    local build=$root/.build/static
    local options=(--package-path "$root" --scratch-path "$build" --configuration release --static-swift-stdlib)
    if ! STOREHOOK_COMMIT=$commit swift build "${options[@]}" --product storehook </dev/null >"$log" 2>&1; then
        show_tail "$log" 30
        fail "storehook does not build; the whole log is $log"
    fi
    # Without what only a debugger reads, which is most of it. The names of functions stay, for a crash's backtrace.
    strip --strip-debug -o "$file" "$build/release/storehook"
}

# write_bill ROOT DIRECTORY PROGRAM COMMIT: writes DIRECTORY/bill.json, what the program is made of and takes along.
write_bill() {
    local root=$1 directory=$2 program=$3 commit=$4 library version others=()
    version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9.]+).*/\1/p' | head -n 1)
    others=("swift=${version:-unknown}")
    for library in "${release_libraries[@]}"; do
        # What this machine has; another one takes its own.
        version=$(dpkg-query --show --showformat='${Version}' "$library" 2>/dev/null) || version=unknown
        others+=("$library=${version:-unknown}")
    done
    swiftc -o "$directory/sbom" "$root/deploy/lib/sbom.swift" >"$directory/sbom.log" 2>&1 || {
        show_tail "$directory/sbom.log"
        fail "deploy/lib/sbom.swift does not compile"
    }
    sha256sum -- "$program" | cut -d ' ' -f 1 >"$directory/program.sha256"
    "$directory/sbom" "$root/Package.resolved" "$directory/program" "$commit" "${others[@]}" >"$directory/bill.json" ||
        fail "no bill of materials could be written"
}
