#!/usr/bin/env bash
# How long from the start of a process to its first call, and how much memory, with thousands of operators linked in?
# Generates a program with OPERATORS operators and KERNELS kernels for each, and an empty one; prints milliseconds of whole processes
# (minimum of 40 runs each, in turn) and resident KiB. PyTorch's library alone takes 139 ms (runtime/benches/peer has the other cases).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
operators=${1:-3500}
kernels=${2:-4}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
keys=(CPU CUDA Meta AutogradCPU XLA MPS)

mkdir -p "$work/src/bin"
cat >"$work/Cargo.toml" <<TOML
[package]
name = "startup"
version = "0.0.0"
edition = "2024"
[dependencies]
torch-library = { path = "$root" }
[workspace]
# The generated kernels do nothing: only the libraries below them need optimising.
[profile.release]
opt-level = 1
[profile.release.package."*"]
opt-level = 3
TOML
echo 'fn main() {}' >"$work/src/bin/empty.rs"
{
    echo 'use torch_library::prelude::*;'
    echo 'torch_library! { pub mod ops {'
    for i in $(seq "$operators"); do echo "    op_$i(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor;"; done
    echo '} }'
    for k in $(seq "$kernels"); do
        echo "#[torch_impl(ops, ${keys[$((k - 1))]})] mod kernels_$k { use torch_library::prelude::*;"
        for i in $(seq "$operators"); do
            echo "fn op_$i(this: &Tensor, _: &Tensor, _: Scalar) -> Result<Tensor> { Ok(this.clone()) }"
        done
        echo '}'
    done
    cat <<'RUST'
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or_default()
}
fn main() -> Result<()> {
    let before = resident();
    let x = Tensor::from([1.0f32]);
    ops::op_1(&x, &x)?;
    if std::env::args().count() > 1 {
        let collected = resident();
        for info in torch_library::Dispatcher::global().operators() {
            let mut stack = Stack::new();
            stack.push(&x);
            stack.push(&x);
            stack.push(1i64);
            info.operator.call_boxed(&mut stack)?;
        }
        println!("{before} KiB at main, {} more after the first call, {} more after calling all", collected - before, resident() - collected);
    }
    Ok(())
}
RUST
} >"$work/src/bin/full.rs"
export CARGO_TARGET_DIR=$work/target
cargo build --release --quiet --manifest-path "$work/Cargo.toml"
bin=$work/target/release
milliseconds() { # PROGRAM
    local start=$(date +%s%N)
    "$1"
    echo $((($(date +%s%N) - start) / 1000))
}
for _ in $(seq 40); do
    milliseconds "$bin/empty" >>"$work/empty"
    milliseconds "$bin/full" >>"$work/full"
done
printf '%s operators, %s kernels: process %s us, empty program %s us\n' "$operators" "$((operators * kernels))" \
    "$(sort -n "$work/full" | head -n 1)" "$(sort -n "$work/empty" | head -n 1)"
"$bin/full" memory
