#!/usr/bin/env bash
# How long does a step of training take here and in PyTorch? Prints one table: both sides run in turn on this machine with as many
# threads as RAYON_NUM_THREADS says (default 1); minimum over all rounds, and the ratio of the minima.
#
# PEER_PYTHON names a Python that has torch (pip install torch==2.15.0 into a virtual environment). Without it only our side is printed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
rounds=${1:-3}
export RAYON_NUM_THREADS=${RAYON_NUM_THREADS:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ours=$(cargo bench -p torch-library-examples --bench training --no-run --message-format=json |
    sed -n 's/.*"executable":"\([^"]*training-[^"]*\)".*/\1/p' | tail -n 1)
python=${PEER_PYTHON:-python3}
touch "$work/peer.0"
for round in $(seq "$rounds"); do
    "$ours" >"$work/ours.$round"
    if "$python" -c 'import torch' 2>/dev/null; then
        "$python" "$here/training.py" >"$work/peer.$round"
    else
        echo "no torch in $python: the peer's column stays empty (set PEER_PYTHON)" >&2
    fi
done
best() { cat "$@" | awk '!($1 in min) || $2 < min[$1] { min[$1] = $2 } !seen[$1]++ { order[++n] = $1 }
    END { for (i = 1; i <= n; i++) print order[i], min[order[i]] }'; }
best "$work"/ours.* >"$work/ours"
best "$work"/peer.* >"$work/peer_best"
echo "| network-batch, $RAYON_NUM_THREADS threads | ours, µs | PyTorch, µs | ratio |"
echo '|---|---:|---:|---:|'
awk 'NR == FNR { peer[$1] = $2; next }
    { if ($1 in peer) printf "| %s | %.1f | %.1f | %.2f |\n", $1, $2 / 1000, peer[$1] / 1000, peer[$1] / $2; else printf "| %s | %.1f | | |\n", $1, $2 / 1000 }' \
    "$work/peer_best" "$work/ours"
