#!/usr/bin/env bash
# How long does a first build take? One row for each crate that a program may use, each built into an empty folder of its own:
# elapsed seconds, and CPU seconds. `kernels/benches/build_times.sh [ROW…]` builds only those rows; JOBS=2 sets the
# number of cores. Sources of other crates must have been downloaded: `cargo fetch`.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${FOLDER:-$root/target/build_times}
jobs=${JOBS:-$(nproc)}
chosen=("$@")
mkdir -p "$folder"
export CARGO_INCREMENTAL=0
TIMEFORMAT='%R %U %S'

# A program with one operator, and the crates that are given.
program() {
    mkdir -p "$folder/program/src"
    {
        printf 'use torch_library::prelude::*;\n'
        for crate in "${@:2}"; do printf 'use torch_library_%s as _;\n' "$crate"; done
        cat <<'RUST'

torch_library! {
    pub mod myops {
        /// Twice a number.
        twice(float x) -> float;
    }
}

#[torch_impl(myops, CompositeExplicitAutograd)]
fn twice(x: f64) -> Result<f64> {
    Ok(2.0 * x)
}

fn main() -> Result<()> {
    println!("{}", myops::twice(1.5)?);
    Ok(())
}
RUST
    } >"$folder/program/src/main.rs"
    {
        printf '[package]\nname = "program"\nversion = "0.0.0"\nedition = "2024"\n\n[dependencies]\n'
        printf 'torch-library = { path = "%s/runtime" }\n' "$root"
        for crate in "${@:2}"; do
            printf 'torch-library-%s = { path = "%s/%s" }\n' "$crate" "$root" "kernels/${crate#kernels}"
        done
        printf '\n[workspace]\n'
    } >"$folder/program/Cargo.toml"
    cp "$root/Cargo.lock" "$folder/program/Cargo.lock"
    (cd "$folder/program" && cargo build --quiet --offline --jobs "$jobs" $1)
}

digits() { (cd "$root" && cargo build --quiet --offline --jobs "$jobs" --release --bin digits); }

row() {
    if [ ${#chosen[@]} -gt 0 ] && [[ " ${chosen[*]} " != *" $1 "* ]]; then return; fi
    export CARGO_TARGET_DIR=$folder/built
    rm -rf "$CARGO_TARGET_DIR"
    local spent log=$folder/log
    spent=$({ time "${@:3}" >"$log" 2>&1; } 2>&1) || { cat "$log" >&2 && return 1; }
    rm -rf "$CARGO_TARGET_DIR"
    read -r wall user system <<<"$spent"
    printf '| %s | %s | %.0f s | %.0f s |\n' "$1" "$2" "$wall" "$(awk "BEGIN { print $user + $system }")"
}

printf '| program | profile | %s cores | of processors |\n|---|---|---:|---:|\n' "$jobs"
row runtime debug program ''
row loops debug program '' loops
row loops-release release program --release loops
row aten release program --release aten
row nn release program --release nn
row linalg release program --release linalg
row fourier release program --release fourier
row all release program --release kernels
row digits release digits
