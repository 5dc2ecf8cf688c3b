#!/usr/bin/env bash
# Counts the instructions per call of each case of the dispatch bench.
# Runs two loop lengths under callgrind and divides the difference in instructions, so that start-up and the harness cancel out.
set -euo pipefail
cd "$(dirname "$0")/../.."
bench=$(cargo bench --bench dispatch --no-run --message-format=json 2>/dev/null |
    sed -n 's/.*"executable":"\([^"]*dispatch-[^"]*\)".*/\1/p' | tail -n 1)
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" "$1" "$2" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
printf '%-22s %12s\n' case instructions
for case in ${@:-fnptr_int2 fnptr_tensor2 call_1 call_2 call_4 call_8_and_4_ints call_none_2_ints call_2_tensor \
    default_no_autograd default_fallthrough guard_redispatch redispatch call_boxed boxed_only list_8 guard find}; do
    few=$(count "$case" 1000)
    many=$(count "$case" 11000)
    printf '%-22s %12s\n' "$case" $(((many - few) / 10000))
done
