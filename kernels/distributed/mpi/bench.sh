#!/usr/bin/env bash
# The cost of several processes on this machine, here on MPI and in PyTorch on gloo, in one run, each on one thread: all-reduces of
# 1 KB to 256 MB, a training step, and a model for more ranks, from constants that it measures. Prints tables.
#
# bench.sh [all_reduce] [train_step] [model]: by default all three. PYTHON names a Python with PyTorch; PROFILE=dev
# measures an unoptimised build. Note that 4 processes share the cores on a machine that has fewer.
set -euo pipefail
cd "$(dirname "$0")"
python=${PYTHON:-python3} profile=${PROFILE:-release}
export RAYON_NUM_THREADS=1
cargo build --quiet --profile "$profile" --features mpi --bin all_reduce --bin constants --bin train_step
folder=${CARGO_TARGET_DIR:-../../../target}/$([ "$profile" = dev ] && echo debug || echo "$profile")
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT

here() {
    mpirun --oversubscribe --allow-run-as-root --mca btl self,vader --mca oob_tcp_if_include lo -n "$1" "$folder/$2"
}
# PyTorch may abort at the end, when everything has been measured: what counts is what it printed.
gloo() {
    "$python" -m torch.distributed.run --standalone --local-addr 127.0.0.1 --nproc-per-node "$1" gloo.py "$2" \
        2>"$own/errors" >"$own/printed" || [ -s "$own/printed" ] || { cat "$own/errors" >&2; return 1; }
    cat "$own/printed"
}

all_reduce() {
    echo '| processes | size | here, µs | here, GB/s | gloo, µs | gloo, GB/s |'
    echo '|---:|---:|---:|---:|---:|---:|'
    for processes in 2 4; do
        here "$processes" all_reduce >"$own/here"
        gloo "$processes" all_reduce >"$own/gloo"
        paste -d' ' "$own/here" "$own/gloo" |
            awk -v n="$processes" '{ printf "| %s | %s KB | %.0f | %.2f | %.0f | %.2f |\n", n, $1, $2, $3, $5, $6 }'
    done
}

# "Hidden" is the share of the cost of sending after the backward pass that is saved by sending during it.
train_step() {
    echo '| processes | | step, ms | times as fast as one | without sending, ms | sending after it, ms | hidden |'
    echo '|---:|---|---:|---:|---:|---:|---:|'
    for processes in 1 2 4; do
        for side in here gloo; do
            "$side" "$processes" train_step >"$own/$side$processes"
            cat "$own/${side}1" "$own/$side$processes" | awk -v n="$processes" -v side="$side" '
                NR == 1 { one = $1 }
                NR == 2 {
                    hidden = $3 > $2 ? ($3 - $1) / ($3 - $2) : 0
                    hidden = hidden < 0 ? 0 : hidden > 1 ? 1 : hidden
                    share = n == 1 ? "" : sprintf("%.0f %%", 100 * hidden)
                    printf "| %d | %s | %.1f | %.2f | %.1f | %.1f | %s |\n", n, side, $1, one / $1, $2, $3, share
                }'
        done
    done
}

# The guide states the formula's assumptions. The rate of sums and copies is what a large all-reduce between two takes beyond sending.
model() {
    here 2 constants >"$own/constants"
    here 2 all_reduce | awk '$1 == 65536' >>"$own/constants"
    awk '
        NR == 1 { a = $1 * 1e-6; g = $2 * 1e-6; B = $3 * 1e9 }
        NR == 2 {
            b = $1 * 1024; t = $2 * 1e-6
            s = t > b / B ? b / (t - b / B) : 1e12
        }
        END {
            printf "α = %.1f µs, γ = %.2f µs, β = %.1f GB/s, σ = %.1f GB/s\n\n", a * 1e6, g * 1e6, B / 1e9, s / 1e9
            print "| ranks | agreement | messages | bandwidth | sums and copies | together |"
            print "|---:|---:|---:|---:|---:|---:|"
            b = 25 * 2 ^ 20
            for (n = 8; n <= 1024; n *= n < 64 ? 8 : 4) {
                stripes = int((b + n * 2 ^ 17 - 1) / (n * 2 ^ 17))
                agree = 2 * a + 2 * (n - 1) * g
                messages = 2 * a + 4 * (n - 1) * stripes * g
                send = 2 * (n - 1) / n * b / B
                printf "| %d | %.2f ms | %.2f ms | %.1f ms | %.1f ms | %.1f ms |\n", n, agree * 1e3, messages * 1e3,
                    send * 1e3, b / s * 1e3, (agree + messages + send + b / s) * 1e3
            }
        }' "$own/constants"
}

for part in ${*:-all_reduce train_step model}; do
    "$part"
    echo
done
