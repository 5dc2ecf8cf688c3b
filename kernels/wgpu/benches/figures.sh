#!/usr/bin/env bash
# What common work takes on the first adapter, beside burn on the same adapter (as it is, and with fusion) and candle on the CPU, as it has no wgpu:
# a table of milliseconds, medians. Builds burn twice, in some minutes. RAYON_NUM_THREADS is the number of candle's threads.
set -euo pipefail
cd "$(dirname "$0")/../../.."
peers=kernels/wgpu/benches/peers
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
cargo bench --quiet --package torch-library-wgpu --bench figures --no-run
build() { cargo build --quiet --release --manifest-path $peers/Cargo.toml "${@:2}" && cp $peers/target/release/torch-library-wgpu-peers "$own/$1"; }
build plain
build fused --features fusion
cargo bench --quiet --package torch-library-wgpu --bench figures >"$own/ours"
"$own/plain" >"$own/plain.rows"
"$own/fused" >"$own/fused.rows"
head -2 "$own/ours"
printf '| milliseconds | single calls | fused | burn | burn, fusion | candle, CPU |\n|---|---:|---:|---:|---:|---:|\n'
awk -F'|' -v plain="$own/plain.rows" -v fused="$own/fused.rows" '
    FILENAME == plain { burn[$1] = $2; candle[$1] = $3; next }
    FILENAME == fused { fusion[$1] = $2; next }
    NF == 5 && $2 !~ /^ milliseconds|^---/ {
        name = substr($2, 2, length($2) - 2)
        printf "|%s|%s|%s| %s | %s | %s |\n", $2, $3, $4, burn[name], fusion[name], candle[name]
    }' "$own/plain.rows" "$own/fused.rows" "$own/ours"
tail -1 "$own/ours"
