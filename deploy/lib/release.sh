# shellcheck shell=bash
# The program as it is installed: one file that brings Swift's libraries along, so that the machine needs no Swift.

# What it still takes from the system, by Debian's names; deploy/install sees to it.
# shellcheck disable=SC2034
release_libraries=(libpq5 libstdc++6 zlib1g ca-certificates)

# build_release ROOT FILE LOG: builds the program and puts it at FILE.
build_release() {
    local root=$1 file=$2 log=$3
    # Apart from other builds: linked in another way, it would build all of them anew. SwiftPM leaves it to the linker to
    # drop what is not used.
    local build=$root/.build/static
    local options=(--package-path "$root" --scratch-path "$build" --configuration release --static-swift-stdlib)
    if ! swift build "${options[@]}" --product storehook </dev/null >"$log" 2>&1; then
        show_tail "$log" 30
        fail "storehook does not build; the whole log is $log"
    fi
    # Without what only a debugger reads, which is most of it. The names of functions stay, for a crash's backtrace.
    strip --strip-debug -o "$file" "$build/release/storehook"
}
