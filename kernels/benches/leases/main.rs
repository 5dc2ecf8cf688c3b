//! Small calls, of which a lease is a large part: prints a name and nanoseconds for each, or for those that have a
//! word in their name.

use std::hint::black_box;
use std::time::Instant;

use torch_library::prelude::*;
use torch_library_kernels::aten;

/// How many calls are timed together.
const CALLS: u32 = 20_000;

fn measure<R>(name: &str, mut call: impl FnMut() -> Result<R>) -> Result<()> {
    if std::env::args().nth(1).is_some_and(|word| !name.contains(&word)) {
        return Ok(());
    }
    let mut best = f64::MAX;
    for _ in 0..30 {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(call()?);
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(CALLS));
    }
    println!("{name}|{best}");
    Ok(())
}

fn main() -> Result<()> {
    let (a, b) = (aten::ones(&[1])?, aten::ones(&[1])?);
    let mut c = aten::ones(&[1])?;
    measure("`add` of one element", || aten::add_Tensor(&a, &b))?;
    measure("`add_` of one element", || aten::add__Tensor(&mut c, &b).map(|_| ()))?;
    measure("`neg` of one element", || aten::neg(&a))?;
    measure("`item`", || a.item())?;
    measure("`to_vec` of one element", || a.to_vec::<f32>())?;
    let (a, b) = (aten::ones(&[256])?, aten::ones(&[256])?);
    measure("`add` of 256 elements", || aten::add_Tensor(&a, &b))?;
    measure("`sum` of 256 elements", || aten::sum(&a))?;
    let (a, b) = (aten::ones(&[8, 8])?, aten::ones(&[8, 8])?);
    measure("`mm` of 8x8", || aten::mm(&a, &b))?;
    measure("`_softmax` of 8x8", || aten::_softmax(&a, -1, false))?;
    measure("`index_select` of 8 rows", || {
        aten::index_select(&a, 0, &Tensor::from([0i64, 1, 2, 3, 4, 5, 6, 7]))
    })?;
    measure("`view`", || aten::view(&a, &[64]))
}
