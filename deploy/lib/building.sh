# shellcheck shell=bash
# Builds. What is compiled is kept outside of the clone, and serves every clone on this machine.

# One directory for each set of what may not be mixed; see kept_path. One lock for all of them: a machine builds one at a time.
kept_builds=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/storehook

# What deploy/run and deploy/test build with: where one option differed, everything would be compiled twice. No index for
# editors and no debug information: nothing that runs needs either, and a crash still names its functions. C is optimised in a debug
# build, too: what is written in C is the cryptography, and a password's scrypt would take five times as long.
build_options=(
    --disable-index-store --disable-xctest -debug-info-format none --explicit-target-dependency-import-check error -Xcc -O2
)

# For show_build: when the build began, and how many steps it is known to have at least.
build_began=0
expected_steps=0

# kept_path CONFIGURATION: the scratch path of SwiftPM's for this compiler, these options and these dependencies.
kept_path() {
    local key
    key=$(
        {
            swift --version
            printf '%s\n' "$1" "${build_options[@]}"
            grep -E '^ *\.package\(' -- "${root:?}/Package.swift"
        } 2>/dev/null | sha256sum
    )
    printf '%s/%s-%s' "$kept_builds" "$1" "${key:0:16}"
}

# build_kept CONFIGURATION LOG RUN PROGRAM… [-- ARGUMENT…]: builds by `RUN LOG COMMAND…`, which runs the command and writes what
# it says into LOG, and copies the programs into .build/run/CONFIGURATION, from where everything runs: the next build may be
# another clone's. ARGUMENT are more for swift build, such as --product.
build_kept() {
    local configuration=$1 log=$2 run=$3 path status=0 programs=() was_there=true is_first=false
    shift 3
    while (($# > 0)) && [[ $1 != -- ]]; do programs+=("$1") && shift; done
    if (($# > 0)); then shift; fi
    lock_kept_builds
    path=$(kept_path "$configuration")
    local building=(swift build --package-path "$path/source" --configuration "$configuration" "${build_options[@]}" "$@")
    if [[ ! -d $path ]]; then was_there=false; fi
    # It is there since a build of this path ended well.
    if [[ ! -e $path/Package.resolved ]]; then is_first=true; fi
    begin_build "$configuration" "$was_there"
    copy_sources "$path"
    run_on_copy "$run" "$log" "$path" "${building[@]}" || status=$?
    # What a build left behind that was killed may stand in the way of the next one. An error in our own sources does not, nor a
    # build that was stopped.
    if ((status > 0)); then
        if [[ $was_there == false ]] || ((status >= 124)) || is_own_fault "$log"; then build_failed "$log"; fi
        mv -f -- "$log" "$log.failed"
        detail "the build failed on $path (see $log.failed); once more, on an empty one"
        rm -rf -- "$path.failed"
        mv -T -- "$path" "$path.failed"
        rm -f -- "$root/Package.resolved"
        is_first=true
        begin_build "$configuration" false
        copy_sources "$path"
        if ! run_on_copy "$run" "$log" "$path" "${building[@]}"; then
            rm -rf -- "$path"
            mv -T -- "$path.failed" "$path"
            build_failed "$log"
        fi
    fi
    copy_whole "$path/source/Package.resolved" "$path/Package.resolved"
    copy_whole "$path/Package.resolved" "$root/Package.resolved"
    touch -- "$path"
    copy_programs "$path/$configuration" "$root/.build/run/$configuration" "${programs[@]}"
    remove_old_builds || detail "not all old builds in $kept_builds could be removed"
    if [[ $is_first == true ]]; then
        detail "what was compiled is kept for the next clone: $path, $(du -sh -- "$path" | cut -f 1); deploy/run --clean removes it"
    fi
    exec 8>&-
}

# copy_sources PATH: into PATH/source what this clone has. That is the same place for every clone, and a file that is the same there
# keeps its time: what another clone has compiled is compiled no more.
copy_sources() {
    local source=$1/source
    mkdir -p -- "$source"
    checksums "$root" >"$1/wanted"
    checksums "$source" >"$1/copied"
    # A line is a checksum, two characters, and a path.
    LC_ALL=C comm -13 "$1/wanted" "$1/copied" | cut -c 67- | tr '\n' '\0' | (cd -- "$source" && xargs -0 --no-run-if-empty rm -f --)
    find "$source" -mindepth 1 -type d -empty -delete
    LC_ALL=C comm -23 "$1/wanted" "$1/copied" | cut -c 67- | tr '\n' '\0' |
        (cd -- "$root" && xargs -0 --no-run-if-empty cp --parents --preserve=mode --target-directory="$source" --)
    # The versions that were resolved for it: nothing is looked up in the network then, and all clones compile the same.
    local resolved=$1/Package.resolved
    if [[ ! -e $resolved ]]; then resolved=$root/Package.resolved; fi
    rm -f -- "$source/Package.resolved"
    if [[ -e $resolved ]]; then cp -- "$resolved" "$source/Package.resolved"; fi
}

# checksums DIRECTORY: of every file there that a build may read, a line each, in one order. deploy/ is none of it, and may have secrets.
checksums() {
    (
        cd -- "$1" || exit
        find . \( -name .git -o -name '.build*' -o -name .storehook -o -name Package.resolved -o -path ./deploy \) -prune -o -type f -print0 |
            xargs -0 --no-run-if-empty sha256sum --
    ) | LC_ALL=C sort
}

# run_on_copy RUN LOG PATH COMMAND…: what the compiler says of the copy, it says of this clone.
run_on_copy() {
    local run=$1 log=$2 path=$3 status=0
    shift 3
    "$run" "$log" "$@" --scratch-path "$path" || status=$?
    if [[ -e $log ]]; then sed -i -e "s|$path/source/|$root/|g" -- "$log"; fi
    return "$status"
}

# begin_build CONFIGURATION WHETHER-SOMETHING-IS-THERE: for show_build.
begin_build() {
    build_began=$SECONDS
    expected_steps=0
    # What a debug build of the program took when this was written, where nothing was compiled before.
    if [[ $1 == debug && $2 == false ]]; then expected_steps=3450; fi
}

# copy_whole FROM TO: a copy, or none.
copy_whole() { cp -- "$1" "$2.new" && mv -f -- "$2.new" "$2"; }

build_failed() {
    show_tail "$1" 30
    fail "storehook does not build; the whole log is $1"
}

# is_own_fault LOG: a compiler's or linker's error in what this clone has, a file that was saved while it was compiled, a Package.swift
# that cannot be read, a full disk. What a compiler says at an import of ours about a damaged module is no fault of ours.
is_own_fault() {
    grep -E '^/[^:]+:[0-9]+:[0-9]+: (fatal )?error: ' -- "$1" | grep -vF -- "$kept_builds/" |
        grep -vE 'malformed compiled module|missing required module|module file .*(corrupt|out of date)|precompiled' |
        grep -F -- "$root/" >/dev/null ||
        grep -qE '^error: (Target .* imports another target|.*[Ii]nvalid manifest|no product named|.*could not be resolved)' -- "$1" ||
        grep -qE 'link command failed|undefined reference|No space left on device|was modified during the build' -- "$1"
}

# Held as descriptor 8 until the build is done, by the compilers, too: should the script be killed, they end first.
lock_kept_builds() {
    if ! { mkdir -p -- "$kept_builds" && [[ -w $kept_builds ]]; } 2>/dev/null; then
        detail "cannot write in $kept_builds: what is compiled is kept in this clone alone"
        kept_builds=$root/.build/kept
        mkdir -p -- "$kept_builds"
    fi
    exec 8>"$kept_builds/lock" || fail "cannot write $kept_builds/lock; delete it as the user whose it is"
    try_lock && return 0
    detail "waiting for the build of another clone"
    until try_lock; do pause 1; done
}

# Fails while another process has the lock.
try_lock() {
    local status=0
    flock --nonblock 8 || status=$?
    ((status <= 1)) || fail "$kept_builds/lock cannot be locked; set XDG_CACHE_HOME to a directory of another file system"
    return "$status"
}

# A program may run while it is replaced: it keeps its file.
copy_programs() {
    local from=$1 to=$2 program
    shift 2
    mkdir -p -- "$to"
    for program in "$@"; do
        if [[ -e $to/$program && ! $from/$program -nt $to/$program && ! $to/$program -nt $from/$program ]]; then continue; fi
        cp --preserve=timestamps --reflink=auto -- "$from/$program" "$to/$program.new"
        mv -f -- "$to/$program.new" "$to/$program"
    done
}

# All but the four that were used last, and what was put aside.
remove_old_builds() {
    local path
    find "$kept_builds" -mindepth 1 -maxdepth 1 -type d -name '*.failed' -exec rm -rf -- {} +
    while read -r path; do rm -rf -- "$path"; done < <(
        find "$kept_builds" -mindepth 1 -maxdepth 1 -type d -printf '%T@ %p\n' | sort -rn | tail -n +5 | cut -d ' ' -f 2-
    )
}

# remove_kept_builds: all of them.
remove_kept_builds() {
    local size
    if [[ ! -d $kept_builds ]]; then
        detail "no build is kept in $kept_builds"
        return 0
    fi
    lock_kept_builds
    size=$(du -sh -- "$kept_builds" | cut -f 1)
    find "$kept_builds" -mindepth 1 -maxdepth 1 -type d -exec rm -rf -- {} +
    exec 8>&-
    detail "removed $size from $kept_builds"
}

# show_build LOG: a line that shows what is being built, how much of it is done, and how long the rest may take.
show_build() {
    local line step steps passed=$((SECONDS - build_began)) left=''
    [[ -n $rewrite ]] || return 0
    line=$(tail -c 2000 -- "$1" | grep -oE '^\[[0-9]+/[0-9]+\] .*' | tail -n 1) || true
    if [[ ! $line =~ ^\[([0-9]+)/([0-9]+)\]\ (Compiling |Emitting module )?([^ ]*) ]]; then
        progress "$(spoken "$passed")"
        return 0
    fi
    step=${BASH_REMATCH[1]} steps=${BASH_REMATCH[2]}
    # SwiftPM learns on the way how many there are. Once the first files of C are done, one takes as long as another.
    if ((steps < expected_steps)); then steps=$expected_steps; fi
    if ((step > 300)); then left=", about $(spoken $((passed * (steps - step) / step))) left"; fi
    progress "$step of about $steps: ${BASH_REMATCH[4]##*/}, $(spoken "$passed")$left"
}
