#!/usr/bin/env bash
# Measures what many operators cost. Generates programs with thousands of them and prints, as rows of a table beside the peer's,
# - how much longer than an empty process one with 3 500 operators and 15 500 kernels linked in takes from its start to its first call;
# - how much resident memory an operator with one kernel takes, at 1 000 operators that are each called once: linked in, including
#   the pages of the binary (the difference from a program with 100 operators), and registered at run time;
# - how long a call takes when calls are spread at random over 16 to 8 192 operators: through typed handles, with one caller and
#   one kernel for all, as in the peer; and as in a real program, with a caller and a kernel for each operator. The processor
#   predicts neither of those, and the rows with pointers to the kernels show the cost of these mispredictions alone.
# The peer's column needs PEER_PYTHON, as for compare.sh. Compiling the programs takes minutes the first time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
work=$PWD/target/startup
. "$here/peer/build.sh"

keys=(CPU CUDA Meta AutogradCPU XLA)
operators() { # COUNT KERNELS: a program's COUNT operators, with KERNELS kernels in total
    echo 'use torch_library::prelude::*;'
    echo 'torch_library! { pub mod ops {'
    for i in $(seq "$1"); do echo "    op_$i(Tensor self, Tensor other) -> int;"; done
    echo '} }'
    local left=$2
    for key in "${keys[@]}"; do
        [ "$left" -gt 0 ] || break
        echo "#[torch_impl(ops, $key)] mod on_${key,,} { use torch_library::prelude::*;"
        for i in $(seq $((left < $1 ? left : $1))); do
            echo "pub fn op_$i(_: &Tensor, _: &Tensor) -> Result<i64> { Ok($i) }"
        done
        echo '}'
        left=$((left - $1))
    done
}
functions() { # NAME COUNT PREFIX SUFFIX: a table of functions PREFIX1SUFFIX …
    echo "static $1: [fn(&Tensor, &Tensor) -> Result<i64>; $2] = ["
    for i in $(seq "$2"); do echo "    $3$i$4,"; done
    echo '];'
}
calls() { functions CALLS "$1" ops::op_ ::call; } # COUNT: a table of the typed call functions of all operators
program() { # NAME: writes a package, whose main.rs is standard input
    mkdir -p "$work/$1/src"
    printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\ntorch-library = { path = "%s" }\n' \
        "$1" "$here/.." >"$work/$1/Cargo.toml"
    cat >"$work/new"
    cmp -s "$work/new" "$work/$1/src/main.rs" || mv "$work/new" "$work/$1/src/main.rs"
}

mkdir -p "$work"
cat >"$work/Cargo.toml" <<TOML
[workspace]
resolver = "3"
members = ["empty", "start", "few", "memory", "spread"]
TOML
resident=$(cat <<'RUST'
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or_default()
}
RUST
)
echo 'fn main() {}' | program empty
{ operators 3500 15500; cat <<'RUST'; } | program start
fn main() -> Result<()> {
    let x = Tensor::from([1.0f32]);
    ops::op_1(&x, &x)?;
    Ok(())
}
RUST
memory=$(cat <<'RUST'
fn main() -> Result<()> {
    let x = Tensor::from([1.0f32]);
    CALLS.iter().try_for_each(|call| call(&x, &x).map(drop))?;
    println!("{}", resident());
    let mut library = torch_library::Library::new("registered")?;
    let before = resident();
    for i in 0..1000 {
        let operator = library.define(&format!("op_{i}(Tensor self, Tensor other) -> Tensor"))?;
        let kernel = torch_library::RuntimeKernel::boxed(|_, _, stack| Ok(stack.drop_last(1)));
        library.implement(&format!("op_{i}"), DispatchKey::CPU, kernel)?;
        operator.call_boxed(&mut Stack::from_iter([Value::from(&x), Value::from(&x)]))?;
    }
    println!("{}", resident() - before);
    Ok(())
}
RUST
)
{ operators 100 100; calls 100; echo "$resident"; echo "$memory"; } | program few
{ operators 1000 1000; calls 1000; echo "$resident"; echo "$memory"; } | program memory
shared_kernels() { # COUNT: a table of kernels, one per operator, which all run one function
    echo 'fn shared(_: &Tensor, _: &Tensor) -> Result<i64> { Ok(7) }'
    echo "static SHARED: [fn() -> torch_library::RuntimeKernel; $1] = ["
    for i in $(seq "$1"); do echo "    || ops::op_$i::kernel(shared),"; done
    echo '];'
}
{ operators 8192 8192; calls 8192; functions KERNELS 8192 on_cpu::op_ ''; shared_kernels 8192; cat <<'RUST'; } | program spread
/// Numbers below 8192 in an order of chance.
fn shuffled() -> Vec<usize> {
    let (mut order, mut seed): (Vec<_>, _) = ((0..8192).collect(), 42u64);
    for i in (1..order.len()).rev() {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        order.swap(i, (seed >> 33) as usize % (i + 1));
    }
    order
}
/// The nanoseconds of a call, of the first so many in that order, by the best of some rounds.
fn measure<T: Copy>(name: &str, all: &[T], call: impl Fn(T) -> Result<i64>) -> Result<()> {
    for count in [16, 256, 2048, 8192] {
        let order: Vec<_> = shuffled().into_iter().take(count).map(|i| all[i]).collect();
        let mut best = f64::MAX;
        for _ in 0..200 {
            let start = std::time::Instant::now();
            for one in order.iter().cycle().take(16384) {
                std::hint::black_box(call(*one)?);
            }
            best = best.min(start.elapsed().as_nanos() as f64 / 16384.0);
        }
        println!("{name}_{count} {best:.3}");
    }
    Ok(())
}
fn main() -> Result<()> {
    let x = Tensor::from([1.0f32]).with_key_set(torch_library::DispatchKeySet::from_key(DispatchKey::CPU));
    CALLS.iter().try_for_each(|call| call(&x, &x).map(drop))?;
    measure("spread", &CALLS, |call| call(&x, &x))?;
    measure("pointers", &KERNELS, |kernel| kernel(&x, &x))?;
    let mut library = torch_library::Library::implementation("ops", DispatchKey::CPU)?;
    let mut handles = Vec::new();
    for (i, kernel) in SHARED.iter().enumerate() {
        library.implement(&format!("op_{}", i + 1), DispatchKey::CPU, kernel())?;
        let operator = torch_library::Dispatcher::global().find(&format!("ops::op_{}", i + 1))?;
        handles.push(operator.typed::<fn(&Tensor, &Tensor) -> Result<i64>, _>()?);
    }
    measure("handles", &handles, |handle| handle.call(&x, &x))
}
RUST
CARGO_TARGET_DIR=$PWD/target cargo build --release --quiet --manifest-path "$work/Cargo.toml"
rm -f "$work"/*.us "$work"/*.ns
bin=$PWD/target/release

microseconds() { # COMMAND…: the duration of the whole process
    local start
    start=$(date +%s%N)
    "$@" >/dev/null
    echo $((($(date +%s%N) - start) / 1000))
}
for _ in $(seq 40); do
    microseconds "$bin/empty" >>"$work/empty.us"
    microseconds "$bin/start" >>"$work/start.us"
    if [ -n "$peer" ]; then microseconds "$peer" start >>"$work/peer.us"; fi
done
best() { sort -n "$1" | head -n 1; }
row() { # NAME OURS PEER
    awk -v name="$1" -v ours="$2" -v peer="${3:-}" 'BEGIN {
        if (peer == "") printf "| %s | %.2f | | |\n", name, ours; else printf "| %s | %.2f | %.2f | %.1f |\n", name, ours, peer, peer / ours }'
}
over_empty() { if [ -e "$1" ]; then echo $(($(best "$1") - $(best "$work/empty.us"))) | awk '{ print $1 / 1000 }'; fi; }
echo '| case | ours | PyTorch | ratio |'
echo '|---|---:|---:|---:|'
row 'process with 3 500 operators and 15 500 kernels, over an empty one, ms' "$(over_empty "$work/start.us")" "$(over_empty "$work/peer.us")"
line() { awk -v line="$1" 'NR == line { print $1 }'; }
# The pages that a start touches differ from run to run: take a median.
for _ in $(seq 21); do
    for name in few memory; do "$bin/$name" >"$work/pages" && line 1 <"$work/pages" >>"$work/$name.us"; done
done
median() { sort -n "$1" | awk 'NR == 11'; }
linked=$(($(median "$work/memory.us") - $(median "$work/few.us")))
row 'resident memory of an operator with one kernel, linked in, KiB' "$(awk -v kib=$linked 'BEGIN { print kib / 900 }')"
peer_memory=$([ -z "$peer" ] || "$peer" memory | awk '{ print $2 / 1000 }')
row 'the same, registered at run time, KiB' "$("$bin/memory" | line 2 | awk '{ print $1 / 1000 }')" "$peer_memory"
"$bin/spread" >"$work/spread.ns"
if [ -n "$peer" ]; then "$peer" spread >"$work/peer_spread.ns"; fi
of() { awk -v name="$1" '$1 == name { print $2 }' "$2" 2>/dev/null || true; }
for count in 16 256 2048 8192; do
    row "typed handles at random over $count operators, one caller and kernel for all, ns" "$(of "handles_$count" "$work/spread.ns")" \
        "$(of "spread_$count" "$work/peer_spread.ns")"
    row "typed calls at random over $count operators, a caller and a kernel for each, ns" "$(of "spread_$count" "$work/spread.ns")"
    row 'the same of their kernels through pointers, ns' "$(of "pointers_$count" "$work/spread.ns")"
done
