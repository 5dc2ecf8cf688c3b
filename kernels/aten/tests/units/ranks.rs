//! Sorting by radix.

use std::cmp::Ordering;
use std::fmt::Debug;

use torch_library_aten::cpu::sorting::ranks::{Sorted, Sorter};
use torch_library_loops::number::Ordered;

/// NaN counts as larger than all numbers.
fn by_size<T: Ordered>(a: T, b: T) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_unordered().cmp(&b.is_unordered()))
}

fn check<T: Sorted + Debug>(some: &[T], compare: impl Fn(T, T) -> Ordering) {
    for len in [0, 1, 7, 600, 3000] {
        let line: Vec<T> = (0..len).map(|i: usize| some[i * i * 7 % 1009 % some.len()]).collect();
        for descending in [false, true] {
            let mut want: Vec<usize> = (0..len).collect();
            want.sort_by(|a, b| {
                let (a, b) = if descending { (b, a) } else { (a, b) };
                compare(line[*a], line[*b])
            });
            let mut indices = vec![0i64; len];
            Sorter::default().all(&line, &mut indices, descending, true);
            assert!(indices.iter().zip(&want).all(|(a, b)| *a as usize == *b), "{len} {descending}");
            // Of equal elements, others may be the first ones.
            for count in [0, len / 10, len] {
                let mut indices = vec![0i64; count];
                Sorter::default().first(&line, &mut indices, descending, true);
                let pairs = indices.iter().zip(&want);
                let are_equal = |(a, b): (&i64, &usize)| compare(line[*a as usize], line[*b]).is_eq();
                assert!(pairs.into_iter().all(are_equal), "{count} of {len} {descending}");
            }
        }
    }
}

#[test]
fn indices_are_those_of_a_stable_sort() {
    let floats = [0.5, -0.0, 0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -3.25, 1e-310];
    check(&floats, by_size);
    check(&floats.map(|x| x as f32), by_size);
    check(&[i64::MIN, -1, 0, 5, 1 << 40, i64::MAX], |a, b| a.cmp(&b));
    check(&[i8::MIN, -1, 0, 5, i8::MAX], |a, b| a.cmp(&b));
    check(&[u8::MIN, 1, u8::MAX], |a, b| a.cmp(&b));
    check(&[false, true], |a, b| a.cmp(&b));
}

#[test]
fn lines_that_are_too_long_are_refused() {
    assert!(Sorter::<f32>::check("sort", u32::MAX as usize).is_ok());
    assert!(Sorter::<f32>::check("sort", 1 << 32).is_err() && Sorter::<f64>::check("sort", 1 << 32).is_ok());
}
