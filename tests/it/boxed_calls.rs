//! A hundred thousand boxed calls of all operators that are linked, most of them wrong.

use torch_library::Dispatcher;
use torch_library_tests::hostile::{Hostile, Outcome};

#[test]
fn no_call_panics_or_leaks() {
    let operators = Dispatcher::global().operators().into_iter().map(|info| info.operator);
    let operators: Vec<_> = operators.filter(|operator| operator.namespace() == "aten").collect();
    assert!(operators.len() > 100, "the kernels are linked");
    let mut state = 1u64;
    let mut choose = move |bound: usize| {
        // SplitMix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    };
    let mut hostile = Hostile::new(operators, &mut choose);
    let mut outcomes = Vec::with_capacity(100_000);
    for _ in 0..100_000 {
        outcomes.push(hostile.call().unwrap_or_else(|failure| panic!("{failure}")));
    }
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert!(count(Outcome::Returned) > 10_000, "too few calls were right");
}
