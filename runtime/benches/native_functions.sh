#!/usr/bin/env bash
# What does a library of PyTorch's size cost: to check, to collect at startup, and in memory?
#
#   TORCH_NATIVE_FUNCTIONS=…/torchgen/packaged/ATen/native/native_functions.yaml runtime/benches/native_functions.sh
#
# Declares all operators of the file, without kernels, in a separate crate. Prints the CPU time of `cargo check` with its
# dependencies already built, the best time to collect the operators, and the memory that the dispatcher keeps for each.
set -euo pipefail
: "${TORCH_NATIVE_FUNCTIONS:?the path of a native_functions.yaml}"
cd "$(dirname "$0")/../.."
room=${CARGO_TARGET_DIR:-target}/native-functions-bench
mkdir -p "$room/src"
cp "$TORCH_NATIVE_FUNCTIONS" "$room/src/native_functions.yaml"
cp Cargo.lock "$room/"
cat >"$room/Cargo.toml" <<TOML
[package]
name = "native-functions-bench"
version = "0.0.0"
edition = "2024"
[dependencies]
torch-library = { path = "$PWD/runtime" }
[workspace]
TOML
cat >"$room/src/main.rs" <<'RUST'
torch_library::native_functions!("native_functions.yaml", declarations);

fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    4096 * pages.unwrap_or(0usize)
}

fn main() {
    let (before, start) = (resident_bytes(), std::time::Instant::now());
    let dispatcher = torch_library::Dispatcher::global();
    let (time, bytes) = (start.elapsed(), resident_bytes() - before);
    let operators = dispatcher.operators().len();
    println!("{} {operators} {}", time.as_micros(), bytes / operators);
}
RUST
export CARGO_TARGET_DIR=$room/target CARGO_INCREMENTAL=0
cargo check --quiet --manifest-path "$room/Cargo.toml" # builds the dependencies, and does a first run that is not counted
touch "$room/src/main.rs"
TIMEFORMAT='%U %S'
read -r user system < <({ time cargo check --quiet --manifest-path "$room/Cargo.toml" >&2; } 2>&1 | tail -1)
cargo build --release --quiet --manifest-path "$room/Cargo.toml"
for _ in $(seq 20); do "$room/target/release/native-functions-bench"; done | sort -n | head -1 | {
    read -r micros operators bytes
    echo "$operators operators: check $user s + $system s of CPU, collect $micros µs, $bytes bytes each"
}
