//! Matrix products.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::assert_close;

#[test]
fn products_take_any_strides() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(x.mm(&x.t()?)?.to_vec::<f64>()?, [14.0, 32.0, 32.0, 77.0]);
    assert_eq!(x.t()?.mm(&x)?.to_vec::<f64>()?, [17.0, 22.0, 27.0, 22.0, 29.0, 36.0, 27.0, 36.0, 45.0]);
    Ok(())
}

#[test]
fn every_number_type_has_products() -> Result<()> {
    for dtype in
        [DType::UInt8, DType::Int64, DType::Float16, DType::BFloat16, DType::Float32, DType::Complex64]
    {
        let x = Tensor::from([[1, 2], [3, 4]]).to_dtype(dtype)?;
        let product = x.mm(&x)?;
        assert_eq!(product.dtype(), dtype);
        assert_eq!(product.to_dtype(DType::Int32)?.to_vec::<i32>()?, [7, 10, 15, 22], "{dtype}");
    }
    Ok(())
}

#[test]
fn sizes_and_types_must_meet() -> Result<()> {
    let x = aten::zeros(&[2, 3])?;
    assert_eq!(
        x.mm(&x).unwrap_err().to_string(),
        "aten::mm: a 2 × 3 and a 2 × 3 matrix have no product, 3 and 2 differ"
    );
    assert!(x.mm(&x.t()?.to_dtype(DType::Float64)?).is_err() && x.mm(&aten::zeros(&[3])?).is_err());
    assert_eq!(aten::zeros(&[2, 0])?.mm(&aten::zeros(&[0, 3])?)?.to_vec::<f32>()?, [0.0; 6]);
    Ok(())
}

#[test]
fn matmul_takes_vectors_matrices_and_batches() -> Result<()> {
    let cases: [(&[i64], &[i64], &[i64]); 9] = [
        (&[3], &[3], &[]),
        (&[2, 3], &[3], &[2]),
        (&[3], &[3, 4], &[4]),
        (&[5, 2, 3], &[3, 4], &[5, 2, 4]),
        (&[5, 2, 3], &[3], &[5, 2]),
        (&[3], &[5, 3, 4], &[5, 4]),
        (&[2, 3], &[5, 3, 4], &[5, 2, 4]),
        (&[7, 1, 2, 3], &[5, 3, 4], &[7, 5, 2, 4]),
        (&[0, 2, 3], &[3, 4], &[0, 2, 4]),
    ];
    for (a, b, want) in cases {
        let product = aten::ones(a)?.matmul(&aten::ones(b)?)?;
        assert_eq!(product.sizes(), want, "{a:?} {b:?}");
        assert!(product.to_vec::<f32>()?.iter().all(|x| *x == 3.0));
        assert!(product.is_contiguous(MemoryFormat::Contiguous));
    }
    assert!(aten::ones(&[])?.matmul(&aten::ones(&[2])?).is_err());
    assert!(aten::ones(&[2, 2, 3])?.matmul(&aten::ones(&[3, 3, 4])?).is_err());
    Ok(())
}

#[test]
fn batches_are_multiplied_one_by_one() -> Result<()> {
    let x = Tensor::from([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]);
    let product = aten::bmm(&x, &x.transpose(1, 2)?)?;
    assert_eq!(product.to_vec::<i32>()?, [5, 11, 11, 25, 61, 83, 83, 113]);
    assert!(aten::bmm(&x, &x.narrow(0, 0, 1)?).is_err());
    Ok(())
}

#[test]
fn addmm_ignores_what_beta_takes_away() -> Result<()> {
    let (nan, x) = (aten::full(&[2, 2], f64::NAN.into())?, aten::ones(&[2, 2])?);
    let call = aten::addmm::with(&nan, &x, &x).beta(0).alpha(3);
    assert_eq!(call.call()?.to_vec::<f32>()?, [6.0; 4]);
    assert_eq!(aten::addmm(&Tensor::from([1f32, 2.0]), &x, &x)?.to_vec::<f32>()?, [3.0, 4.0, 3.0, 4.0]);
    assert!(aten::addmm(&aten::ones(&[3])?, &x, &x).is_err());
    Ok(())
}

#[test]
fn linear_adds_a_bias() -> Result<()> {
    let (weight, bias) = (Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), Tensor::from([1.0, 2.0, 3.0]));
    for sizes in [&[2][..], &[1, 2], &[1, 1, 2]] {
        let x = Tensor::from_slice(&[1.0, 10.0], sizes)?;
        let y = aten::linear::with(&x, &weight).bias(Some(&bias)).call()?;
        assert_eq!(y.to_vec::<f64>()?, [22.0, 45.0, 68.0], "{sizes:?}");
    }
    Ok(())
}

#[test]
fn products_may_be_written_over_their_factors() -> Result<()> {
    let (x, mut out) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from([[0.0; 2]; 2]));
    aten::mm_out(&x, &x, &mut out)?;
    assert_eq!((out.to_vec::<f64>()?, out.version()), (vec![7.0, 10.0, 15.0, 22.0], 1));
    aten::mm_out(&x, &x, &mut x.clone())?;
    assert_eq!(x.to_vec::<f64>()?, [7.0, 10.0, 15.0, 22.0]);
    Ok(())
}

#[test]
fn large_products_agree_with_small_ones() -> Result<()> {
    let x = Tensor::from_vec((0..40_000).map(|i| f64::from(i % 7)).collect::<Vec<_>>(), &[200, 200])?;
    let y = x.mm(&x)?;
    let row = x.narrow(0, 123, 1)?.mm(&x.narrow(1, 45, 1)?)?;
    assert_eq!(y.element::<f64>(&[123, 45])?, row.element::<f64>(&[0, 0])?);
    Ok(())
}

#[test]
fn products_of_all_sizes_and_orders_are_sums_of_products() -> Result<()> {
    // Sizes around those of tiles, panels and their remainders, of a few rows, which are multiplied by way of the
    // transpose, and of a few columns, by dot products if they are long.
    let sizes =
        [(1, 300, 70), (2, 17, 9), (3, 64, 33), (7, 5, 49), (8, 256, 32), (17, 257, 35), (40, 9, 100)];
    for (n, k, m) in
        sizes.into_iter().chain([(4, 31, 1030), (15, 70, 131), (45, 3, 2), (45, 24, 4), (45, 25, 4)])
    {
        let elements = |count: i64| (0..count).map(|i| i * 7 % 11 - 5).collect::<Vec<i64>>();
        let (a, b) =
            (Tensor::from_vec(elements(n * k), &[n, k])?, Tensor::from_vec(elements(k * m), &[k, m])?);
        let expected = a.mm(&b)?;
        for dtype in [DType::Float32, DType::Float64] {
            let (a, b) = (a.to_dtype(dtype)?, b.to_dtype(dtype)?);
            let by_columns = |x: &Tensor| x.t()?.contiguous()?.t();
            for (a, b) in [(a.clone(), b.clone()), (by_columns(&a)?, b.clone()), (a.clone(), by_columns(&b)?)]
            {
                let bias = aten::ones(&[m])?.to_dtype(dtype)?;
                let sum = aten::addmm(&bias, &a, &b)?;
                for (product, more) in [(a.mm(&b)?, 0), (b.t()?.mm(&a.t()?)?.t()?, 0), (sum, 1)] {
                    let product = product.to_dtype(DType::Int64)?.to_vec::<i64>()?;
                    let expected = expected.to_vec::<i64>()?.into_iter().map(|x| x + more);
                    assert!(product.into_iter().eq(expected), "[{n}, {k}] × [{k}, {m}] of {dtype}");
                }
            }
        }
    }
    Ok(())
}

/// Numbers that products do not round.
fn small_numbers(sizes: &[i64]) -> Result<Tensor> {
    let count: i64 = sizes.iter().product();
    let numbers =
        aten::remainder_Scalar(&aten::mul_Scalar(&aten::arange(count.into())?, 37.into())?, 11.into())?;
    aten::reshape(&aten::sub_Scalar(&numbers, 5.into())?, sizes)
}

#[test]
fn a_product_is_added_to_a_tensor_with_any_strides() -> Result<()> {
    // One row, dot products, tiles, a weight, a few rows of a large matrix, blocks, one column.
    let shapes =
        [[1, 9, 300], [3, 40, 50], [20, 30, 70], [64, 300, 300], [33, 300, 1800], [140, 500, 500], [9, 5, 1]];
    for (dtype, [n, k, m]) in [DType::Float32, DType::Float64, DType::Complex64]
        .into_iter()
        .flat_map(|dtype| shapes.map(|shape| (dtype, shape)))
    {
        let numbers = |sizes: &[i64]| small_numbers(sizes)?.to_dtype(dtype);
        let (a, b) = (numbers(&[n, k])?, numbers(&[k, m])?);
        let (wide, tall) = (numbers(&[n, 2 * m])?, numbers(&[m, n])?);
        let every_other = wide.as_strided(&[n, m], &[2 * m, 2])?;
        for (a, b) in [(&a, &b), (&a, &b.t()?.contiguous()?.t()?), (&a.t()?.contiguous()?.t()?, &b)] {
            for this in [
                &numbers(&[n, m])?,
                &tall.t()?,
                &every_other,
                &every_other.narrow(0, 0, 1)?,
                &every_other.narrow(1, m / 2, 1)?,
                &numbers(&[m])?,
                &numbers(&[])?,
            ] {
                let want = a.mm(b)?.add(this)?;
                let (sizes, strides) = (this.sizes(), this.strides());
                let told = format!("{dtype} {n} {k} {m}, {:?}, {sizes:?} {strides:?}", b.strides());
                assert!(aten::equal(&this.addmm(a, b)?, &want)?, "{told}");
            }
        }
    }
    Ok(())
}

#[test]
fn complex_products_are_made_of_products_of_their_parts() -> Result<()> {
    // A few rows, a few columns, one step, tiles, blocks.
    for [n, k, m] in
        [[1, 9, 300], [3, 2, 2], [5, 0, 7], [5, 1, 7], [300, 9, 1], [20, 30, 70], [140, 260, 150]]
    {
        let parts =
            |sizes: &[i64]| Ok::<_, Error>([small_numbers(sizes)?, small_numbers(sizes)?.add(2)?.neg()?]);
        let ([a_re, a_im], [b_re, b_im]) = (parts(&[n, k])?, parts(&[k, m])?);
        let want = [a_re.mm(&b_re)?.sub(&a_im.mm(&b_im)?)?, a_re.mm(&b_im)?.add(&a_im.mm(&b_re)?)?];
        for (real, dtype) in [(DType::Float32, DType::Complex64), (DType::Float64, DType::Complex128)] {
            let complex = |[re, im]: [&Tensor; 2]| aten::complex(&re.to_dtype(real)?, &im.to_dtype(real)?);
            let (a, b, want) =
                (complex([&a_re, &a_im])?, complex([&b_re, &b_im])?, complex([&want[0], &want[1]])?);
            let by_columns = |x: &Tensor| x.t()?.contiguous()?.t();
            for (a, b) in [(&a, &b), (&by_columns(&a)?, &b), (&a, &by_columns(&b)?)] {
                let told =
                    format!("[{n}, {k}] × [{k}, {m}] of {dtype}, {:?}, {:?}", a.strides(), b.strides());
                assert!(aten::equal(&a.mm(b)?, &want)?, "{told}");
                assert!(aten::equal(&b.t()?.mm(&a.t()?)?.t()?, &want)?, "{told}, transposed");
                let mut out =
                    Tensor::zeros(&[n, 2 * m], dtype, Device::CPU)?.as_strided(&[n, m], &[2 * m, 2])?;
                aten::mm_out(a, b, &mut out)?;
                assert!(aten::equal(&out, &want)?, "{told}, every other column");
                let conj = aten::conj(a)?.mm(&aten::conj(b)?)?;
                assert!(aten::equal(&conj, &aten::conj(&want)?)?, "{told}, conjugates");
            }
        }
    }
    Ok(())
}

#[test]
fn products_are_written_to_every_other_element() -> Result<()> {
    for (dtype, [n, k, m]) in [DType::Int64, DType::Float32, DType::Float64]
        .into_iter()
        .flat_map(|dtype| [[2, 3, 5], [150, 40, 130]].map(|shape| (dtype, shape)))
    {
        let (a, b) = (small_numbers(&[n, k])?.to_dtype(dtype)?, small_numbers(&[k, m])?.to_dtype(dtype)?);
        let all = aten::ones(&[n, 2 * m])?.to_dtype(dtype)?;
        aten::mm_out(&a, &b, &mut all.as_strided(&[n, m], &[2 * m, 2])?)?;
        assert!(aten::equal(&all.as_strided(&[n, m], &[2 * m, 2])?, &a.mm(&b)?)?, "{dtype}");
        let between = aten::as_strided::with(&all, &[n, m], &[2 * m, 2]).storage_offset(Some(1)).call()?;
        assert!(aten::equal(&between, &aten::ones(&[n, m])?.to_dtype(dtype)?)?, "{dtype}");
    }
    Ok(())
}

#[test]
fn products_of_halves_are_those_of_wider_numbers_rounded_once() -> Result<()> {
    let matrices = [[1, 1, 1], [5, 7, 3], [12, 32, 32], [29, 33, 70], [64, 64, 64], [3, 2, 65], [13, 1, 40]];
    let with_vectors =
        [[1, 33, 90], [1, 130, 300], [40, 65, 1], [9, 300, 1], [1, 301, 1], [1, 31, 128], [1, 2, 129]];
    let of_few_steps = [[300, 3, 3], [3, 8, 200], [70, 1, 1]];
    // Long rows; strips of a matrix that is converted.
    let of_long_rows = [[1, 70, 1100], [3, 9, 1500], [16, 300, 900], [1000, 300, 10], [40, 1024, 140]];
    let of_few_rows = [[2, 40, 130], [5, 33, 70], [8, 9, 12]];
    let of_few_rows = of_few_rows.into_iter().chain(of_long_rows);
    let all = matrices.into_iter().chain(with_vectors).chain(of_few_steps).chain(of_few_rows);
    for (dtype, [n, k, m]) in all.flat_map(|sizes| [(DType::BFloat16, sizes), (DType::Float16, sizes)]) {
        let (a, b) = (small_numbers(&[n, k])?, small_numbers(&[k, m])?);
        let want = a.to_dtype(DType::Float32)?.mm(&b.to_dtype(DType::Float32)?)?.to_dtype(dtype)?;
        let (a, b) = (a.to_dtype(dtype)?, b.to_dtype(dtype)?);
        let turned = |x: &Tensor| x.t()?.contiguous()?.t();
        let spread = |x: &Tensor| aten::stack::with(&[x.clone(), x.clone()]).dim(2).call()?.select(2, 1);
        for (a, b) in [
            (a.clone(), b.clone()),
            (turned(&a)?, b.clone()),
            (a.clone(), turned(&b)?),
            (spread(&a)?, spread(&b)?),
        ] {
            let context = format!("{dtype} {n} × {k} × {m}, strides {:?} and {:?}", a.strides(), b.strides());
            assert!(aten::equal(&a.mm(&b)?, &want)?, "{context}");
            let batch = aten::bmm(&aten::stack(&[a.clone(), a.clone()])?, &aten::stack(&[b.clone(), b])?)?;
            assert!(aten::equal(&batch.select(0, 1)?, &want)?, "a batch of {context}");
        }
    }
    Ok(())
}

#[test]
fn a_row_is_multiplied_by_a_column() -> Result<()> {
    for len in [4, 5, 15, 16, 64, 65, 511, 512, 513] {
        for dtype in [DType::Float32, DType::Float64, DType::Int64] {
            let [rows, columns] = [[7, 1, len], [7, len, 1]].map(|sizes| small_numbers(&sizes));
            let (rows, columns) = (rows?.to_dtype(dtype)?, columns?.to_dtype(dtype)?);
            let want = aten::mul_Tensor(&rows, &columns.transpose(1, 2)?)?.sum_dim(&[2], true)?;
            assert!(aten::equal(&aten::bmm(&rows, &columns)?, &want)?, "{len} {dtype}");
            let bias = small_numbers(&[7, 1, 1])?.to_dtype(dtype)?;
            let sum = aten::baddbmm(&bias, &rows, &columns)?;
            assert!(aten::equal(&sum, &aten::add_Tensor(&bias, &want)?)?, "{len} {dtype}");
        }
    }
    Ok(())
}

#[test]
fn few_sums_of_many_products_are_split_and_joined() -> Result<()> {
    // As many steps as make several parts, where the last one is longer; and one that is not split.
    for [n, k, m] in [[1, 1_000_003, 1], [3, 300_007, 2], [16, 70_001, 16], [5, 8191, 9]] {
        let (a, b) = (small_numbers(&[n, k])?, small_numbers(&[k, m])?);
        let want = a.to_dtype(DType::Float64)?.mm(&b.to_dtype(DType::Float64)?)?;
        let exact = aten::mul_Tensor(&a.narrow(0, n - 1, 1)?.t()?, &b.narrow(1, m - 1, 1)?)?.sum()?;
        assert_eq!(want.element::<f64>(&[n - 1, m - 1])? as i64, exact.item()?.cast::<i64>());
        for dtype in [DType::Float32, DType::Float64, DType::Int64, DType::Complex128] {
            let (a, b) = (a.to_dtype(dtype)?, b.to_dtype(dtype)?);
            let bias = small_numbers(&[n, m])?.to_dtype(dtype)?;
            for (a, b) in [(a.clone(), b.clone()), (a.t()?.contiguous()?.t()?, b.clone())] {
                let product = a.mm(&b)?;
                assert!(aten::equal(&product.to_dtype(DType::Float64)?, &want)?, "{n} {k} {m} {dtype}");
                let sum = aten::addmm(&bias, &a, &b)?;
                assert!(aten::equal(&sum, &aten::add_Tensor(&bias, &product)?)?, "{n} {k} {m} {dtype}");
            }
        }
    }
    Ok(())
}

#[test]
fn vectors_times_wide_matrices_are_sums_of_rows() -> Result<()> {
    for (depth, width) in [(1, 128), (4, 129), (7, 200), (300, 257), (33, 1000), (16, 5), (40, 3)] {
        for dtype in
            [DType::Float32, DType::Float64, DType::Float16, DType::Int64, DType::Int16, DType::Complex64]
        {
            let (x, matrix) = (small_numbers(&[1, depth])?, small_numbers(&[depth, width])?);
            let want = matrix.mul(&x.reshape(&[depth, 1])?)?.sum_dim(&[0], false)?;
            let (x, matrix) = (x.to_dtype(dtype)?, matrix.to_dtype(dtype)?);
            let got = aten::mm(&x, &matrix)?.flatten()?;
            assert!(aten::equal(&got, &want.to_dtype(dtype)?)?, "{dtype} {depth} {width}");
            let along = aten::mv(&matrix.t()?, &x.flatten()?)?;
            assert!(aten::equal(&along, &got)?, "{dtype} {depth} {width}");
            // The same by other ways: contiguous rows, elements of the vector that lie apart, a sum.
            let apart = aten::stack::with(&[x.flatten()?, x.flatten()?]).dim(1).call()?.select(1, 0)?;
            let rows = matrix.t()?.contiguous()?;
            assert!(aten::equal(&aten::mv(&rows, &apart)?, &got)?, "{dtype} {depth} {width}");
            assert!(aten::equal(&aten::mv(&matrix.t()?, &apart)?, &got)?, "{dtype} {depth} {width}");
            let zeros = aten::zeros_like(&got)?;
            let sum = aten::addmv(&aten::sub_Tensor(&zeros, &got)?, &rows, &apart)?;
            assert!(dtype == DType::Float16 || aten::equal(&sum, &zeros)?, "{dtype} {depth} {width}");
        }
    }
    Ok(())
}

#[test]
fn integers_of_every_width_are_multiplied_exactly() -> Result<()> {
    for columns in [1, 5, 31, 32, 33, 63, 64, 65, 100, 130] {
        for (rows, depth) in [(1, 40), (9, 3), (17, 70)] {
            let (a, b) = (small_numbers(&[rows, depth])?, small_numbers(&[depth, columns])?);
            let want = aten::mm(&a, &b)?.to_dtype(DType::Int64)?;
            for dtype in [DType::Int64, DType::Int32, DType::Int16, DType::Int8] {
                let product = aten::mm(&a.to_dtype(dtype)?, &b.to_dtype(dtype)?)?;
                assert!(aten::equal(&product, &want.to_dtype(dtype)?)?, "{rows} {depth} {columns} {dtype}");
            }
        }
    }
    Ok(())
}

/// Large matrices are read in alternating directions, which must not show in the results.
#[test]
fn products_with_a_large_weight_are_the_same_again_and_again() -> Result<()> {
    let (x, weight) = (small_numbers(&[2, 512])?, small_numbers(&[603, 512])?);
    let want = aten::mm(&x, &weight.t()?)?;
    let (exact, exact_weight) = (x.to_dtype(DType::Float32)?, weight.to_dtype(DType::Float32)?);
    let (inexact, inexact_weight) = (exact.div_Scalar(7.into())?, exact_weight.div_Scalar(3.into())?);
    let first = aten::linear(&inexact, &inexact_weight)?;
    for _ in 0..3 {
        let product = aten::linear(&exact, &exact_weight)?;
        assert!(aten::equal(&product, &want.to_dtype(DType::Float32)?)?);
        assert!(aten::equal(&aten::linear(&inexact, &inexact_weight)?, &first)?);
        aten::linear(&exact, &exact_weight)?; // an odd number of products in each round
    }
    Ok(())
}

#[test]
fn sums_with_products_in_place_have_the_gradients_of_those_that_return() -> Result<()> {
    let of = |sizes: &[i64]| {
        let count: i64 = sizes.iter().product();
        Tensor::from_vec((0..count).map(|k| (k as f64 * 0.7).sin()).collect(), sizes)
    };
    let (cube, matrix, vector) = (of(&[2, 2, 2])?, of(&[2, 2])?, of(&[2])?);
    type InPlace = for<'a> fn(&'a mut Tensor, &Tensor, &Tensor) -> Result<&'a mut Tensor>;
    type Returning = fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor>;
    let cases: [(&str, &Tensor, [&Tensor; 2], InPlace, Returning); 4] = [
        ("AddbmmBackward0", &matrix, [&cube, &cube], aten::addbmm_, aten::addbmm),
        ("BaddbmmBackward0", &cube, [&cube, &cube], aten::baddbmm_, aten::baddbmm),
        ("AddmvBackward0", &vector, [&matrix, &vector], aten::addmv_, aten::addmv),
        ("AddrBackward0", &matrix, [&vector, &vector], aten::addr_, aten::addr),
    ];
    for (name, this, [first, second], in_place, returning) in cases {
        let leaves = || [this, first, second].map(|x| aten::clone(x).unwrap());
        let (mut own, other) = (leaves(), leaves());
        own.iter().chain(&other).for_each(|x| x.set_requires_grad(true).unwrap());
        let mut copy = own[0].mul(1.0)?;
        let [_, a, b] = &mut own;
        in_place(&mut copy, a, b)?;
        assert_eq!(copy.grad_fn().unwrap().unwrap().name(), name);
        copy.mul(&copy)?.sum()?.backward()?;
        let sum = returning(&other[0], &other[1], &other[2])?;
        sum.mul(&sum)?.sum()?.backward()?;
        for (own, other) in own.iter().zip(&other) {
            assert_eq!(
                own.grad().unwrap().to_vec::<f64>()?,
                other.grad().unwrap().to_vec::<f64>()?,
                "{name}"
            );
        }
    }
    Ok(())
}

#[test]
fn slices_are_combined() -> Result<()> {
    let slices = Tensor::from([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]);
    let rows = Tensor::from([[1.0, 0.0, 2.0], [0.0, 0.5, -1.0]]);
    assert_close(&aten::_compute_linear_combination(&slices, &rows)?, &[8.0, 11.0, -3.0, -3.5])?;
    let whole = |tensor: &Tensor| aten::to_dtype(tensor, DType::Int64);
    let sums = aten::_compute_linear_combination(&whole(&slices)?, &whole(&rows)?)?;
    assert_eq!(sums.to_vec::<i64>()?, [8, 11, -4, -5]);
    assert!(aten::_compute_linear_combination(&slices, &Tensor::from([1.0, 0.0, 2.0])).is_err());
    assert!(aten::_compute_linear_combination(&slices, &Tensor::from([[1.0, 0.0]])).is_err());
    assert!(aten::_compute_linear_combination(&slices, &aten::to_dtype(&rows, DType::Float32)?).is_err());
    Ok(())
}

#[test]
fn groups_of_matrices_are_multiplied() -> Result<()> {
    let ones = |sizes: &[i64]| aten::ones(sizes);
    let offsets = Tensor::from([4i32, 9]);
    let inner = aten::_grouped_mm::with(&ones(&[8, 16])?, &ones(&[16, 8])?).offs(Some(&offsets)).call()?;
    assert_eq!((inner.sizes(), inner.select(0, 1)?.to_vec::<f32>()?[0]), (&[2, 8, 8][..], 5.0));
    let rows = ones(&[6, 8])?;
    let groups = aten::cat(&[ones(&[1, 8, 8])?, ones(&[1, 8, 8])?.mul(2.0)?])?;
    let offsets = Tensor::from([2i32, 6]);
    rows.set_requires_grad(true)?;
    let product = aten::_grouped_mm::with(&rows, &groups).offs(Some(&offsets)).call()?;
    assert_eq!(product.select(1, 0)?.to_vec::<f32>()?, [8.0, 8.0, 16.0, 16.0, 16.0, 16.0]);
    assert_eq!(product.grad_fn()?.map(|node| node.name()), Some("GroupedMmBackward0"));
    product.sum()?.backward()?;
    let grad = rows.grad().ok_or_else(|| Error::new(ErrorKind::Internal, "no gradient"))?;
    assert_eq!(grad.select(1, 0)?.to_vec::<f32>()?, [8.0, 8.0, 16.0, 16.0, 16.0, 16.0]);
    assert!(aten::_grouped_mm(&rows, &groups).is_err());
    let beyond = Tensor::from([2i32, 9]);
    assert!(aten::_grouped_mm::with(&rows, &groups).offs(Some(&beyond)).call().is_err());
    assert!(aten::_grouped_mm(&ones(&[2, 3, 5])?, &ones(&[2, 5, 4])?).is_err()); // rows begin anywhere
    let wide = groups.to_dtype(DType::Float64)?;
    assert!(aten::_grouped_mm(&wide, &wide).is_err());
    Ok(())
}

#[test]
fn a_product_of_halves_may_be_a_float() -> Result<()> {
    // The sum is not a number of 16 bits.
    let (row, column) = (Tensor::from([[2048.0f32, 1.0]]), Tensor::from([[1.0f32], [1.0]]));
    let [row, column] = [row, column].map(|x| x.to_dtype(DType::Float16));
    let (row, column) = (row?, column?);
    assert_eq!(aten::mm(&row, &column)?.item()?, Scalar::Float(2048.0));
    let wide = aten::mm_dtype(&row, &column, DType::Float32)?;
    assert_eq!((wide.dtype(), wide.item()?), (DType::Float32, Scalar::Float(2049.0)));
    let one = Tensor::from([0.5f32]).to_dtype(DType::Float16)?;
    let sum = aten::addmm_dtype::with(&one, &row, &column, DType::Float32).alpha(Scalar::Int(2)).call()?;
    assert_eq!(sum.item()?, Scalar::Float(4098.5));
    let (rows, columns) = (row.unsqueeze(0)?, column.unsqueeze(0)?);
    assert_eq!(aten::bmm_dtype(&rows, &columns, DType::Float32)?.item()?, Scalar::Float(2049.0));
    assert_eq!(aten::baddbmm_dtype(&one, &rows, &columns, DType::Float32)?.item()?, Scalar::Float(2049.5));
    assert_eq!(aten::mm_dtype(&row, &column, DType::Float16)?.dtype(), DType::Float16);
    let refused = aten::mm_dtype(&row, &column, DType::Float64).unwrap_err().to_string();
    assert!(refused.ends_with("expected the same type, or float32 for 16-bit floats"), "{refused}");
    Ok(())
}

#[test]
fn a_resized_sum_of_products_stays_at_its_offset() -> Result<()> {
    let mut this = Tensor::from([0.0f32, 0.0, 1.0]).narrow(0, 2, 1)?;
    aten::addbmm_(&mut this, &aten::ones(&[2, 2, 2])?, &aten::ones(&[2, 2, 3])?)?;
    assert_eq!((this.sizes(), this.storage_offset()), (&[2, 3][..], 2)); // as PyTorch's
    assert_eq!(this.to_vec::<f32>()?, [5.0; 6]);
    Ok(())
}
