//! Random numbers drawn from one generator by several threads or calls at once.
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use torch_library::{Generator, Result};

use crate::harness::together;

/// Threads draw from one stream: each draw must be uninterrupted.
pub(crate) fn shared_by_threads() -> Result<()> {
    let generator = Generator::with_seed(0);
    let draw = |_| {
        let mut words = [0; 700];
        generator.with(|next| next(&mut words));
        assert!(words.iter().any(|word| *word != words[0]));
    };
    together(&[&draw, &draw, &|_| {
        generator.random64();
    }]);
    Ok(())
}

/// A closure that draws asks the same generator for more numbers, reseeds it, or panics.
pub(crate) fn drawn_while_drawing() -> Result<()> {
    let generator = Generator::with_seed(0);
    let (first, mut then) = ([2_357_136_044, 2_546_248_239], [0; 2]);
    generator.with(|next| {
        let second = generator.clone();
        let _ = (second.random(), second.initial_seed());
        second.manual_seed(0);
        next(&mut then);
        second.with_spare(|_, spare| *spare = None);
    });
    assert_eq!(then, first);
    let end = catch_unwind(AssertUnwindSafe(|| generator.with(|_| panic!("in the middle"))));
    assert!(end.is_err());
    generator.manual_seed(0);
    assert_eq!(generator.random(), first[0]);
    Ok(())
}

/// One thread reseeds the generator, another draws: its numbers must be from a stream that some seed began.
pub(crate) fn seeded_while_drawing() -> Result<()> {
    let generator = Generator::with_seed(0);
    together(&[&|_| generator.manual_seed(0), &|_| {
        generator.with(|next| {
            let mut words = [0; 4];
            next(&mut words);
        });
        assert_eq!(generator.initial_seed(), 0);
    }]);
    Ok(())
}

/// Threads draw from two generators, each within the other, in both orders: there must be no deadlock.
pub(crate) fn generators_within_each_other() -> Result<()> {
    let (a, b) = (Generator::with_seed(0), Generator::with_seed(1));
    let draw = |outer: &Generator, inner: &Generator| {
        outer.with(|next| {
            let mut words = [0; 64];
            next(&mut words);
            inner.with_spare(|next, _| next(&mut words));
            inner.manual_seed(u64::from(words[0]));
            outer.random();
        });
    };
    together(&[&|_| draw(&a, &b), &|_| draw(&b, &a), &|_| draw(&a, &a)]);
    Ok(())
}
