//! Measures the time to parse schemas: `cargo run --release -p torch-library-schema --example parse_speed`

use std::hint::black_box;
use std::time::{Duration, Instant};
use torch_library_schema::{Mode, Schema};

/// Schemas from PyTorch's own library, from small to large.
const SCHEMAS: [&str; 5] = [
    "myadd(Tensor self, Tensor other) -> Tensor",
    "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
    "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
    "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, \
     SymInt[2] dilation=1, SymInt groups=1) -> Tensor",
    "aten::rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, \
     bool? pin_memory=None) -> Tensor",
];

/// The best of many rounds, since disturbances only ever make a round slower.
fn fastest(parse: impl Fn()) -> Duration {
    const CALLS: u32 = 1000;
    let round = || {
        let start = Instant::now();
        (0..CALLS).for_each(|_| parse());
        start.elapsed() / CALLS
    };
    (0..200).map(|_| round()).min().unwrap_or_default()
}

fn main() {
    for text in SCHEMAS {
        let time = fastest(|| {
            let schema = Schema::parse(black_box(text), Mode::Strict);
            black_box(schema.is_ok());
        });
        println!("{:>5} ns  {text}", time.as_nanos());
    }
}
