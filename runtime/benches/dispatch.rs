//! Measures the cost of a dispatched call against that of a call through a function pointer.
//!
//! `cargo bench --bench dispatch` prints nanoseconds per call, minimum and median of many batches, each batch run back
//! to back with a batch of the baseline. `cargo bench --bench dispatch -- CASE LOOPS` runs one case alone, so that
//! callgrind can count its instructions (see `benches/instructions.sh`). With `--plain` it prints lines for
//! `benches/compare.sh`, which compares PyTorch's dispatcher with ours.
//!
//! A guard alone takes more than a nanosecond: each guard reads the word that the previous one wrote, which takes five
//! cycles through the store buffer. Around a call, which does not wait for that word, the latency is hidden.
//!
//! In a shared object, a function that accesses thread-locals calls `__tls_get_addr` once, at some 0.7 ns: the caller
//! does so for its keys, and the kernel for its guard. This alone makes `guard_redispatch` slower there; PyTorch's hook
//! hides its own calls.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use torch_library::guard::{AutoDispatchBelowAutograd, ExcludeDispatchKeyGuard, IncludeDispatchKeyGuard};
use torch_library::prelude::*;
use torch_library::{DispatchKeySet, Library, RuntimeKernel};
use torch_library_schema::{Mode, Schema};

torch_library! {
    /// Operators that do nothing, so that only the call is measured.
    pub mod bench {
        /// A CPU kernel.
        two(Tensor a, Tensor b) -> int;
        /// A CPU kernel of one tensor.
        one(Tensor a) -> int;
        /// A CPU kernel of four tensors.
        four(Tensor a, Tensor b, Tensor c, Tensor d) -> int;
        /// A CPU kernel of eight tensors and four numbers.
        eight(
            Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f, Tensor g, Tensor h, int i, int j, int k, int l
        ) -> int;
        /// No tensor argument.
        none(int a, int b) -> int;
        /// Returns a tensor.
        tensor(Tensor a, Tensor b) -> Tensor;
        /// A fallthrough at Autograd.
        fallthrough(Tensor a, Tensor b) -> int;
        /// An autograd kernel that redispatches under a guard.
        layered(Tensor a, Tensor b) -> int;
        /// Only a boxed kernel.
        boxed_only(Tensor a, Tensor b) -> int;
        /// A list.
        list(Tensor[] a) -> int;
    }
}

#[torch_impl(bench, CPU)]
mod cpu {
    use torch_library::prelude::*;

    fn two(_: &Tensor, _: &Tensor) -> Result<i64> {
        Ok(2)
    }
    fn one(_: &Tensor) -> Result<i64> {
        Ok(1)
    }
    fn four(_: &Tensor, _: &Tensor, _: &Tensor, _: &Tensor) -> Result<i64> {
        Ok(4)
    }
    #[expect(clippy::too_many_arguments, reason = "that is the case")]
    fn eight(
        _: &Tensor,
        _: &Tensor,
        _: &Tensor,
        _: &Tensor,
        _: &Tensor,
        _: &Tensor,
        _: &Tensor,
        _: &Tensor,
        i: i64,
        _: i64,
        _: i64,
        _: i64,
    ) -> Result<i64> {
        Ok(i)
    }
    fn tensor(a: &Tensor, _: &Tensor) -> Result<Tensor> {
        Ok(a.clone())
    }
    fn fallthrough(_: &Tensor, _: &Tensor) -> Result<i64> {
        Ok(2)
    }
    fn layered(_: &Tensor, _: &Tensor) -> Result<i64> {
        Ok(2)
    }
    fn list(a: &[Tensor]) -> Result<i64> {
        Ok(a.len() as i64)
    }
}

#[torch_impl(bench, CompositeExplicitAutograd)]
fn none(a: i64, b: i64) -> Result<i64> {
    Ok(a ^ b)
}

#[torch_impl(bench::layered, AutogradCPU)]
fn layered_autograd(keys: DispatchKeySet, a: &Tensor, b: &Tensor) -> Result<i64> {
    let _below = AutoDispatchBelowAutograd::new();
    bench::layered::redispatch(keys & DispatchKeySet::AFTER_AUTOGRAD, a, b)
}

#[torch_impl(bench::boxed_only, CPU, boxed)]
fn boxed_only(_: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    stack.drop_last(2);
    stack.push(2i64);
    Ok(())
}

/// A boxed layer around every operator, for threads that include its key.
#[torch_fallback(TESTING_ONLY_GenericWrapper)]
fn wrapper(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    const BELOW: DispatchKeySet = DispatchKeySet::full_after(DispatchKey::TESTING_ONLY_GenericWrapper);
    operator.redispatch_boxed(keys & BELOW, stack)
}

#[inline(never)]
fn kernel(_: &Tensor, _: &Tensor) -> Result<i64> {
    black_box(());
    Ok(2)
}

#[inline(never)]
fn tensor_kernel(a: &Tensor, _: &Tensor) -> Result<Tensor> {
    Ok(a.clone())
}

/// Runs a body `loops` times.
type Case = Box<dyn Fn(u64)>;

macro_rules! case {
    ($cases:ident, $name:literal, $body:expr) => {
        $cases.push((
            $name,
            Box::new(move |loops| {
                for _ in 0..loops {
                    let _ = black_box($body);
                }
            }),
        ))
    };
}

fn cases() -> Vec<(&'static str, Case)> {
    let default = || Tensor::from([1.0f32, 2.0]);
    let inference = || Tensor::from([1.0f32, 2.0]).with_key_set(DispatchKeySet::from_key(DispatchKey::CPU));
    let mut cases: Vec<(&'static str, Case)> = Vec::new();
    let pointer: fn(&Tensor, &Tensor) -> Result<i64> = kernel;
    let (a, b) = (inference(), inference());
    case!(cases, "fnptr_int2", black_box(pointer)(&a, &b));
    let pointer: fn(&Tensor, &Tensor) -> Result<Tensor> = tensor_kernel;
    let (a, b) = (inference(), inference());
    case!(cases, "fnptr_tensor2", black_box(pointer)(&a, &b));
    let a = inference();
    case!(cases, "call_1", bench::one(&a));
    let (a, b) = (inference(), inference());
    case!(cases, "call_2", bench::two(&a, &b));
    let (a, b, c, d) = (inference(), inference(), inference(), inference());
    case!(cases, "call_4", bench::four(&a, &b, &c, &d));
    let a = inference();
    case!(cases, "call_8_and_4_ints", bench::eight(&a, &a, &a, &a, &a, &a, &a, &a, 1, 2, 3, 4));
    case!(cases, "call_none_2_ints", bench::none(black_box(1), black_box(2)));
    let (a, b) = (inference(), inference());
    case!(cases, "call_2_tensor", bench::tensor(&a, &b));
    let (a, b) = (default(), default());
    case!(cases, "default_no_autograd", bench::two(&a, &b));
    let (a, b) = (default(), default());
    case!(cases, "default_fallthrough", bench::fallthrough(&a, &b));
    let (a, b) = (default(), default());
    case!(cases, "guard_redispatch", bench::layered(&a, &b));
    let keys = DispatchKeySet::from_key(DispatchKey::CPU);
    let (a, b) = (inference(), inference());
    case!(cases, "redispatch", bench::two::redispatch(black_box(keys), &a, &b));
    let (a, b) = (inference(), inference());
    let two = bench::two::handle();
    case!(cases, "call_boxed", {
        let mut stack = Stack::new();
        stack.push(&a);
        stack.push(&b);
        two.call_boxed(&mut stack).and_then(|()| stack.pop_as::<i64>())
    });
    let (a, b) = (inference(), inference());
    case!(cases, "boxed_only", bench::boxed_only(&a, &b));
    let (a, b) = (inference(), inference());
    cases.push((
        "boxed_fallback",
        Box::new(move |loops| {
            let _guard = IncludeDispatchKeyGuard::new(DispatchKey::TESTING_ONLY_GenericWrapper);
            for _ in 0..loops {
                let _ = black_box(bench::two(&a, &b));
            }
        }),
    ));
    let list: Vec<Tensor> = (0..8).map(|_| inference()).collect();
    case!(cases, "list_8", bench::list(&list));
    case!(cases, "guard", ExcludeDispatchKeyGuard::new(black_box(DispatchKeySet::AUTOGRAD)));
    case!(cases, "find", torch_library::Dispatcher::global().find(black_box("bench::two")));
    case!(
        cases,
        "parse",
        Schema::parse(black_box("myadd(Tensor self, Tensor other) -> Tensor"), Mode::Strict)
    );
    cases
}

/// Times registering 1 000 operators with one kernel each at run time: nanoseconds per operator, best and median round.
fn register() -> Result<(f64, f64)> {
    const OPERATORS: usize = 1000;
    let mut times = Vec::new();
    for _ in 0..20 {
        let mut library = Library::fragment("bench_registered")?;
        let start = Instant::now();
        for number in 0..OPERATORS {
            let name = format!("op_{number}");
            library.define(&format!("{name}(Tensor self, Tensor other) -> Tensor"))?;
            library.implement(&name, DispatchKey::CPU, RuntimeKernel::boxed(boxed_only))?;
        }
        times.push(start.elapsed().as_nanos() as f64 / OPERATORS as f64);
    }
    Ok(best_and_median(times))
}

fn best_and_median(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}

/// Times a lookup while another thread looks up too: nanoseconds on the slower thread, best and median of the rounds in
/// which both ran at once. `None` if the machine was too busy for any such round.
fn find_on_two_threads() -> Option<(f64, f64)> {
    const LOOPS: usize = 20_000;
    const ROUNDS: usize = 500;
    let arrived = AtomicUsize::new(0);
    let thread = || {
        let round = |round: usize| {
            arrived.fetch_add(1, Ordering::AcqRel);
            while arrived.load(Ordering::Acquire) < 2 * (round + 1) {}
            let start = Instant::now();
            for _ in 0..LOOPS {
                let _ = black_box(torch_library::Dispatcher::global().find(black_box("bench::two")));
            }
            (start, Instant::now())
        };
        (0..ROUNDS).map(round).collect::<Vec<_>>()
    };
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(thread);
        (thread(), other.join().expect("it only looks up"))
    });
    let times = one.into_iter().zip(other).filter_map(|((start, end), (other_start, other_end))| {
        let longer = (end - start).max(other_end - other_start);
        let together = end.min(other_end).saturating_duration_since(start.max(other_start));
        (together * 10 > longer * 9).then_some(longer.as_nanos() as f64 / LOOPS as f64)
    });
    let times: Vec<_> = times.collect();
    (!times.is_empty()).then(|| best_and_median(times))
}

fn time(case: &Case, loops: u64) -> Duration {
    let start = Instant::now();
    case(loops);
    start.elapsed()
}

/// Public because `benches/compare.sh` also compiles this file into a shared library.
pub fn main() -> Result<()> {
    let mut library = Library::implementation("bench", DispatchKey::Autograd)?;
    library.implement("fallthrough", DispatchKey::Autograd, RuntimeKernel::fallthrough())?;
    let cases = cases();
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let plain = arguments.iter().any(|argument| argument == "--plain");
    if let ([name, loops], false) = (&arguments[..], plain) {
        let case = cases.iter().find(|(known, _)| known == name);
        let (Some((_, case)), Ok(loops)) = (case, loops.parse()) else {
            bail!(Argument, "no case {name} {loops}")
        };
        case(loops);
        return Ok(());
    }
    if !plain {
        println!("{:<22} {:>9} {:>9} {:>9}", "case", "min ns", "median ns", "x fnptr");
    }
    let print = |name: &str, (min, median): (f64, f64), base: Option<f64>| match base {
        _ if plain => println!("{name} {min:.3} {median:.3}"),
        Some(base) => println!("{name:<22} {min:>9.2} {median:>9.2} {:>9.2}", min / base),
        None => println!("{name:<22} {min:>9.2} {median:>9.2}"),
    };
    const LOOPS: u64 = 10_000;
    const BATCHES: usize = 300;
    let baseline = &cases[0].1;
    let per_call = |case| time(case, LOOPS).as_nanos() as f64 / LOOPS as f64;
    for (name, case) in &cases {
        time(case, 1000);
        let (times, base) = (0..BATCHES).map(|_| (per_call(case), per_call(baseline))).unzip();
        print(name, best_and_median(times), Some(best_and_median(base).0));
    }
    if let Some(times) = find_on_two_threads() {
        print("find_two_threads", times, None);
    }
    print("register", register()?, None);
    Ok(())
}
