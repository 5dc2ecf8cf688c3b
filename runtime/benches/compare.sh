#!/usr/bin/env bash
# How do our calls compare with those of PyTorch's C++ dispatcher? Prints one table: both sides run in turn on this machine, several
# rounds each, as programs and as shared objects that a program loads; minima over all rounds, and their ratios.
#
# PEER_PYTHON names a Python that has torch (pip install torch==2.15.0 into a virtual environment). Without it only our side is printed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
rounds=${1:-3}
. "$here/peer/build.sh"
work=$PWD/target/compare
rm -rf "$work"
mkdir -p "$work/src"

ours=$(cargo bench --bench dispatch --no-run --message-format=json 2>/dev/null |
    sed -n 's/.*"executable":"\([^"]*dispatch-[^"]*\)".*/\1/p' | tail -n 1)
cat >"$work/Cargo.toml" <<TOML
[package]
name = "compare"
version = "0.0.0"
edition = "2024"
[lib]
crate-type = ["cdylib"]
[dependencies]
torch-library = { path = "$here/.." }
torch-library-schema = { path = "$here/../schema" }
[workspace]
TOML
cat >"$work/src/lib.rs" <<RUST
#[path = "$here/dispatch.rs"]
mod dispatch;
#[unsafe(no_mangle)]
extern "C" fn bench_main() -> i32 {
    dispatch::main().is_err().into()
}
RUST
CARGO_TARGET_DIR=$PWD/target cargo build --release --quiet --manifest-path "$work/Cargo.toml"
ours_so=$PWD/target/release/libcompare.so

for round in $(seq "$rounds"); do
    "$ours" --plain >"$work/ours.$round"
    if [ -n "$peer" ]; then "$peer" >"$work/peer.$round"; fi
    if [ -x "$launch" ]; then "$launch" "$ours_so" --plain >"$work/ours_so.$round"; fi
    if [ -n "$peer" ]; then "$launch" "$peer_so" >"$work/peer_so.$round"; fi
done
for side in ours peer ours_so peer_so; do
    for round in "$work/$side".*; do
        if [ -e "$round" ]; then awk -v side="$side" '{ print side, $1, $2 }' "$round"; fi # a side may be missing
    done
done | awk '
    !(($1, $2) in min) || $3 < min[$1, $2] { min[$1, $2] = $3 }
    !seen[$2]++ { order[++n] = $2 }
    function cell(side, name) { return (side, name) in min ? sprintf(" %.2f |", min[side, name]) : " |" }
    function ratio(a, b, name) { return (a, name) in min && (b, name) in min ? sprintf(" %.1f |", min[b, name] / min[a, name]) : " |" }
    END {
        print "| case, ns | ours | PyTorch | ratio | ours, shared | PyTorch, shared | ratio |"
        print "|---|---:|---:|---:|---:|---:|---:|"
        for (i = 1; i <= n; i++) {
            name = order[i]
            print "| " name " |" cell("ours", name) cell("peer", name) ratio("ours", "peer", name) \
                cell("ours_so", name) cell("peer_so", name) ratio("ours_so", "peer_so", name)
        }
    }'
