#!/usr/bin/env bash
# How long do our kernels take compared with PyTorch's, and how much memory? Prints one table for one and for two threads: both sides take
# turns row by row, so that they see the same machine load, and the median of many samples counts.
#
#     kernels/benches/compare.sh [WORD…]      only rows whose names contain one of the words
#
# PEER_PYTHON names a Python that has torch (pip install torch==2.15.0 into a virtual environment); without it only our side is
# printed. ROUNDS (default 3) is the number of rounds for each side. Small rows are also measured from C++, if there is a compiler.
# CANDLE=1 builds candle's side, too, and adds columns for it.
# SWEEP=0.95 runs a thousand calls of other operators instead (compare/calls.txt; one thread), in two minutes, and prints
# those for which PyTorch's time divided by ours is below that number.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
ours=$(cargo bench -p torch-library-kernels --bench compare --no-run --message-format=json |
    sed -n 's/.*"executable":"\([^"]*compare-[^"]*\)".*/\1/p' | tail -n 1)
python=${PEER_PYTHON:-python3}
if ! torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))' 2>/dev/null); then
    echo "no torch in $python: only our side is measured (set PEER_PYTHON)" >&2
    for threads in 1 2; do RAYON_NUM_THREADS=$threads "$ours" "$@"; done
    exit
fi
if [ -n "${SWEEP:-}" ]; then
    exec "$python" "$here/compare/sweep.py" "$ours" 1 "$SWEEP" "$@"
fi
small=
if command -v "${CXX:-g++}" >/dev/null; then
    small=$PWD/target/peer/small
    mkdir -p target/peer
    [ "$small" -nt "$here/compare/small.cpp" ] ||
        "${CXX:-g++}" -std=c++20 -O3 -DNDEBUG -w -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" \
            "$here/compare/small.cpp" -o "$small" -L"$torch/lib" -ltorch_cpu -lc10 -Wl,-rpath,"$torch/lib" \
            -Wl,--allow-shlib-undefined -pthread
fi
candle=
if [ -n "${CANDLE:-}" ]; then
    candle=$PWD/target/peer/release/torch-library-candle
    cargo build --release --quiet --manifest-path "$here/candle/Cargo.toml" --target-dir target/peer
fi
exec "$python" "$here/compare/compare.py" "$ours" "$small" "$candle" "${ROUNDS:-3}" "$@"
