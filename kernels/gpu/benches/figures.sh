#!/usr/bin/env bash
# `figures.sh [wgpu|cuda] [--large]`: what common work takes on the first device of a backend, a table of milliseconds, medians. Beside wgpu stand
# burn on the same adapter, as it is and with fusion, and candle on the CPU, as it has no wgpu; building them takes some minutes. Beside CUDA stands
# PyTorch on the same GPU, where `python3` has one; burn downloads an LLVM to be built for CUDA. `--large` has sizes for GPUs.
set -euo pipefail
cd "$(dirname "$0")/../../.."
backend=${1:-wgpu}
if [ $# -gt 0 ]; then shift; fi
here=kernels/gpu/benches
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
cargo bench --quiet --package "torch-library-$backend" --bench figures --no-run
case $backend in
wgpu)
    peers='burn | burn, fusion | candle, CPU'
    build() { cargo build --quiet --release --manifest-path $here/peers/Cargo.toml "${@:2}" && cp $here/peers/target/release/torch-library-gpu-peers "$own/$1"; }
    build plain
    build fusion --features fusion
    ;;
cuda)
    peers=PyTorch
    python3 -c 'import torch; assert torch.cuda.is_available()' || { echo 'python3 has no PyTorch with a GPU'; exit 1; }
    ;;
*) echo "no such backend: $backend" && exit 1 ;;
esac
cargo bench --quiet --package "torch-library-$backend" --bench figures -- "$@" >"$own/ours"
case $backend in
wgpu)
    # What a peer printed before it failed counts: on llvmpipe burn's products of matrices end with a segmentation fault.
    for peer in plain fusion; do "$own/$peer" "$@" >"$own/$peer.rows" || echo "burn ($peer) failed" >&2; done
    awk -F'|' 'NR == FNR { fusion[$1] = $2; next } { print $1 "|" $2 " | " ($1 in fusion ? fusion[$1] : "–") " | " $3 }' "$own/fusion.rows" "$own/plain.rows" >"$own/rows"
    ;;
cuda) python3 $here/of_pytorch.py cuda "$@" >"$own/rows" ;;
esac
head -2 "$own/ours"
printf '| milliseconds | single calls | fused | %s |\n|---|---:|---:|%s\n' "$peers" "$(sed 's/[^|]*|\?/---:|/g' <<<"$peers")"
awk -F'|' -v none="$(sed 's/[^|]*|/– | /g; s/ *[^|]*$/ –/' <<<"$peers")" 'NR == FNR { theirs[$1] = substr($0, length($1) + 2); next }
    NF == 5 && $2 !~ /^ milliseconds|^---/ {
        name = substr($2, 2, length($2) - 2)
        printf "|%s|%s|%s| %s |\n", $2, $3, $4, name in theirs ? theirs[name] : none
    }' "$own/rows" "$own/ours"
printf '\n%s\n' "$(tail -1 "$own/ours")"
