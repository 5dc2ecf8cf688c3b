#!/usr/bin/env bash
# How large is a program that calls `add`, `mm` and `relu`? Stripped, in release mode: with all operators; with only those that it reaches;
# without layers; for four element types only; and the last with whole-program optimisation and without unwinding. Each row rebuilds the kernels,
# which takes minutes; `sizes.sh 4 5` prints two of them.
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
row() {
    local name=$1 features=$2 lto=$3 panic=$4
    cat >"$folder/Cargo.toml" <<TOML
[package]
name = "sizes"
version = "0.0.0"
edition = "2024"

[dependencies]
torch-library = { path = "$root/runtime" }
torch-library-kernels = { path = "$root/kernels", features = [$features] }

[profile.release]
lto = $lto
panic = "$panic"
strip = true

[workspace]
TOML
    cp "$root/Cargo.lock" "$folder/Cargo.lock"
    (cd "$folder" && cargo build --release --quiet --offline)
    printf '%-44s %8d KB   %s\n' "$name" "$(($(stat -c %s "$folder/target/release/sizes") / 1000))" "$("$folder/target/release/sizes" | tr '\n' ' ')"
}
[ $# -gt 0 ] || set -- 1 2 3 4 5
for number; do
    unset TORCH_LIBRARY_DTYPES
    case $number in
    1) row 'all operators' '' false unwind ;;
    2) row 'those that it reaches' '"selective"' false unwind ;;
    3) row 'without layers' '"inference"' false unwind ;;
    4) TORCH_LIBRARY_DTYPES='' row 'and for four element types' '"inference"' false unwind ;;
    5) TORCH_LIBRARY_DTYPES='' row 'and with `lto = "fat"`, `panic = "abort"`' '"inference"' '"fat"' abort ;;
    *) echo "there is no row $number" >&2 && exit 2 ;;
    esac
done
