#!/usr/bin/env bash
# Builds the page into target/web, for any static file server: `python3 -m http.server --directory target/web`. PROFILE=dev builds it unoptimised.
# Needs the target: rustup target add wasm32-wasip1
set -euo pipefail
cd "$(dirname "$0")/../.."
# Every browser supports these vector instructions, and `plain` loops are compiled for them.
export CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS="-C target-feature=+simd128"
# The model computes only with floats, so users do not download loops for other types.
export TORCH_LIBRARY_DTYPES=
profile=${PROFILE:-release}
# The page runs the constructors once. Without this export the linker would make each call run them, and so register all operators again.
cargo rustc --quiet --profile "$profile" --package torch-library-web --lib --target wasm32-wasip1 -- -C link-arg=--export=__wasm_call_ctors
mkdir -p target/web
cp examples/web/page/* target/web/
cp "target/wasm32-wasip1/${profile/dev/debug}/torch_library_web.wasm" target/web/web.wasm
printf 'target/web: a module of %d KB\n' $(($(stat -c %s target/web/web.wasm) / 1000))
