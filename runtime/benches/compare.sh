#!/usr/bin/env bash
# How do our calls compare with those of PyTorch's C++ dispatcher? Prints one table: both sides run in turn on this machine, several
# rounds each; minimum over all rounds, and the ratio of the minima.
#
# PEER_PYTHON names a Python that has torch (pip install torch==2.15.0 into a virtual environment). Without it only our side is printed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
rounds=${1:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ours=$(cargo bench --bench dispatch --no-run --message-format=json 2>/dev/null |
    sed -n 's/.*"executable":"\([^"]*dispatch-[^"]*\)".*/\1/p' | tail -n 1)
python=${PEER_PYTHON:-python3}
peer=
if torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))' 2>/dev/null); then
    peer=$work/peer
    "${CXX:-g++}" -std=c++20 -O3 -DNDEBUG -w -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" \
        "$here/peer/dispatch.cpp" -o "$peer" -L"$torch/lib" -ltorch_cpu -lc10 -Wl,-rpath,"$torch/lib" \
        -Wl,--allow-shlib-undefined -pthread
else
    echo "no torch in $python: the peer's column stays empty (set PEER_PYTHON)" >&2
fi

for round in $(seq "$rounds"); do
    "$ours" --plain >"$work/ours.$round"
    if [ -n "$peer" ]; then "$peer" >"$work/peer.$round"; fi
done
touch "$work/peer.0"
best() { cat "$@" | awk '!($1 in min) || $2 < min[$1] { min[$1] = $2 } !seen[$1]++ { order[++n] = $1 }
    END { for (i = 1; i <= n; i++) print order[i], min[order[i]] }'; }
best "$work"/ours.* >"$work/ours"
best "$work"/peer.* >"$work/peer_best"
echo '| case | ours, ns | PyTorch, ns | ratio |'
echo '|---|---:|---:|---:|'
awk 'NR == FNR { peer[$1] = $2; next }
    { if ($1 in peer) printf "| %s | %.2f | %.2f | %.1f |\n", $1, $2, peer[$1], peer[$1] / $2; else printf "| %s | %.2f | | |\n", $1, $2 }' \
    "$work/peer_best" "$work/ours"
