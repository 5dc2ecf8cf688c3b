//! What is measured.

use candle_core::{D, DType, Device, Error, Result, Tensor};
use candle_nn::ops;

use crate::serve;

type Row = serve::Row<Error>;

/// All rows.
pub(crate) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    for size in [1, 64, 4096, 1 << 20, 1 << 24] {
        pointwise(&mut rows, size);
    }
    for side in [8, 64, 1024, 4096] {
        layouts(&mut rows, side);
    }
    functions(&mut rows);
    products(&mut rows);
    convolutions(&mut rows);
    normalisations(&mut rows);
    picking(&mut rows);
    rows
}

fn randn(sizes: &[usize]) -> Result<Tensor> {
    Tensor::randn(0f32, 1f32, sizes, &Device::Cpu)
}

fn typed(sizes: &[usize], dtype: DType) -> Result<Tensor> {
    randn(sizes)?.to_dtype(dtype)
}

fn pointwise(rows: &mut Vec<Row>, n: usize) {
    let (one, two) = (move || randn(&[n]), move || Ok([randn(&[n])?, randn(&[n])?]));
    rows.push(Row::new(format!("add f32 [{n}]"), two, |[a, b]| a + b));
    rows.push(Row::new(format!("mul f32 [{n}]"), two, |[a, b]| a * b));
    rows.push(Row::new(format!("relu f32 [{n}]"), one, Tensor::relu));
    rows.push(Row::new(format!("exp f32 [{n}]"), one, Tensor::exp));
    rows.push(Row::new(format!("sum f32 [{n}]"), one, Tensor::sum_all));
}

fn layouts(rows: &mut Vec<Row>, n: usize) {
    let (one, two) = (move || randn(&[n, n]), move || Ok([randn(&[n, n])?, randn(&[n, n])?]));
    let (wide, high) =
        (move || Ok([randn(&[n, n])?, randn(&[n])?]), move || Ok([randn(&[n, n])?, randn(&[n, 1])?]));
    let shape = format!("[{n},{n}]");
    rows.push(Row::new(format!("add f32 {shape} + transposed"), two, |[a, b]| a + b.t()?));
    rows.push(Row::new(format!("add f32 {shape} + row"), wide, |[a, b]| a.broadcast_add(b)));
    rows.push(Row::new(format!("add f32 {shape} + column"), high, |[a, b]| a.broadcast_add(b)));
    rows.push(Row::new(format!("exp f32 {shape} transposed"), one, |a| a.t()?.exp()));
    rows.push(Row::new(format!("contiguous f32 {shape} transposed"), one, |a| a.t()?.contiguous()));
    rows.push(Row::new(format!("sum f32 {shape} dim 0"), one, |a| a.sum(0)));
    rows.push(Row::new(format!("sum f32 {shape} dim 1"), one, |a| a.sum(1)));
}

fn functions(rows: &mut Vec<Row>) {
    const N: usize = 1 << 20;
    let mut function = |name: &str, f: fn(&Tensor) -> Result<Tensor>| {
        rows.push(Row::new(format!("{name} f32 [{N}]"), || Tensor::rand(0f32, 1f32, N, &Device::Cpu), f));
    };
    function("tanh", Tensor::tanh);
    function("sigmoid", ops::sigmoid);
    function("gelu", Tensor::gelu_erf);
    function("log", Tensor::log);
    function("sqrt", Tensor::sqrt);
    function("sin", Tensor::sin);
    function("erf", Tensor::erf);
    function("mean", Tensor::mean_all);
    function("amax", |x| x.max(0));
    function("argmax", |x| x.argmax(0));
    for (name, dtype) in [("f64", DType::F64), ("bf16", DType::BF16), ("f16", DType::F16)] {
        let one = move || typed(&[N], dtype);
        rows.push(Row::new(format!("add {name} [{N}]"), move || Ok([one()?, one()?]), |[a, b]| a + b));
        rows.push(Row::new(format!("sum {name} [{N}]"), one, Tensor::sum_all));
        rows.push(Row::new(format!("exp {name} [{N}]"), one, Tensor::exp));
        rows.push(Row::new(format!("to {name} [{N}]"), || randn(&[N]), move |x| x.to_dtype(dtype)));
    }
}

fn products(rows: &mut Vec<Row>) {
    for (name, dtype) in [("f32", DType::F32), ("f64", DType::F64), ("bf16", DType::BF16)] {
        for n in [64, 256, 1024] {
            let one = move || typed(&[n, n], dtype);
            rows.push(Row::new(format!("mm {name} {n}"), move || Ok([one()?, one()?]), |[a, b]| a.matmul(b)));
        }
        let one = move || typed(&[64, 64, 64], dtype);
        rows.push(Row::new(
            format!("bmm {name} 64 of 64"),
            move || Ok([one()?, one()?]),
            |[a, b]| a.matmul(b),
        ));
    }
    rows.push(Row::new("mm f32 8x8", || Ok([randn(&[8, 8])?, randn(&[8, 8])?]), |[a, b]| a.matmul(b)));
    let two = || Ok([randn(&[256, 256])?, randn(&[256, 256])?]);
    rows.push(Row::new("mm f32 256 transposed", two, |[a, b]| a.matmul(&b.t()?)));
    let linear = || Ok([randn(&[32, 256])?, randn(&[256, 256])?, randn(&[256])?]);
    rows.push(Row::new("linear f32 [32,256]x[256,256]", linear, |[x, weight, bias]| {
        x.matmul(&weight.t()?)?.broadcast_add(bias)
    }));
}

fn convolutions(rows: &mut Vec<Row>) {
    let mut convolution =
        |image: [usize; 4], weight: [usize; 4], stride: usize, padding: usize, groups: usize| {
            let name =
                format!("conv2d f32 {image:?}*{weight:?} s{stride} p{padding} g{groups}").replace(", ", ",");
            let inputs = move || Ok([randn(&image)?, randn(&weight)?]);
            rows.push(Row::new(name, inputs, move |[x, weight]| {
                x.conv2d(weight, padding, stride, 1, groups)
            }));
        };
    convolution([8, 64, 56, 56], [64, 64, 3, 3], 1, 1, 1);
    convolution([8, 3, 224, 224], [64, 3, 7, 7], 2, 3, 1);
    convolution([8, 128, 28, 28], [128, 128, 3, 3], 1, 1, 1);
    convolution([8, 128, 56, 56], [128, 128, 3, 3], 2, 1, 1);
    convolution([8, 512, 7, 7], [512, 512, 3, 3], 1, 1, 1);
    convolution([8, 256, 14, 14], [1024, 256, 1, 1], 1, 0, 1);
    convolution([8, 64, 56, 56], [64, 1, 3, 3], 1, 1, 64);
    convolution([8, 64, 56, 56], [64, 1, 3, 3], 2, 1, 64);
    convolution([32, 1, 8, 8], [16, 1, 3, 3], 1, 1, 1);
    convolution([32, 16, 8, 8], [32, 16, 3, 3], 1, 1, 1);
    convolution([1, 1, 8, 8], [16, 1, 3, 3], 1, 1, 1);
    rows.push(Row::new("max_pool2d f32 [32,32,8,8] 2", || randn(&[32, 32, 8, 8]), |x| x.max_pool2d(2)));
    rows.push(Row::new("avg_pool2d f32 [8,64,56,56] 2", || randn(&[8, 64, 56, 56]), |x| x.avg_pool2d(2)));
}

fn normalisations(rows: &mut Vec<Row>) {
    for [n, m] in [[512, 1024], [32, 10]] {
        let one = move || randn(&[n, m]);
        rows.push(Row::new(format!("softmax f32 [{n},{m}]"), one, ops::softmax_last_dim));
        rows.push(Row::new(format!("log_softmax f32 [{n},{m}]"), one, |x| ops::log_softmax(x, D::Minus1)));
    }
    rows.push(Row::new("softmax f32 [512,1024] dim 0", || randn(&[512, 1024]), |x| ops::softmax(x, 0)));
    let norm = || Ok([randn(&[512, 1024])?, randn(&[1024])?, randn(&[1024])?]);
    rows.push(Row::new("layer_norm f32 [512,1024]", norm, |[x, weight, bias]| {
        ops::layer_norm(x, weight, bias, 1e-5)
    }));
}

fn picking(rows: &mut Vec<Row>) {
    let tiles = || (0..8).map(|_| randn(&[256, 256])).collect::<Result<Vec<_>>>();
    rows.push(Row::new("cat f32 8x[256,256]", tiles, |tiles| Tensor::cat(tiles, 0)));
    rows.push(Row::new("cat f32 8x[256,256] dim 1", tiles, |tiles| Tensor::cat(tiles, 1)));
    let index = || Tensor::rand(0f32, 9_999f32, 4096, &Device::Cpu)?.to_dtype(DType::I64);
    let table = move || Ok([randn(&[10_000, 256])?, index()?]);
    rows.push(Row::new("index_select f32 [10000,256] x4096", table, |[x, index]| x.index_select(index, 0)));
    rows.push(Row::new("embedding f32 [10000,256] x4096", table, |[x, index]| x.embedding(index)));
    let columns = move || Ok([randn(&[256, 10_000])?, index()?]);
    rows.push(Row::new("index_select f32 [256,10000] dim 1 x4096", columns, |[x, index]| {
        x.index_select(index, 1)
    }));
}
