#!/usr/bin/env bash
# An all-reduce of 1 KB to 64 MB on 2 and 4 processes, here on MPI and in PyTorch on gloo: microseconds and GB/s of each.
# PYTHON names a Python with PyTorch; PROFILE=dev measures a build without optimisations. Prints rows of a table.
set -euo pipefail
cd "$(dirname "$0")"
python=${PYTHON:-python3} profile=${PROFILE:-release}
cargo build --quiet --profile "$profile" --bin all_reduce
folder=${CARGO_TARGET_DIR:-target}/$([ "$profile" = dev ] && echo debug || echo "$profile")
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
cat >"$own/gloo.py" <<'PYTHON'
import os, sys, time
import torch, torch.distributed as dist
torch.set_num_threads(1)
dist.init_process_group("gloo")
for kilobytes in [1, 16, 256, 4096, 65536]:
    x = torch.ones(kilobytes * 256)
    times = []
    for _ in range((5 if kilobytes > 1024 else 100) + 2):
        dist.barrier()
        begun = time.perf_counter()
        dist.all_reduce(x, async_op=True).wait()
        times.append(time.perf_counter() - begun)
    times = sorted(times[2:])
    if dist.get_rank() == 0:
        median = times[len(times) // 2]
        print(f"{kilobytes} {median * 1e6:.1f} {kilobytes * 1024 / median / 1e9:.3f}")
dist.destroy_process_group()
PYTHON
echo '| processes | size | here, µs | here, GB/s | gloo, µs | gloo, GB/s |'
echo '|---:|---:|---:|---:|---:|---:|'
for processes in 2 4; do
    mpirun --oversubscribe --allow-run-as-root --mca btl self,vader -n "$processes" "$folder/all_reduce" >"$own/here"
    "$python" -m torch.distributed.run --standalone --local-addr 127.0.0.1 --nproc-per-node "$processes" "$own/gloo.py" \
        2>/dev/null >"$own/gloo"
    paste -d' ' "$own/here" "$own/gloo" |
        awk -v n="$processes" '{ printf "| %s | %s KB | %s | %s | %s | %s |\n", n, $1, $2, $3, $5, $6 }'
done
