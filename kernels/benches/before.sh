#!/usr/bin/env bash
# `before.sh COMMIT [WORD…]`: the times of the rows of `compare.sh` here and at a commit, in turn, row by row: the best samples, and the ratio
# of the time now to the time then. Rows that are more than 5 % slower are measured again, twice as long, before they are printed as slower.
#
# ROUNDS (default 3) is the number of rounds for each tree; SWEEP=1 runs the thousand calls of compare/calls.txt instead.
# Builds the other tree in release mode, under target/before, where it is kept for the next time.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD work=$PWD/target/before before=${1:?usage: before.sh COMMIT [WORD…]}
shift
before=$(git rev-parse --short "$before^{commit}")
mkdir -p "$work"

built() { # TREE TARGET: builds its side, and prints the path
    (cd "$1" && CARGO_TARGET_DIR=$2 cargo bench -p torch-library-kernels --bench compare --no-run --message-format=json) |
        sed -n 's/.*"executable":"\([^"]*compare-[^"]*\)".*/\1/p' | tail -n 1
}
if [ ! -x "$work/$before" ]; then
    git worktree add --quiet --detach "$work/tree" "$before"
    trap 'git -C "$here" worktree remove --force "$work/tree"' EXIT
    cp "$(built "$work/tree" "$work/target")" "$work/$before"
fi
exec python3 kernels/benches/compare/before.py "$work/$before" "$(built "$here" "$here/target")" "${ROUNDS:-3}" "$@"
