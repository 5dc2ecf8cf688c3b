#!/usr/bin/env bash
# Measures the size of a program with a built-in model and only the operators that the model reaches, in release, stripped.
#
#     runtime/export/benches/sizes.sh [MODEL.pt2…]      by default the model that reads digits
#
# `FEATURES=inference TORCH_LIBRARY_DTYPES= LTO=fat PANIC=abort runtime/export/benches/sizes.sh` builds for size. Rebuilding the kernels takes some minutes.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
folder=${FOLDER:-$root/target/sizes-of-models}
[ $# -gt 0 ] || set -- "$root/examples/models/digits.pt2"
rm -rf "$folder/src"
mkdir -p "$folder/src/bin"
cat >"$folder/Cargo.toml" <<TOML
[package]
name = "sizes"
version = "0.0.0"
edition = "2024"

[dependencies]
torch-library = { path = "$root/runtime" }
torch-library-export = { path = "$root/runtime/export" }
torch-library-kernels = { path = "$root/kernels", features = ["${FEATURES:-selective}"] }

[profile.release]
lto = "${LTO:-off}"
panic = "${PANIC:-unwind}"
strip = true

[workspace]
TOML
cp "$root/Cargo.lock" "$folder/Cargo.lock"
for archive; do
    archive=$(realpath "$archive")
    cat >"$folder/src/bin/$(basename "$archive" .pt2).rs" <<RUST
torch_library_export::include_model!(struct Model = "$archive");

fn main() -> torch_library::Result<()> {
    let program = Model::load()?.program();
    let refused = program.run(&[]).unwrap_err(); // so that all of a run is there
    println!("{} operators in the model; without inputs: {refused}", program.operators().len());
    Ok(())
}
RUST
done
(cd "$folder" && cargo build --release --quiet --offline)
printf '%-20s %12s %12s %12s\n' model program archive rest
for archive; do
    name=$(basename "$archive" .pt2)
    program=$(stat -c %s "$folder/target/release/$name") archived=$(stat -Lc %s "$archive")
    printf '%-20s %9d KB %9d KB %9d KB   ' "$name" $((program / 1000)) $((archived / 1000)) $(((program - archived) / 1000))
    "$folder/target/release/$name"
done
