#!/usr/bin/env bash
# Measures the cost of registration in a build: a crate that declares 500 operators, one that registers a kernel for each of them,
# and one with the same kernels as plain functions. Prints CPU seconds (user + system, best of three) of `cargo build` for each
# crate alone: from scratch, and after a change to one kernel.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kernels=${1:-500}

crate() { # NAME DEPENDENCY
    mkdir -p "$work/$1/src"
    cat >"$work/$1/Cargo.toml" <<TOML
[package]
name = "$1"
version = "0.0.0"
edition = "2024"
[dependencies]
torch-library = { path = "$root" }
$2
[workspace]
[profile.dev]
incremental = true
TOML
}

body() { # NUMBER
    printf '    let sum: f64 = this.to_vec::<f64>()?.iter().zip(other.to_vec::<f64>()?).map(|(a, b)| a + b * %d.0).sum();\n' "$1"
    printf '    Tensor::from_vec(vec![sum], &[1])\n}\n'
}

crate plain ''
crate operators ''
crate registered 'operators = { path = "../operators" }'
{
    echo 'use torch_library::prelude::*;'
    for i in $(seq "$kernels"); do
        echo "pub fn op_$i(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor> {"
        echo '    let _ = alpha;'
        body "$i"
    done
} >"$work/plain/src/lib.rs"
{
    echo 'use torch_library::prelude::*;'
    echo 'torch_library! { pub mod ops {'
    for i in $(seq "$kernels"); do
        echo "    op_$i(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor;"
    done
    echo '} }'
} >"$work/operators/src/lib.rs"
{
    echo 'use operators::ops;'
    echo 'use torch_library::prelude::*;'
    echo '#[torch_impl(ops, CPU)] mod cpu {'
    sed 1d "$work/plain/src/lib.rs" | sed '1i use torch_library::prelude::*;'
    echo '}'
} >"$work/registered/src/lib.rs"

export CARGO_TARGET_DIR="$work/target"
seconds() { # COMMAND…
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{print $1 + $2}'
}
best() { sort -n | head -n 1; }
clean() { # CRATE PROFILE
    for _ in 1 2 3; do
        cargo clean -p "$1" --manifest-path "$work/$1/Cargo.toml" $2 >/dev/null 2>&1
        seconds cargo build --manifest-path "$work/$1/Cargo.toml" $2
    done | best
}
changed() { # CRATE
    for i in 1 2 3; do
        sed -i "s/b \* 7[0-9]*\.0/b * 7$i$i.0/" "$work/$1/src/lib.rs"
        seconds cargo build --manifest-path "$work/$1/Cargo.toml"
    done | best
}

for name in plain operators registered; do cargo build --manifest-path "$work/$name/Cargo.toml" >/dev/null 2>&1; done
for name in plain operators registered; do cargo build --release --manifest-path "$work/$name/Cargo.toml" >/dev/null 2>&1; done
printf '%d kernels, CPU seconds %12s %12s %12s\n' "$kernels" debug release changed
for name in plain operators registered; do
    printf '%-24s %16s %12s %12s\n' "$name" "$(clean "$name" '')" "$(clean "$name" --release)" "$(changed "$name")"
done
