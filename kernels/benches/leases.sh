#!/usr/bin/env bash
# `leases.sh COMMIT`: the times of small calls here and at a commit, in turn, on this machine: nanoseconds, minima of several
# rounds. To see the cost of leases, COMMIT is one before they were introduced. Builds both trees in release mode, under target/leases.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD work=$PWD/target/leases before=${1:?usage: leases.sh COMMIT}
mkdir -p "$work"
if [ -e "$work/tree" ]; then git worktree remove --force "$work/tree"; fi # left by a run that was killed
git worktree add --quiet --detach "$work/tree" "$before"
trap 'git -C "$here" worktree remove --force "$work/tree"' EXIT

for side in before now; do
    tree=$here
    if [ $side = before ]; then tree=$work/tree; fi
    mkdir -p "$work/$side/src"
    cp kernels/benches/leases/main.rs "$work/$side/src/main.rs"
    cat >"$work/$side/Cargo.toml" <<TOML
[workspace]
[package]
name = "$side"
edition = "2024"
[dependencies]
torch-library = { path = "$tree/runtime" }
torch-library-kernels = { path = "$tree/kernels" }
TOML
    CARGO_TARGET_DIR=$work/build cargo build --quiet --release --manifest-path "$work/$side/Cargo.toml"
done

rounds=${ROUNDS:-5}
for ((round = 0; round < rounds; round++)); do
    for side in before now; do
        RAYON_NUM_THREADS=1 "$work/build/release/$side" | sed "s/^/$side|/"
    done
done | awk -F'|' '
    { key = $1 "|" $2; if (!(key in best) || $3 < best[key]) best[key] = $3; if (!($2 in seen)) { seen[$2] = 1; names[++count] = $2 } }
    END {
        print "| call | before, ns | now, ns | more, ns |"; print "|---|---:|---:|---:|"
        for (i = 1; i <= count; i++) {
            before = best["before|" names[i]]; now = best["now|" names[i]]
            printf "| %s | %.1f | %.1f | %.1f |\n", names[i], before, now, now - before
        }
    }'
