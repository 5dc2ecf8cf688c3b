#!/usr/bin/env bash
# How large is a program that calls `add`, `mm` and `relu`? Stripped, in release: with all operators, and with those alone that
# it reaches. `OPT=z LTO=fat PANIC=abort kernels/benches/sizes.sh` builds for size. Each row builds the kernels anew, in some minutes.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${FOLDER:-$root/target/sizes}
mkdir -p "$folder/src"
cat >"$folder/src/main.rs" <<'RUST'
use torch_library::prelude::*;
use torch_library_kernels::aten;

fn main() -> Result<()> {
    let x = Tensor::from_vec(vec![1.0f32, -2.0, 3.0, -4.0], &[2, 2])?;
    let y = aten::relu(&aten::add_Tensor(&x, &x)?)?;
    println!("{}, {} operators", aten::mm(&x, &y)?, torch_library::Dispatcher::global().operators().len());
    Ok(())
}
RUST
case ${OPT:=3} in [sz]) OPT='"'$OPT'"' ;; esac
row() {
    cat >"$folder/Cargo.toml" <<TOML
[package]
name = "sizes"
version = "0.0.0"
edition = "2024"

[dependencies]
torch-library = { path = "$root/runtime" }
torch-library-kernels = { path = "$root/kernels", features = [$2] }

[profile.release]
opt-level = $OPT
lto = "${LTO:-off}"
panic = "${PANIC:-unwind}"
strip = true

[workspace]
TOML
    cp "$root/Cargo.lock" "$folder/Cargo.lock"
    (cd "$folder" && cargo build --release --quiet --offline)
    printf '%-28s %8d KB   %s\n' "$1" "$(($(stat -c %s "$folder/target/release/sizes") / 1000))" "$("$folder/target/release/sizes" | tr '\n' ' ')"
}
row 'all operators' ''
row 'those that it reaches' '"selective"'
row 'without layers' '"inference"'
