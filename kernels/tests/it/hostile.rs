//! Unreasonable calls: numbers at the limits of their types, huge tensors without elements, tensors on
//! several devices. They are errors, or give what PyTorch gives; none panics or allocates more memory than
//! there is.

use torch_library::autograd::GradOptions;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;

const MAX: i64 = i64::MAX;

/// A call, and the sizes of its result or a part of its error.
type Case = (fn() -> Result<Tensor>, std::result::Result<&'static [i64], &'static str>);

fn check(cases: &[Case]) {
    for (at, (call, want)) in cases.iter().enumerate() {
        match (call(), want) {
            (Ok(found), Ok(sizes)) => assert_eq!(found.sizes(), *sizes, "call {at}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "call {at}: {error}"),
            (found, _) => {
                panic!("call {at}: {:?}, expected {want:?}", found.map(|found| found.sizes().to_vec()))
            }
        }
    }
}

/// A tensor with a single element in memory, expanded to all sizes; none, if a size is 0.
fn wide(sizes: &[i64]) -> Result<Tensor> {
    let own: Vec<i64> = sizes.iter().map(|size| (*size).min(1)).collect();
    aten::zeros(&own)?.expand(sizes)
}

fn wide_of(sizes: &[i64], dtype: DType) -> Result<Tensor> {
    let own: Vec<i64> = sizes.iter().map(|size| (*size).min(1)).collect();
    Tensor::zeros(&own, dtype, Device::CPU)?.expand(sizes)
}

fn meta(sizes: &[i64]) -> Result<Tensor> {
    let own: Vec<i64> = sizes.iter().map(|size| (*size).min(1)).collect();
    Tensor::zeros(&own, DType::Float32, Device::META)?.expand(sizes)
}

fn ones(sizes: &[i64]) -> Result<Tensor> {
    aten::ones(sizes)
}

fn longs(values: &[i64]) -> Result<Tensor> {
    Tensor::from_vec(values.to_vec(), &[values.len() as i64])
}

fn pivots(values: [i32; 2]) -> Tensor {
    Tensor::from(values)
}

#[test]
fn indices_out_of_range_are_errors() {
    check(&[
        (
            || aten::linalg_lu_solve(&aten::eye(2)?, &pivots([0, 2]), &ones(&[2, 1])?),
            Err("pivot 0 is out of range for 2 rows"),
        ),
        (
            || aten::linalg_lu_solve(&aten::eye(2)?, &pivots([3, 2]), &ones(&[2, 1])?),
            Err("pivot 3 is out of range for 2 rows"),
        ),
        (
            || aten::lu_solve(&ones(&[2, 1])?, &aten::eye(2)?, &pivots([i32::MIN, 2])),
            Err("is out of range for 2 rows"),
        ),
        (
            || Ok(aten::lu_unpack(&aten::eye(2)?, &pivots([i32::MIN, 1]))?.0),
            Err("is out of range for 2 rows"),
        ),
        (
            || Ok(aten::scatter__value(&mut aten::zeros(&[0])?, 0, &longs(&[0])?, 1.0.into())?.clone()),
            Err("aten::scatter_.value: index 0 is out of range for dimension 0 of size 0"),
        ),
        (
            || {
                aten::scatter_add(
                    &aten::zeros(&[3, 0])?,
                    1,
                    &aten::reshape(&longs(&[-1])?, &[1, 1])?,
                    &ones(&[1, 1])?,
                )
            },
            Err("index -1"),
        ),
        (
            || aten::scatter_reduce_two(&aten::zeros(&[0])?, 0, &longs(&[5])?, &ones(&[1])?, "amax"),
            Err("index 5 is out of range"),
        ),
        (
            || aten::index_add(&aten::zeros(&[0])?, 0, &longs(&[0])?, &ones(&[1])?),
            Err("index 0 is out of range"),
        ),
        (|| aten::index_add(&aten::zeros(&[0, 3])?, 0, &longs(&[0])?, &ones(&[1, 3])?), Ok(&[0, 3])),
        (|| aten::scatter_value(&aten::zeros(&[0])?, 0, &longs(&[])?, 1.0.into()), Ok(&[0])),
    ]);
}

#[test]
fn a_sorter_has_a_place_for_each_element() {
    check(&[
        (
            || searched(&aten::zeros(&[2, 4])?, &wide_of(&[2, 2], DType::Int64)?),
            Err("a sorter of int64 and sizes [2, 2]"),
        ),
        (|| searched(&aten::zeros(&[4])?, &longs(&[0, 1])?), Err("expected int64 and [4]")),
        (|| searched(&aten::zeros(&[4])?, &wide_of(&[4], DType::Int32)?), Err("a sorter of int32")),
        (|| searched(&aten::zeros(&[4])?, &longs(&[0, 1, 2, 9])?), Err("index 9 is out of range")),
        (|| searched(&aten::zeros(&[4])?, &longs(&[0, -1, 2, 3])?), Err("index -1 is out of range")),
        (|| searched(&aten::zeros(&[4])?, &longs(&[3, 1, 2, 0])?), Ok(&[1])),
    ]);
}

fn searched(sequence: &Tensor, sorter: &Tensor) -> Result<Tensor> {
    let mut sizes = sequence.sizes().to_vec();
    sizes[sequence.dim() - 1] = 1;
    aten::searchsorted_Tensor::call(sequence, &aten::zeros(&sizes)?, false, false, None, Some(sorter))
}

#[test]
fn parameters_are_where_the_input_is() {
    const DEVICES: std::result::Result<&[i64], &str> = Err("expected one device");
    check(&[
        (|| Ok(aten::native_layer_norm(&ones(&[2, 3])?, &[3], Some(&meta(&[3])?), None, 1e-5)?.0), DEVICES),
        (|| Ok(aten::native_layer_norm(&meta(&[2, 3])?, &[3], None, Some(&ones(&[3])?), 1e-5)?.0), DEVICES),
        (
            || {
                Ok(aten::native_batch_norm(
                    &ones(&[2, 3])?,
                    Some(&meta(&[3])?),
                    None,
                    None,
                    None,
                    true,
                    0.1,
                    1e-5,
                )?
                .0)
            },
            DEVICES,
        ),
        (|| gradient_of_a_convolution(&meta(&[1, 1, 1])?, &ones(&[1, 1, 1])?), DEVICES),
        (|| gradient_of_a_convolution(&ones(&[1, 1, 1])?, &meta(&[1, 1, 1])?), DEVICES),
        (
            || {
                aten::convolution(
                    &ones(&[1, 1, 1])?,
                    &ones(&[1, 1, 1])?,
                    Some(&meta(&[1])?),
                    &[1],
                    &[0],
                    &[1],
                    false,
                    &[0],
                    1,
                )
            },
            DEVICES,
        ),
    ]);
}

fn gradient_of_a_convolution(grad: &Tensor, input: &Tensor) -> Result<Tensor> {
    let weight = ones(&[1, 1, 1])?;
    let (of_input, _, _) = aten::convolution_backward(
        grad,
        input,
        &weight,
        None,
        &[1],
        &[0],
        &[1],
        false,
        &[0],
        1,
        &[true, true, true],
    )?;
    Ok(of_input)
}

#[test]
fn what_fits_no_memory_is_an_error() {
    const HUGE: i64 = 1 << 45;
    const MEMORY: std::result::Result<&[i64], &str> = Err("memory");
    check(&[
        (|| aten::index_Tensor(&aten::zeros(&[3])?, &[Some(wide_of(&[HUGE], DType::Int64)?)]), MEMORY),
        (
            || {
                let of_meta = Tensor::zeros(&[1], DType::Int64, Device::META)?.expand(&[HUGE])?;
                aten::index_Tensor(&meta(&[3])?, &[Some(of_meta)])
            },
            Ok(&[HUGE]),
        ),
        (|| aten::_adaptive_avg_pool2d(&meta(&[1, 1, 1, 1 << 40])?, &[1, 1]), Ok(&[1, 1, 1, 1])),
        (|| aten::_adaptive_avg_pool2d(&meta(&[1, 1, 1, 1 << 62])?, &[1, 4]), Ok(&[1, 1, 1, 4])),
        (
            || aten::bmm(&meta(&[64, 1 << 20, 1 << 20])?, &meta(&[64, 1 << 20, 1 << 20])?),
            Ok(&[64, 1 << 20, 1 << 20]),
        ),
        (|| aten::zeros(&[2, 2])?.t()?.add(&wide(&[1 << 62, 1, 1])?), Err("2^63")),
        (|| Ok(aten::unique_dim(&wide(&[HUGE, 0])?, 0)?.0), Err("have no elements")),
        (
            || Ok(aten::unique_consecutive::call(&wide(&[HUGE, 0])?, true, true, Some(0))?.0),
            Err("have no elements"),
        ),
        (|| aten::multi_margin_loss(&wide(&[HUGE, 1])?, &wide_of(&[HUGE], DType::Int64)?), MEMORY),
        (|| aten::nonzero(&wide_of(&[HUGE], DType::Bool)?), Err("allocate")),
    ]);
}

#[test]
fn sizes_that_overflow_are_errors() {
    check(&[
        (|| aten::cat(&[wide(&[MAX])?, wide(&[MAX])?]), Err("aten::cat: ")),
        (|| aten::block_diag(&[wide(&[0, MAX])?, wide(&[0, MAX])?]), Err("aten::block_diag: ")),
        (
            || {
                aten::convolution(
                    &ones(&[1, 1, 1])?,
                    &aten::zeros(&[0, 2, 1])?,
                    None,
                    &[1],
                    &[0],
                    &[1],
                    false,
                    &[0],
                    MAX,
                )
            },
            Err("channels"),
        ),
        (
            || Ok(aten::native_group_norm(&aten::zeros(&[0, 4, 2])?, None, None, 0, 4, MAX, 1, 1e-5)?.0),
            Ok(&[0, 4, 2]),
        ),
        (
            || aten::view_dtype(&Tensor::zeros(&[0, 1 << 61], DType::Float64, Device::CPU)?, DType::Int8),
            Err("cannot be divided"),
        ),
        (|| aten::repeat(&aten::zeros(&[0, 2])?, &[1, 1 << 62]), Err("aten::repeat: ")),
        (|| aten::repeat(&aten::zeros(&[0, 2])?, &[1, 1 << 61]), Ok(&[0, 1 << 62])),
        (
            || aten::embedding_dense_backward(&aten::zeros(&[0, MAX])?, &longs(&[0, 0])?, 0, -1, false),
            Err("has no row for each index"),
        ),
        (
            || Ok(aten::_ctc_loss::call(&meta(&[1, 1, 2])?, &meta_labels()?, &[1], &[MAX], 0, false)?.1),
            Err(""),
        ),
        (
            || {
                let (one, sums) = (meta(&[1])?, meta(&[1, 1, MAX])?);
                let (log_probs, labels) = (meta(&[1, 1, 2])?, meta_labels()?);
                aten::_ctc_loss_backward::call(&one, &log_probs, &labels, &[1], &[MAX], &one, &sums, 0, false)
            },
            Ok(&[1, 1, 2]),
        ),
    ]);
}

fn meta_labels() -> Result<Tensor> {
    Tensor::zeros(&[1, 1], DType::Int64, Device::META)?.expand(&[1, MAX])
}

#[test]
fn numbers_at_the_edge_are_computed_with() -> Result<()> {
    let least = Tensor::from([[[i64::MIN]]]);
    let mean = aten::avg_pool2d::call(&least, &[1], &[], &[0], false, true, Some(-1))?;
    assert_eq!(mean.to_vec::<i64>()?, [i64::MIN]);
    let steps = aten::arange_start_step::call(
        i64::MIN.into(),
        MAX.into(),
        (1i64 << 62).into(),
        None,
        None,
        None,
        None,
    )?;
    assert_eq!(steps.to_vec::<i64>()?, [i64::MIN, -(1 << 62), 0, 1 << 62]);
    let far = aten::as_strided(&Tensor::zeros(&[1], DType::Complex64, Device::CPU)?, &[1], &[MAX])?;
    assert_eq!(aten::view_as_real(&far)?.sizes(), [1, 2]);
    let gaps = aten::as_strided(&aten::zeros(&[0])?, &[0, 2, 2], &[0, 1, MAX - 1])?;
    assert_eq!(gaps.sum_dim(&[0], false)?.to_vec::<f32>()?, [0.0; 4]);
    Ok(())
}

#[test]
fn an_empty_tensor_may_be_larger_than_any_number() {
    const BIG: i64 = 1 << 40;
    const OVERFLOW: std::result::Result<&[i64], &str> = Err("more elements than 2^63");
    check(&[
        (|| wide(&[0, BIG, BIG])?.mean_dim(&[1, 2], false), Ok(&[0])),
        (|| wide(&[2, 0, BIG, BIG])?.sum_dim(&[1, 2, 3], false), Ok(&[2])),
        (|| aten::flatten_using_ints::call(&wide(&[0, BIG, BIG])?, 1, 2), OVERFLOW),
        (|| aten::tensordot(&wide(&[0, BIG, BIG])?, &wide(&[0, BIG, BIG])?, &[1, 2], &[1, 2]), OVERFLOW),
        (|| aten::matmul(&wide(&[BIG, BIG, 0, 2])?, &wide(&[1, 1, 2, 3])?), OVERFLOW),
        (|| aten::einsum("abc,abc->a", &[wide(&[0, BIG, BIG])?, wide(&[0, BIG, BIG])?]), OVERFLOW),
        (|| aten::group_norm(&wide(&[0, 2, BIG, BIG])?, 1), Err("2^63")),
        (
            || aten::instance_norm(&wide(&[BIG, BIG, 0])?, None, None, None, None, true, 0.1, 1e-5, false),
            Err("2^63"),
        ),
        (|| Ok(aten::unique_dim(&wide(&[0, BIG, BIG])?, 0)?.0), Err("2^63")),
        (
            || Ok(aten::native_layer_norm(&wide(&[0, BIG, BIG])?, &[BIG, BIG], None, None, 1e-5)?.0),
            Err("2^63"),
        ),
        (|| Ok(aten::linalg_qr(&wide(&[BIG, BIG, 0, 0])?)?.0), Err("2^63")),
        (
            || aten::index_Tensor(&aten::zeros(&[3, 4])?, &[Some(wide_of(&[0, BIG, BIG], DType::Int64)?)]),
            Err("2^63"),
        ),
    ]);
}

#[test]
fn transforms_of_any_size_are_refused_or_done() {
    const BIG: i64 = 1 << 40;
    fn complex(sizes: &[i64]) -> Result<Tensor> {
        wide_of(sizes, DType::Complex64)
    }
    const NONE: std::result::Result<&[i64], &str> = Err("");
    check(&[
        (|| aten::fft_fft::with(&ones(&[2, 3])?).n(MAX).call(), NONE),
        (|| aten::fft_fft::with(&ones(&[2])?).n(MAX).call(), NONE),
        (|| aten::fft_fft::with(&ones(&[2])?).n(i64::MIN).call(), Err("transform of -9223372036854775808")),
        (|| aten::fft_irfft::with(&ones(&[2])?).n(MAX).call(), NONE),
        (|| aten::fft_hfft::with(&ones(&[2])?).n(MAX - 1).call(), NONE),
        (|| aten::fft_hfftn::with(&ones(&[2, 2])?).s(Some(&[MAX, MAX])).call(), NONE),
        (|| aten::fft_fftn::with(&ones(&[2, 2])?).s(Some(&[-1, MAX])).call(), NONE),
        (|| aten::fft_fftn::with(&ones(&[2, 2])?).dim(Some(&[i64::MIN])).call(), Err("out of range")),
        (|| aten::fft_fftn::with(&ones(&[2, 2])?).dim(Some(&[MAX])).call(), Err("out of range")),
        (|| aten::fft_rfft::with(&ones(&[2])?).dim(MAX).call(), Err("out of range")),
        (|| aten::fft_fftshift::with(&ones(&[2])?).dim(Some(&[i64::MIN])).call(), Err("out of range")),
        (|| aten::fft_fft(&complex(&[BIG])?), NONE),
        (|| aten::fft_rfft(&wide(&[BIG])?), NONE),
        (|| aten::fft_rfft(&meta(&[BIG])?), Ok(&[BIG / 2 + 1])),
        (|| aten::fft_irfft(&wide_of(&[0, MAX], DType::Float32)?), NONE),
        (|| aten::fft_fft(&complex(&[0, BIG, BIG])?), Err("2^63")),
        (|| aten::fft_fft(&complex(&[0, BIG, 3])?), Ok(&[0, BIG, 3])),
        (|| aten::fft_irfft::with(&complex(&[0, BIG, 3])?).dim(1).call(), Ok(&[0, 2 * BIG - 2, 3])),
        (|| aten::fft_fftn::with(&complex(&[0, BIG, BIG])?).dim(Some(&[1, 2])).call(), Err("2^63")),
        (|| aten::_fft_c2c(&complex(&[2])?, &[i64::MIN], 0, true), Err("counted from the front")),
        (|| aten::_fft_c2c(&complex(&[2])?, &[MAX], 0, true), Err("counted from the front")),
        (|| aten::_fft_c2c(&complex(&[2])?, &[0], i64::MIN, true), Err("normalization")),
        (|| aten::_fft_c2r(&complex(&[2])?, &[0], 0, i64::MIN), Err(" / 2 + 1")),
        (|| aten::_fft_c2r(&complex(&[2])?, &[0], 0, MAX), Err(" / 2 + 1")),
        (|| aten::_fft_c2r(&complex(&[2])?, &[], 0, 2), Err("no dimension")),
        (|| aten::_fft_r2c(&ones(&[0])?, &[0], 0, true), Err("no elements to transform")),
        (|| aten::fft_fftfreq(MAX), NONE),
        (|| aten::fft_fftfreq(i64::MIN), Err("-9223372036854775808 frequencies")),
        (|| aten::fft_rfftfreq(MAX), NONE),
        (|| aten::hann_window(MAX), NONE),
        (|| aten::kaiser_window_periodic(MAX, false), NONE),
        (|| aten::kaiser_window(BIG), NONE),
        (|| aten::bartlett_window(i64::MIN), Err("a window of")),
        (|| aten::stft::with(&ones(&[4])?, 4).hop_length(MAX).return_complex(true).call(), Ok(&[3, 1])),
        (|| aten::stft_center::with(&ones(&[4])?, MAX).return_complex(true).call(), NONE),
        (|| aten::istft::with(&complex(&[3, 2])?, 4).length(MAX).call(), NONE),
        (|| aten::istft::with(&complex(&[3, BIG])?, 4).call(), NONE),
        (|| aten::istft(&complex(&[0, 0])?, 4), Err("expected those of")),
        (|| aten::fft_rfftfreq(i64::MIN), NONE),
    ]);
}

type Parts = fn(&Tensor) -> Result<Vec<Tensor>>;

const PARTS: i64 = 1 << 45;

/// Everything that cuts a tensor into as many parts as it has rows, columns or layers.
const CUTS: [(&str, Parts); 9] = [
    ("aten::unbind.int", |x| aten::unbind_int::call(x, 0)),
    ("aten::split.Tensor", |x| aten::split_Tensor::call(x, 1, 0)),
    ("aten::split.Tensor", |x| aten::chunk::call(x, PARTS, 0)),
    ("aten::tensor_split.sections", |x| aten::tensor_split_sections::call(x, PARTS, 0)),
    ("aten::tensor_split.sections", |x| {
        aten::tensor_split_tensor_indices_or_sections::call(x, &Tensor::from(PARTS), 0)
    }),
    ("aten::tensor_split.sections", |x| aten::vsplit_int::call(x, PARTS)),
    ("aten::tensor_split.sections", |x| aten::hsplit_int::call(&x.transpose(0, 1)?, PARTS)),
    ("aten::tensor_split.sections", |x| aten::dsplit_int::call(&x.transpose(0, 2)?, PARTS)),
    ("aten::chunk", |x| aten::chunk::call(&aten::narrow(x, 0, 0, 0)?, PARTS, 0)),
];

#[test]
fn memory_that_there_is_not_is_of_a_kind_of_its_own() -> Result<()> {
    let wide = aten::expand(&Tensor::from([1.0]), &[1 << 50])?;
    for refused in
        [aten::zeros(&[1 << 50]).map(drop), wide.to_vec::<f64>().map(drop), wide.contiguous().map(drop)]
    {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
        assert!(error.to_string().contains("cannot allocate"), "{error}");
    }
    Ok(())
}

#[test]
fn lists_have_an_end() -> Result<()> {
    let check = |operator: &str, found: Result<Vec<Tensor>>| {
        let error = found.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        let text = format!("{operator}: {PARTS} tensors are too many to return, at most 1048576");
        assert!(error.to_string().contains(&text), "{error}, expected {text}");
    };
    let plain = wide(&[PARTS, 1, 1])?;
    let recorded = wide(&[PARTS, 1, 1])?;
    recorded.set_requires_grad(true)?;
    let without_memory = meta(&[PARTS, 1, 1])?;
    for (operator, cut) in CUTS {
        [&plain, &recorded, &without_memory].iter().for_each(|x| check(operator, cut(x)));
        let functional =
            torch_library::functionalize::functionalize(std::slice::from_ref(&plain), |inputs| {
                cut(&inputs[0])
            });
        check(operator, functional);
        let batched = vmap([&plain.unsqueeze(0)?], |[x]| cut(&x).map(|mut parts| parts.remove(0)));
        check(operator, batched.map(|one| vec![one]));
    }
    assert_eq!(aten::unbind_int::call(&wide(&[5000, 2])?, 0)?.len(), 5000);
    Ok(())
}

#[test]
fn long_lists_take_linear_time() -> Result<()> {
    let (row, matrix) = (ones(&[2])?, aten::eye(2)?);
    let many = vec![matrix; 10_000];
    assert_eq!(aten::linalg_multi_dot(&[&[row.clone()][..], &many].concat())?.to_vec::<f32>()?, [1.0; 2]);
    let formula = vec!["i"; 10_000].join(",");
    let rows = vec![row; 10_000];
    assert_eq!(aten::einsum(&format!("{formula}->i"), &rows)?.to_vec::<f32>()?, [1.0; 2]);
    assert_eq!(aten::einsum(&format!("{formula}->"), &rows)?.to_vec::<f32>()?, [2.0]);
    assert_eq!(aten::einsum(&formula, &rows)?.to_vec::<f32>()?, [2.0]);
    assert_eq!(aten::cat(&rows)?.sizes(), [20_000]);
    assert!(aten::meshgrid(&rows).unwrap_err().to_string().contains("10000 dimensions"));
    assert!(aten::block_diag(&rows[..100])?.sizes() == [100, 200]);
    Ok(())
}

/// The gradient of a tensor of two elements, from a function of it.
fn gradient_of(function: fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let x = Tensor::from([1.0, 2.0]);
    x.set_requires_grad(true)?;
    let y = function(&x)?;
    torch_library::autograd::backward(
        &[&y],
        &[Some(wide_of(y.sizes(), DType::Float64)?)],
        GradOptions::new(),
    )?;
    Ok(x.grad().expect("a gradient"))
}

/// Writes to a tensor that repeats one number, along a dimension that is longer than any list.
fn put_in_each_row(len: i64) -> Result<Tensor> {
    let mut x = Tensor::from([[1.0]]).expand(&[3, len])?;
    aten::index_put_(&mut x, &[Some(longs(&[0])?)], &Tensor::from(1.0)).cloned()
}

#[test]
fn places_of_elements_are_listed_only_if_there_is_memory() {
    check(&[
        (|| gradient_of(|x| aten::as_strided(x, &[1 << 40, 0], &[0, 1])), Ok(&[2])),
        (|| gradient_of(|x| aten::as_strided(x, &[1 << 40], &[0])), Err("cannot allocate memory")),
        (|| gradient_of(|x| aten::as_strided(x, &[2, 3], &[1, 0])), Ok(&[2])),
        (|| gradient_of(|x| aten::unfold(x, 0, 0, MAX)), Ok(&[2])),
        (|| gradient_of(|x| aten::unfold(x, 0, 2, MAX)), Ok(&[2])),
        (|| aten::unfold(&wide(&[0, MAX])?, 1, 0, 1), Ok(&[0, MAX, 0])),
        (|| aten::unfold_backward(&wide(&[0, 0])?, &[0, MAX], 1, 0, 1), Err("sizes")),
        (|| aten::fill_diagonal_::call(&mut wide(&[0, MAX])?, 1.into(), true).cloned(), Ok(&[0, MAX])),
        (|| pad_around(&wide(&[0, 3, 1 << 40])?, 1), Err("cannot allocate memory")),
        (|| pad_around(&wide(&[0, 3, MAX])?, MAX), Err("is too large for sizes")),
        (|| put_in_each_row(1 << 50), Err("cannot allocate memory")),
        (|| put_in_each_row(MAX / 8), Err("cannot allocate memory")),
        (|| Tensor::from([1.0]).expand(&[MAX])?.index_select(0, &longs(&[1])?), Ok(&[1])),
        (|| aten::index_Tensor(&Tensor::from([1.0]).expand(&[MAX])?, &[Some(longs(&[1])?)]), Ok(&[1])),
    ]);
    let x = Tensor::from([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    x.set_requires_grad(true).unwrap();
    let y = aten::as_strided(&x, &[2, 2, 2], &[3, 1, 1]).unwrap();
    let grad = Tensor::from_vec((1..9).map(f64::from).collect(), &[2, 2, 2]).unwrap();
    torch_library::autograd::backward(&[&y], &[Some(grad)], GradOptions::new()).unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [1.0, 5.0, 4.0, 5.0, 13.0, 8.0]);
}

/// Circular padding of the last dimension.
fn pad_around(x: &Tensor, count: i64) -> Result<Tensor> {
    aten::pad::call(x, &[count, count], "circular", None)
}

#[test]
fn numbers_at_the_edge_of_their_type_are_computed_with() {
    let lcm = aten::lcm(&Tensor::from([i64::MIN, 6]), &Tensor::from([7i64, 4])).unwrap();
    assert_eq!(lcm.to_vec::<i64>().unwrap(), [i64::MIN, 12]);
    let image = aten::arange(4.into()).unwrap().reshape(&[1, 1, 4]).unwrap();
    let cut =
        aten::replication_pad1d(&aten::to_dtype(&image, DType::Float32).unwrap(), &[-MAX, MAX - 1]).unwrap();
    assert_eq!(cut.to_vec::<f32>().unwrap(), [3.0; 3]);
}

#[test]
fn examples_of_a_batch_are_refused_like_tensors() {
    let x = ones(&[2, 3, 4]).unwrap();
    let permuted = vmap([&x], |[x]| aten::permute(&x, &[1, MAX])).unwrap_err().to_string();
    assert!(permuted.contains("aten::permute"), "{permuted}");
    let index = longs(&[0]).unwrap();
    let gradient = |[x]: [Tensor; 1]| aten::embedding_dense_backward(&x, &index, 2, -1, false);
    let refusal = vmap([&ones(&[2]).unwrap()], gradient).unwrap_err().to_string();
    assert!(refusal.contains("a gradient without dimensions"), "{refusal}");
    let [numbers, indices] = [ones(&[2]).unwrap(), longs(&[0, 0]).unwrap()];
    let matrix = ones(&[3, 4]).unwrap();
    let added = vmap([&numbers, &indices], |[x, index]| aten::index_add(&x, 0, &index, &matrix));
    let refusal = added.unwrap_err().to_string();
    assert!(refusal.contains("aten::index_add: slices of sizes [3, 4]"), "{refusal}");
    // The row of another example is none of this one's.
    let indices = Tensor::from([[0i64, 2], [1, 0]]);
    let refusal = vmap([&ones(&[2, 2, 3]).unwrap(), &indices], |[x, index]| {
        aten::embedding_dense_backward(&x, &index, 2, -1, false)
    });
    let refusal = refusal.unwrap_err().to_string();
    assert!(refusal.contains("is out of range"), "{refusal}");
}
