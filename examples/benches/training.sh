#!/usr/bin/env bash
# How long does a training step take here and in PyTorch, and how much does it make the process grow? Prints one table: both sides
# run in turn on this machine, each case in a process of its own, with RAYON_NUM_THREADS threads (default 1); minima
# over all rounds, and their ratios. Then prints what layers add to a call, and what a long graph takes on both sides.
#
# PEER_PYTHON names a Python that has torch (pip install torch==2.15.0 into a virtual environment). Without it only our side is printed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
rounds=${1:-3}
export RAYON_NUM_THREADS=${RAYON_NUM_THREADS:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

executable() {
    cargo bench -p torch-library-examples --bench "$1" --no-run --message-format=json |
        sed -n 's/.*"executable":"\([^"]*'"$1"'-[^"]*\)".*/\1/p' | tail -n 1
}
ours=$(executable training)
layers=$(executable layers)
python=${PEER_PYTHON:-python3}
"$python" -c 'import torch' 2>/dev/null || {
    echo "no torch in $python: the peer's columns stay empty (set PEER_PYTHON)" >&2
    python=
}
touch "$work/peer.0"
for round in $(seq "$rounds"); do
    for case in {perceptron,digits,transformer}-{1,32,128}; do
        "$ours" "$case" >>"$work/ours.$round"
        [ -z "$python" ] || "$python" "$here/training.py" "$case" >>"$work/peer.$round"
    done
done
best() { cat "$@" | awk '!($1 in time) { order[++n] = $1; time[$1] = $2; room[$1] = $3 }
    { if ($2 < time[$1]) time[$1] = $2; if ($3 < room[$1]) room[$1] = $3 }
    END { for (i = 1; i <= n; i++) print order[i], time[order[i]], room[order[i]] }'; }
best "$work"/ours.* >"$work/ours"
best "$work"/peer.* >"$work/peer_best"
echo "| network-batch, threads: $RAYON_NUM_THREADS | ours, µs | PyTorch, µs | ratio | ours grows by, KiB | PyTorch, KiB |"
echo '|---|---:|---:|---:|---:|---:|'
awk 'NR == FNR { peer[$1] = $2; room[$1] = $3; next }
    { if ($1 in peer) printf "| %s | %.1f | %.1f | %.2f | %d | %d |\n", $1, $2 / 1000, peer[$1] / 1000, peer[$1] / $2, $3, room[$1]
      else printf "| %s | %.1f | | | %d | |\n", $1, $2 / 1000, $3 }' "$work/peer_best" "$work/ours"
echo
"$layers"
[ -z "$python" ] || "$python" "$here/layers.py"
