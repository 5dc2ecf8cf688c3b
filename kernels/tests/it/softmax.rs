//! Softmax.

use std::f64::consts::LN_2;

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn close(got: &Tensor, want: &[f64]) -> Result<()> {
    let got = got.to_dtype(DType::Float64)?.to_vec::<f64>()?;
    let is_close = |(got, want): (&f64, &f64)| (got - want).abs() <= 1e-6 * want.abs().max(1.0);
    assert!(got.len() == want.len() && got.iter().zip(want).all(is_close), "{got:?} instead of {want:?}");
    Ok(())
}

#[test]
fn softmax_does_not_overflow() -> Result<()> {
    let x = Tensor::from([[1000.0, 1001.0], [-1000.0, -1000.0]]);
    close(&x.softmax(1)?, &[0.26894142, 0.73105858, 0.5, 0.5])?;
    close(&x.log_softmax(-1)?, &[-1.31326169, -0.31326169, -LN_2, -LN_2])?;
    close(&x.softmax(0)?, &[1.0, 1.0, 0.0, 0.0])?;
    assert_eq!(Tensor::from(3.0).softmax(0)?.item()?, Scalar::Float(1.0));
    // Many columns side by side, whose second element is the largest.
    let columns =
        aten::mul_Scalar(&aten::arange(3.into())?.reshape(&[3, 1])?.expand(&[3, 40])?, (-1000).into())?;
    let columns = aten::roll::with(&columns.to_dtype(DType::Float32)?, &[1]).dims(&[0]).call()?;
    close(&columns.softmax(0)?, &[[0.0; 40], [1.0; 40], [0.0; 40]].concat())?;
    close(&columns.log_softmax(0)?, &[[-2000.0; 40], [0.0; 40], [-1000.0; 40]].concat())?;
    Ok(())
}

#[test]
fn softmax_of_integers_needs_a_type() -> Result<()> {
    let x = Tensor::from([1i64, 1]);
    assert_eq!(
        x.softmax(0).unwrap_err().to_string(),
        "aten::softmax.int: aten::_softmax is not implemented for int64"
    );
    let halves = aten::softmax_int::with(&x, 0).dtype(Some(DType::Float16)).call()?;
    assert_eq!(halves.to_vec::<f16>()?, [f16::from_f32(0.5); 2]);
    assert_eq!(x.t()?.to_dtype(DType::Float32)?.softmax(0)?.strides(), [1]);
    Ok(())
}

#[test]
fn lines_of_every_length_and_layout_are_normalised() -> Result<()> {
    for len in [1, 7, 8, 255, 257, 1030] {
        let elements: Vec<f64> = (0..3 * len).map(|i| ((i * 37) % 101) as f64 / 16.0).collect();
        let rows = Tensor::from_vec(elements.clone(), &[3, len])?;
        let columns = Tensor::from_vec(elements.clone(), &[len, 3])?;
        for dtype in [DType::Float32, DType::Float64] {
            let (x, y) = (rows.to_dtype(dtype)?, columns.to_dtype(dtype)?.transpose(0, 1)?);
            for (x, line, step) in [(x, len as usize, 1), (y, 1, 3)] {
                let mut want = Vec::new();
                for row in 0..3 {
                    let line = (0..len as usize).map(|i| elements[row * line + i * step]).collect::<Vec<_>>();
                    let sum = line.iter().map(|x| x.exp()).sum::<f64>();
                    want.extend(line.iter().map(|x| x.exp() / sum));
                }
                close(&x.softmax(1)?, &want)?;
                close(&x.log_softmax(1)?, &want.iter().map(|x| x.ln()).collect::<Vec<_>>())?;
            }
        }
    }
    Ok(())
}

#[test]
fn a_row_of_nothing_has_no_weights() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0], [f64::NEG_INFINITY, f64::NEG_INFINITY]]);
    close(&aten::_safe_softmax(&x, -1)?, &[0.26894142, 0.73105858, 0.0, 0.0])?;
    assert!(aten::_safe_softmax(&Tensor::from([1i64, 2]), 0).is_err());
    Ok(())
}

#[test]
fn gradients_of_lines_of_every_length_are_those_of_the_formula() -> Result<()> {
    for len in (1..=70).chain([255, 256, 257, 320, 1000]) {
        let number = |i: i64| (i * 37 % 19 - 9) as f64 / 8.0;
        let (x, grad): (Vec<_>, Vec<_>) = (0..3 * len).map(|i| (number(i), number(i + 5))).unzip();
        let (mut by_softmax, mut by_log) = (Vec::new(), Vec::new());
        for (x, grad) in x.chunks_exact(len as usize).zip(grad.chunks_exact(len as usize)) {
            let sum: f64 = x.iter().map(|x| x.exp()).sum();
            let y: Vec<_> = x.iter().map(|x| x.exp() / sum).collect();
            let product: f64 = y.iter().zip(grad).map(|(y, grad)| y * grad).sum();
            let total: f64 = grad.iter().sum();
            by_softmax.extend(y.iter().zip(grad).map(|(y, grad)| y * (grad - product)));
            by_log.extend(y.iter().zip(grad).map(|(y, grad)| grad - y * total));
        }
        for dtype in [DType::Float32, DType::Float64] {
            let of = |numbers: &[f64]| Tensor::from_vec(numbers.to_vec(), &[3, len])?.to_dtype(dtype);
            let (x, grad) = (of(&x)?, of(&grad)?);
            close(&aten::_softmax_backward_data(&grad, &x.softmax(1)?, 1, dtype)?, &by_softmax)?;
            close(&aten::_log_softmax_backward_data(&grad, &x.log_softmax(1)?, 1, dtype)?, &by_log)?;
        }
    }
    Ok(())
}

#[test]
fn many_short_lines_are_normalised_as_a_few_are() -> Result<()> {
    const FEW: i64 = 15; // which are computed line by line
    for (len, count) in
        [1, 2, 3, 4, 5, 8, 10, 17, 31, 63, 64, 65].into_iter().zip([600, 16, 17, 1100].iter().cycle())
    {
        let elements: Vec<f64> =
            (0..len * count).map(|i| ((i * 37 + i / 7) % 101) as f64 / 16.0 - 3.0).collect();
        let x = Tensor::from_vec(elements, &[*count, len])?;
        x.select(0, 1)?.fill(f64::NEG_INFINITY)?;
        x.select(0, 2)?.select(0, 0)?.fill(f64::NAN)?;
        x.select(0, 3)?.select(0, len - 1)?.fill(f64::INFINITY)?;
        let grad = aten::cos(&x.nan_to_num()?)?;
        for dtype in [DType::Float32, DType::Float64, DType::BFloat16, DType::Float16] {
            let (x, grad) = (x.to_dtype(dtype)?, grad.to_dtype(dtype)?);
            let tolerance = if dtype.size() == 2 { 1e-2 } else { 2e-6 };
            let check = |got: &Tensor, of_few: &dyn Fn(i64, i64) -> Result<Tensor>| -> Result<()> {
                for start in (0..*count).step_by(FEW as usize) {
                    let few = FEW.min(count - start);
                    let near = aten::isclose::with(&aten::narrow(got, 0, start, few)?, &of_few(start, few)?)
                        .rtol(tolerance)
                        .atol(tolerance)
                        .equal_nan(true)
                        .call()?;
                    assert!(aten::all(&near)?.item()?.to::<bool>()?, "{count} × {len} {dtype}, from {start}");
                }
                Ok(())
            };
            let lines = |x: &Tensor, start, few| aten::narrow(x, 0, start, few);
            let (y, log) = (x.softmax(1)?, x.log_softmax(1)?);
            check(&y, &|start, few| lines(&x, start, few)?.softmax(1))?;
            check(&log, &|start, few| lines(&x, start, few)?.log_softmax(1))?;
            check(&aten::_softmax_backward_data(&grad, &y, 1, dtype)?, &|start, few| {
                aten::_softmax_backward_data(&lines(&grad, start, few)?, &lines(&y, start, few)?, 1, dtype)
            })?;
            check(&aten::_log_softmax_backward_data(&grad, &log, 1, dtype)?, &|start, few| {
                aten::_log_softmax_backward_data(
                    &lines(&grad, start, few)?,
                    &lines(&log, start, few)?,
                    1,
                    dtype,
                )
            })?;
        }
    }
    Ok(())
}

#[test]
fn gradients_of_halves_are_those_of_the_same_numbers_rounded_once() -> Result<()> {
    for [count, len] in [[50, 1], [70, 70], [9, 320], [3, 2048], [2, 3000], [2, 10_000]] {
        let numbers: Vec<f64> = (0..count * len).map(|i| (i * 37 % 101) as f64 / 64.0).collect();
        let x = Tensor::from_vec(numbers, &[count, len])?;
        for dtype in [DType::Float16, DType::BFloat16] {
            let (grad, y) = (aten::cos(&x)?.to_dtype(dtype)?, x.softmax(1)?.to_dtype(dtype)?);
            for backward in [aten::_softmax_backward_data, aten::_log_softmax_backward_data] {
                let single = |tensor: &Tensor| tensor.to_dtype(DType::Float32);
                let exact = backward(&single(&grad)?, &single(&y)?, 1, DType::Float32)?;
                let found = backward(&grad, &y, 1, dtype)?;
                assert!(found.equal(&exact.to_dtype(dtype)?)?, "{count} × {len} {dtype}");
            }
        }
    }
    Ok(())
}

#[test]
fn columns_are_normalised_as_lines_are() -> Result<()> {
    for [tables, height, width] in
        [[1, 1, 16], [3, 5, 17], [2, 70, 100], [1, 130, 600], [2, 3, 1030], [1, 200, 15]]
    {
        for dtype in [DType::Float32, DType::Float64, DType::BFloat16] {
            let count = tables * height * width;
            let elements: Vec<f64> =
                (0..count).map(|i| ((i * 37 + i / 7) % 101) as f64 / 16.0 - 3.0).collect();
            let x = Tensor::from_vec(elements, &[tables, height, width])?;
            x.select(0, 0)?.select(0, 0)?.select(0, 1)?.fill(f64::NEG_INFINITY)?;
            let x = x.to_dtype(dtype)?;
            let lines = x.transpose(1, 2)?.contiguous()?;
            let close = |got: &Tensor, lines: &Tensor| -> Result<()> {
                let tolerance = if dtype == DType::BFloat16 { 1e-2 } else { 2e-6 };
                let near = aten::isclose::with(got, &lines.transpose(1, 2)?)
                    .rtol(tolerance)
                    .atol(tolerance)
                    .equal_nan(true)
                    .call()?;
                assert!(aten::all(&near)?.item()?.to::<bool>()?, "{tables} × {height} × {width} {dtype}");
                Ok(())
            };
            let (y, y_of_lines) = (x.softmax(1)?, lines.softmax(2)?);
            let (log, log_of_lines) = (x.log_softmax(1)?, lines.log_softmax(2)?);
            assert_eq!(y.strides(), x.strides());
            assert_eq!(log.strides(), x.strides());
            close(&y, &y_of_lines)?;
            close(&log, &log_of_lines)?;
            let grad = aten::cos(&x.nan_to_num()?)?;
            let grad_of_lines = grad.transpose(1, 2)?.contiguous()?;
            close(
                &aten::_softmax_backward_data(&grad, &y, 1, dtype)?,
                &aten::_softmax_backward_data(&grad_of_lines, &y_of_lines, 2, dtype)?,
            )?;
            close(
                &aten::_log_softmax_backward_data(&grad, &log, 1, dtype)?,
                &aten::_log_softmax_backward_data(&grad_of_lines, &log_of_lines, 2, dtype)?,
            )?;
        }
    }
    Ok(())
}

#[test]
fn short_lines_of_halves_are_normalised_one_by_one() -> Result<()> {
    for len in [1, 3, 64, 300] {
        let x = aten::cos(&aten::arange((len * 1100).into())?)?
            .reshape(&[1100, len])?
            .to_dtype(DType::BFloat16)?;
        let wide = x.to_dtype(DType::Float32)?;
        assert!(aten::equal(&x.softmax(1)?, &wide.softmax(1)?.to_dtype(DType::BFloat16)?)?, "{len}");
        assert!(aten::equal(&x.log_softmax(1)?, &wide.log_softmax(1)?.to_dtype(DType::BFloat16)?)?, "{len}");
    }
    Ok(())
}
