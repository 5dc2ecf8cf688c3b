//! What is measured. [`rows.py`](rows.py) has the same rows for PyTorch, under the same names.

use torch_library::prelude::*;
use torch_library_kernels::aten;

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
    channels_last(&mut rows);
    functions(&mut rows);
    products(&mut rows);
    convolutions(&mut rows);
    normalisations(&mut rows);
    picking(&mut rows);
    rows
}

fn randn(sizes: &[i64]) -> Result<Tensor> {
    aten::randn(sizes)
}

pub(crate) fn typed(sizes: &[i64], dtype: DType) -> Result<Tensor> {
    aten::to_dtype(&randn(sizes)?, dtype)
}

fn interleaved(sizes: &[i64]) -> Result<Tensor> {
    aten::contiguous::with(&randn(sizes)?).memory_format(MemoryFormat::ChannelsLast).call()
}

fn pointwise(rows: &mut Vec<Row>, n: i64) {
    let one = move || randn(&[n]);
    rows.push(Row::new(
        format!("add f32 [{n}]"),
        move || Ok([randn(&[n])?, randn(&[n])?]),
        |[a, b]| aten::add_Tensor(a, b),
    ));
    rows.push(Row::new(
        format!("mul f32 [{n}]"),
        move || Ok([randn(&[n])?, randn(&[n])?]),
        |[a, b]| aten::mul_Tensor(a, b),
    ));
    rows.push(Row::new(format!("relu f32 [{n}]"), one, aten::relu));
    rows.push(Row::new(format!("exp f32 [{n}]"), one, aten::exp));
    rows.push(Row::new(format!("sum f32 [{n}]"), one, aten::sum));
}

fn layouts(rows: &mut Vec<Row>, n: i64) {
    let (one, two) = (move || randn(&[n, n]), move || Ok([randn(&[n, n])?, randn(&[n, n])?]));
    let shape = format!("[{n},{n}]");
    rows.push(Row::new(format!("add f32 {shape} + transposed"), two, |[a, b]| {
        aten::add_Tensor(a, &aten::t(b)?)
    }));
    rows.push(Row::new(
        format!("add f32 {shape} + row"),
        move || Ok([randn(&[n, n])?, randn(&[n])?]),
        |[a, b]| aten::add_Tensor(a, b),
    ));
    rows.push(Row::new(
        format!("add f32 {shape} + column"),
        move || Ok([randn(&[n, n])?, randn(&[n, 1])?]),
        |[a, b]| aten::add_Tensor(a, b),
    ));
    rows.push(Row::new(format!("exp f32 {shape} transposed"), one, |a| aten::exp(&aten::t(a)?)));
    rows.push(Row::new(format!("contiguous f32 {shape} transposed"), one, |a| {
        aten::contiguous(&aten::t(a)?)
    }));
    rows.push(Row::new(format!("sum f32 {shape} dim 0"), one, |a| aten::sum_dim_IntList(a, Some(&[0]))));
    rows.push(Row::new(format!("sum f32 {shape} dim 1"), one, |a| aten::sum_dim_IntList(a, Some(&[1]))));
}

fn channels_last(rows: &mut Vec<Row>) {
    const SIZES: [i64; 4] = [32, 64, 56, 56];
    let format = MemoryFormat::ChannelsLast;
    rows.push(Row::new(
        "contiguous(channels_last) f32 [32,64,56,56]",
        || randn(&SIZES),
        move |x| aten::contiguous::with(x).memory_format(format).call(),
    ));
    rows.push(Row::new(
        "contiguous f32 [32,64,56,56] channels_last",
        || interleaved(&SIZES),
        aten::contiguous,
    ));
    rows.push(Row::new(
        "add f32 [32,64,56,56] channels_last",
        || Ok([interleaved(&SIZES)?, interleaved(&SIZES)?]),
        |[a, b]| aten::add_Tensor(a, b),
    ));
    rows.push(Row::new(
        "add f32 [32,64,56,56] + channels_last",
        || Ok([randn(&SIZES)?, interleaved(&SIZES)?]),
        |[a, b]| aten::add_Tensor(a, b),
    ));
    rows.push(Row::new("relu f32 [32,64,56,56] channels_last", || interleaved(&SIZES), aten::relu));
    rows.push(Row::new(
        "sum f32 [32,64,56,56] channels_last, dims 2 3",
        || interleaved(&SIZES),
        |x| aten::sum_dim_IntList(x, Some(&[2, 3])),
    ));
}

fn functions(rows: &mut Vec<Row>) {
    const SIZE: [i64; 1] = [1 << 20];
    let mut function = |name: &str, f: fn(&Tensor) -> Result<Tensor>| {
        rows.push(Row::new(format!("{name} f32 [{}]", SIZE[0]), || aten::rand(&SIZE), f));
    };
    function("tanh", aten::tanh);
    function("sigmoid", aten::sigmoid);
    function("gelu", aten::gelu);
    function("log", aten::log);
    function("sqrt", aten::sqrt);
    function("sin", aten::sin);
    function("erf", aten::erf);
    function("mean", aten::mean);
    function("amax", aten::amax);
    function("argmax", aten::argmax);
    function("var", aten::var_correction);
    function("cumsum", |x| aten::cumsum(x, 0));
    for (name, dtype) in
        [("f64", DType::Float64), ("bf16", DType::BFloat16), ("f16", DType::Float16), ("i64", DType::Int64)]
    {
        let one = move || typed(&SIZE, dtype);
        rows.push(Row::new(
            format!("add {name} [{}]", SIZE[0]),
            move || Ok([one()?, one()?]),
            |[a, b]| aten::add_Tensor(a, b),
        ));
        rows.push(Row::new(format!("sum {name} [{}]", SIZE[0]), one, aten::sum));
        rows.push(Row::new(format!("exp {name} [{}]", SIZE[0]), one, aten::exp));
        rows.push(Row::new(
            format!("to {name} [{}]", SIZE[0]),
            || randn(&SIZE),
            move |x| aten::to_dtype(x, dtype),
        ));
    }
}

fn products(rows: &mut Vec<Row>) {
    for (name, dtype) in [("f32", DType::Float32), ("f64", DType::Float64), ("bf16", DType::BFloat16)] {
        for n in [64, 256, 1024] {
            let one = move || typed(&[n, n], dtype);
            rows.push(Row::new(
                format!("mm {name} {n}"),
                move || Ok([one()?, one()?]),
                |[a, b]| aten::mm(a, b),
            ));
        }
        let one = move || typed(&[64, 64, 64], dtype);
        rows.push(Row::new(
            format!("bmm {name} 64 of 64"),
            move || Ok([one()?, one()?]),
            |[a, b]| aten::bmm(a, b),
        ));
    }
    rows.push(Row::new("mm f32 8x8", || Ok([randn(&[8, 8])?, randn(&[8, 8])?]), |[a, b]| aten::mm(a, b)));
    rows.push(Row::new(
        "mm f32 256 transposed",
        || Ok([randn(&[256, 256])?, randn(&[256, 256])?]),
        |[a, b]| aten::mm(a, &aten::t(b)?),
    ));
    rows.push(Row::new(
        "mv f32 1024",
        || Ok([randn(&[1024, 1024])?, randn(&[1024])?]),
        |[a, b]| aten::mv(a, b),
    ));
    rows.push(Row::new(
        "linear f32 [32,256]x[256,256]",
        || Ok([randn(&[32, 256])?, randn(&[256, 256])?, randn(&[256])?]),
        |[x, weight, bias]| aten::linear::with(x, weight).bias(Some(bias)).call(),
    ));
    rows.push(Row::new(
        "attention f32 [2,8,256,64]",
        || randn(&[2, 8, 256, 64]),
        |x| aten::scaled_dot_product_attention(x, x, x),
    ));
    rows.push(Row::new(
        "attention f32 [2,8,256,64] causal",
        || randn(&[2, 8, 256, 64]),
        |x| aten::scaled_dot_product_attention::with(x, x, x).is_causal(true).call(),
    ));
    for causal in [false, true] {
        rows.push(Row::new(
            format!("attention backward f32 [2,8,256,64]{}", if causal { " causal" } else { "" }),
            move || {
                let (x, grad) = (randn(&[2, 8, 256, 64])?, randn(&[2, 8, 256, 64])?);
                let attention = aten::_scaled_dot_product_flash_attention_for_cpu::with(&x, &x, &x);
                let (out, sums) = attention.is_causal(causal).call()?;
                Ok([grad, x, out, sums])
            },
            move |[grad, x, out, sums]| {
                aten::_scaled_dot_product_flash_attention_for_cpu_backward::call(
                    grad, x, x, x, out, sums, 0.0, causal, None, None,
                )
            },
        ));
    }
}

fn convolutions(rows: &mut Vec<Row>) {
    type Shape = [i64; 4];
    let mut convolution = |image: Shape, weight: Shape, stride: i64, padding: i64, groups: i64| {
        let name =
            format!("conv2d f32 {image:?}*{weight:?} s{stride} p{padding} g{groups}").replace(", ", ",");
        rows.push(Row::new(
            name,
            move || Ok([randn(&image)?, randn(&weight)?]),
            move |[x, weight]| {
                aten::conv2d::with(x, weight).stride(&[stride]).padding(&[padding]).groups(groups).call()
            },
        ));
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
    rows.push(Row::new(
        "conv2d backward f32 [8,64,56,56]*[64,1,3,3] s2 p1 g64",
        || Ok([randn(&[8, 64, 28, 28])?, randn(&[8, 64, 56, 56])?, randn(&[64, 1, 3, 3])?]),
        |[grad, x, weight]| {
            let (two, one, zero) = ([2, 2], [1, 1], [0, 0]);
            let mask = [true, true, false];
            aten::convolution_backward(grad, x, weight, None, &two, &one, &one, false, &zero, 64, &mask)
        },
    ));
    rows.push(Row::new(
        "max_pool2d f32 [8,64,112,112] 3 s2 p1",
        || randn(&[8, 64, 112, 112]),
        |x| aten::max_pool2d::with(x, &[3, 3]).stride(&[2, 2]).padding(&[1, 1]).call(),
    ));
    rows.push(Row::new(
        "max_pool2d f32 [32,32,8,8] 2",
        || randn(&[32, 32, 8, 8]),
        |x| aten::max_pool2d(x, &[2, 2]),
    ));
    rows.push(Row::new(
        "avg_pool2d f32 [8,64,56,56] 2",
        || randn(&[8, 64, 56, 56]),
        |x| aten::avg_pool2d(x, &[2, 2]),
    ));
}

fn normalisations(rows: &mut Vec<Row>) {
    for [n, m] in [[512, 1024], [32, 10]] {
        let one = move || randn(&[n, m]);
        rows.push(Row::new(format!("softmax f32 [{n},{m}]"), one, |x| aten::softmax_int(x, 1)));
        rows.push(Row::new(format!("log_softmax f32 [{n},{m}]"), one, |x| aten::log_softmax_int(x, 1)));
    }
    rows.push(Row::new("softmax f32 [512,1024] dim 0", || randn(&[512, 1024]), |x| aten::softmax_int(x, 0)));
    rows.push(Row::new(
        "layer_norm f32 [512,1024]",
        || Ok([randn(&[512, 1024])?, randn(&[1024])?, randn(&[1024])?]),
        |[x, weight, bias]| aten::layer_norm::with(x, &[1024]).weight(Some(weight)).bias(Some(bias)).call(),
    ));
    for training in [false, true] {
        let mode = if training { "training" } else { "eval" };
        let inputs = || Ok([randn(&[8, 64, 56, 56])?, randn(&[64])?, aten::rand(&[64])?, randn(&[64])?]);
        rows.push(Row::new(
            format!("batch_norm f32 [8,64,56,56] {mode}"),
            inputs,
            move |[x, mean, var, w]| {
                aten::batch_norm(x, Some(w), Some(w), Some(mean), Some(var), training, 0.1, 1e-5, false)
            },
        ));
    }
}

fn picking(rows: &mut Vec<Row>) {
    let tiles = || (0..8).map(|_| randn(&[256, 256])).collect::<Result<Vec<_>>>();
    rows.push(Row::new("cat f32 8x[256,256]", tiles, |tiles| aten::cat(tiles)));
    rows.push(Row::new("cat f32 8x[256,256] dim 1", tiles, |tiles| aten::cat::with(tiles).dim(1).call()));
    let table = || Ok([randn(&[10_000, 256])?, aten::randint(10_000, &[4096])?]);
    rows.push(Row::new("index_select f32 [10000,256] x4096", table, |[x, index]| {
        aten::index_select(x, 0, index)
    }));
    rows.push(Row::new("embedding f32 [10000,256] x4096", table, |[x, index]| aten::embedding(x, index)));
    let columns = || Ok([randn(&[256, 10_000])?, aten::randint(10_000, &[4096])?]);
    rows.push(Row::new("index_select f32 [256,10000] dim 1 x4096", columns, |[x, index]| {
        aten::index_select(x, 1, index)
    }));
}
