//! Nested levels of vmap and of gradients: sizes that change, disabled grad mode, panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use torch_library::guard::{LocalDispatchKeySet, no_grad};
use torch_library::prelude::*;
use torch_library::vmap::Level;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::{grad, vmap};

fn square_sum(x: &Tensor) -> Result<Tensor> {
    aten::sum(&aten::mul_Tensor(x, x)?)
}

#[test]
fn a_tensor_that_examples_share_has_the_sizes_of_its_value() -> Result<()> {
    let x = Tensor::from([1.0, 2.0, 3.0]);
    let [gradient] = grad([&x], |[x]| {
        let mut y = aten::mul_Scalar(&x, 2.into())?;
        let other = y.clone();
        aten::unsqueeze_(&mut y, 0)?;
        assert_eq!((y.sizes(), other.sizes()), (&[1, 3][..], &[1, 3][..]));
        aten::t_(&mut y)?;
        assert_eq!((other.sizes(), other.strides()), (&[3, 1][..], &[1, 3][..]));
        square_sum(&y)
    })?;
    assert_eq!(gradient.to_vec::<f64>()?, [8.0, 16.0, 24.0]);
    Ok(())
}

#[test]
fn an_out_is_no_operand() -> Result<()> {
    let (x, outs) = (Tensor::from([1.5, -2.25]), Tensor::from([[9.0, 9.0], [9.0, 9.0], [9.0, 9.0]]));
    let error = vmap([&outs], |[mut out]| aten::frac_out(&x, &mut out).map(|out| out.clone()))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with(
            "aten::frac.out has no batching rule, and an operator that returns views or writes to `out`"
        ),
        "{error}"
    );
    assert_eq!((outs.sizes(), outs.to_vec::<f64>()?), (&[3, 2][..], vec![9.0; 6]));
    Ok(())
}

#[test]
fn a_gradient_inside_of_no_grad_is_computed_and_not_recorded() -> Result<()> {
    let x = Tensor::from([1.0, 2.0]);
    x.set_requires_grad(true)?;
    let gradient = || grad([&x], |[x]| square_sum(&x)).map(|[gradient]| gradient);
    let quiet = no_grad(gradient)?;
    assert_eq!((quiet.to_vec::<f64>()?, quiet.requires_grad()), (vec![2.0, 4.0], false));
    let recorded = gradient()?;
    assert_eq!((recorded.to_vec::<f64>()?, recorded.requires_grad()), (vec![2.0, 4.0], true));
    let of_each = no_grad(|| vmap([&x], |[x]| Ok(grad([&x], |[x]| square_sum(&x))?[0].clone())))?;
    assert_eq!((of_each.to_vec::<f64>()?, of_each.requires_grad()), (vec![2.0, 4.0], false));
    Ok(())
}

#[test]
fn a_panic_ends_all_levels_that_it_passes() -> Result<()> {
    let (rows, keys) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), LocalDispatchKeySet::current());
    let panics = || vmap([&rows], |[row]| vmap([&row], |[_]| panic!("in an example")));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert!(Level::innermost().is_none() && LocalDispatchKeySet::current() == keys);
    let panics = || grad([&rows], |[_]| panic!("in a function"));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert!(Level::innermost().is_none() && LocalDispatchKeySet::current() == keys);
    assert_eq!(vmap([&rows], |[row]| row.sum())?.to_vec::<f64>()?, [3.0, 7.0]);
    Ok(())
}

#[test]
fn one_stride_serves_all_dimensions_of_a_convolution() -> Result<()> {
    let numbers = |sizes: &[i64]| aten::arange(sizes.iter().product::<i64>().into())?.reshape(sizes);
    let (images, weight) = (numbers(&[2, 1, 4, 4])?, numbers(&[3, 1, 2, 2])?);
    let biases = numbers(&[2, 3])?.to_dtype(DType::Float32)?;
    let (images, weight) = (images.to_dtype(DType::Float32)?, weight.to_dtype(DType::Float32)?);
    let convolve = |images: &Tensor, weight: &Tensor, bias: &Tensor| {
        aten::convolution(images, weight, Some(bias), &[1], &[0], &[1], false, &[0], 1)
    };
    let of_biases = vmap([&biases], |[bias]| convolve(&images, &weight, &bias))?;
    let weights = aten::stack(&[weight.clone(), weight.neg()?])?;
    let of_weights = vmap([&weights], |[weight]| convolve(&images, &weight, &biases.select(0, 1)?))?;
    for at in 0..2 {
        let expected = convolve(&images, &weight, &biases.select(0, at)?)?;
        assert!(aten::equal(&of_biases.select(0, at)?, &expected)?);
        let expected = convolve(&images, &weights.select(0, at)?, &biases.select(0, 1)?)?;
        assert!(aten::equal(&of_weights.select(0, at)?, &expected)?);
    }
    Ok(())
}

#[test]
fn gradients_of_more_normalised_dimensions_than_there_are_are_refused() -> Result<()> {
    let rows = aten::ones(&[2, 3])?;
    let error = vmap([&rows], |[row]| {
        let mask = [true, true, true];
        let grads = aten::native_layer_norm_backward(&row, &row, &[1, 1, 3], &row, &row, None, None, &mask);
        grads.map(|grads| grads.0)
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("sizes [3] do not end with those that are normalised, [1, 1, 3]"), "{error}");
    Ok(())
}

#[test]
fn places_in_memory_are_those_of_each_example() -> Result<()> {
    let numbers = Tensor::from_vec((0..24).map(f64::from).collect(), &[3, 8])?;
    let rows = numbers.strided_view(&[3, 3, 2], &[8, 2, 1], 1)?; // starts after the first element
    let parts = Tensor::from([[-1.0, -2.0], [-3.0, -4.0], [-5.0, -6.0]]);
    let put = |x: &Tensor, part: &Tensor, offset: Option<i64>| {
        aten::as_strided_scatter::call(x, part, &[2], &[3], offset)
    };
    let alone = |x: &Tensor, part: &Tensor, offset: i64| {
        let copy = aten::clone(x)?; // starts at 0
        put(&copy, part, Some(offset))?.to_vec::<f64>()
    };
    let mut expected = [Vec::new(), Vec::new()];
    for index in 0..3 {
        let (row, part) = (rows.select_int(0, index)?, parts.select_int(0, index)?);
        expected[0].extend(alone(&row, &part, 1)?);
        expected[1].extend(alone(&rows.select_int(0, 0)?, &part, 0)?);
    }
    let both = vmap([&rows, &parts], |[x, part]| put(&x, &part, Some(2)))?;
    assert_eq!(both.to_vec::<f64>()?, expected[0]);
    let shared = rows.select_int(0, 0)?;
    let one = vmap([&parts], |[part]| put(&shared, &part, None))?;
    assert_eq!(one.to_vec::<f64>()?, expected[1]);
    for offset in [0, 4] {
        let error = vmap([&rows, &parts], |[x, part]| put(&x, &part, Some(offset))).unwrap_err();
        assert!(error.to_string().contains("reach beyond an example"), "{error}");
    }
    Ok(())
}

#[test]
fn an_in_place_operator_does_not_write_a_result_that_its_type_cannot_hold() -> Result<()> {
    let numbers = Tensor::from([1i64, 2, 3]);
    let error = vmap([&numbers], |[mut x]| aten::logit_(&mut x).map(|x| x.clone())).unwrap_err().to_string();
    assert!(error.contains("a result of float32 cannot be written to a tensor of int64"), "{error}");
    assert_eq!(numbers.to_vec::<i64>()?, [1, 2, 3]);
    Ok(())
}

#[test]
fn a_power_in_place_is_not_rounded() -> Result<()> {
    let batch = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let square = |batch: &Tensor| {
        vmap([batch], |[x]| {
            let mut x = x.copy()?;
            aten::float_power__Scalar(&mut x, 2.into())?;
            Ok(x)
        })
    };
    assert_eq!(square(&batch)?.to_vec::<f64>()?, [1.0, 4.0, 9.0, 16.0]);
    let error = square(&batch.to_dtype(DType::Float32)?).unwrap_err().to_string();
    assert!(error.contains("a result of float64 cannot be written to a tensor of float32"), "{error}");
    batch.set_requires_grad(true)?;
    let mut y = batch.mul(1)?;
    aten::float_power__Tensor(&mut y, &Tensor::from([2.0, 3.0]))?.sum()?.backward()?;
    assert_eq!(batch.grad().expect("a gradient").to_vec::<f64>()?, [2.0, 12.0, 6.0, 48.0]);
    Ok(())
}

#[test]
fn least_squares_have_every_driver() -> Result<()> {
    let a = Tensor::from([[[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [[2.0, 1.0], [0.0, 1.0], [0.0, 3.0]]]);
    let b = Tensor::from([[[1.0], [2.0], [4.0]], [[3.0], [1.0], [0.0]]]);
    for driver in ["gels", "gelsy", "gelsd", "gelss"] {
        let lstsq = |a: &Tensor, b: &Tensor| aten::linalg_lstsq::call(a, b, None, Some(driver));
        let (solution, residuals, _, values) = lstsq(&a, &b)?;
        let close =
            |got: &Tensor, want: &Tensor| aten::allclose(got, want).map(|close| assert!(close, "{driver}"));
        close(&vmap([&a, &b], |[a, b]| Ok(lstsq(&a, &b)?.0))?, &solution)?;
        let of_each = vmap([&a, &b], |[a, b]| Ok(lstsq(&a, &b)?.1))?;
        assert_eq!(of_each.sizes(), if driver == "gelsy" { &[2, 0] } else { residuals.sizes() }, "{driver}");
        if driver != "gelsy" {
            close(&of_each, &residuals)?;
        }
        let twice = |x: &Tensor| aten::stack(&[x.clone(), x.clone()]);
        let nested =
            vmap([&twice(&a)?, &twice(&b)?], |[a, b]| vmap([&a, &b], |[a, b]| Ok(lstsq(&a, &b)?.0)))?;
        close(&nested, &twice(&solution)?)?;
        if values.numel() > 0 {
            close(&vmap([&a, &b], |[a, b]| Ok(lstsq(&a, &b)?.3))?, &values)?;
        }
    }
    Ok(())
}

#[test]
fn a_reduced_cross_entropy_of_matrices_has_a_gradient_for_each_example() -> Result<()> {
    let x = Tensor::from([[0.25, 0.5], [0.75, 0.5]]);
    let targets = Tensor::from([[[0.0, 1.0], [1.0, 0.0]], [[1.0, 1.0], [0.5, 0.0]]]);
    let gradient = |target: &Tensor| {
        let [gradient] = grad([&x], |[x]| aten::binary_cross_entropy(&x, target))?;
        Ok::<_, Error>(gradient)
    };
    let all = vmap([&targets], |[target]| gradient(&target))?.to_vec::<f64>()?;
    for (example, got) in (0..2).zip(all.chunks(4)) {
        assert_eq!(gradient(&targets.select_int(0, example)?)?.to_vec::<f64>()?, got);
    }
    Ok(())
}

#[test]
fn each_example_has_quantiles_of_its_own() -> Result<()> {
    let (x, q) = (Tensor::from([1.0, 2.0, 3.0]), Tensor::from([0.0, 0.75]));
    let quantiles = vmap([&q], |[q]| aten::quantile(&x, &q))?;
    assert_eq!(quantiles.to_vec::<f64>()?, [1.0, 2.5]);
    Ok(())
}

#[test]
fn results_whose_size_depends_on_elements_are_stacked_if_they_agree() -> Result<()> {
    let counts = vmap([&Tensor::from([[1i64, 0, 1], [1, 1, 0]])], |[x]| aten::bincount(&x))?;
    assert_eq!((counts.sizes(), counts.to_vec::<i64>()?), (&[2, 2][..], vec![1, 2, 1, 2]));
    let repeats = Tensor::from([[1i64, 2], [2, 1]]);
    let of_size = |x: &Tensor, size| aten::repeat_interleave_Tensor::call(x, size);
    let places = vmap([&repeats], |[x]| of_size(&x, Some(3)))?;
    assert_eq!(places.to_vec::<i64>()?, [0, 1, 1, 0, 0, 1]);
    assert!(vmap([&repeats], |[x]| of_size(&x, None)).is_err());
    assert!(vmap([&Tensor::from([[1i64, 0], [2, 1]])], |[x]| aten::bincount(&x)).is_err());
    assert!(vmap([&repeats], |[x]| aten::nonzero(&x)).is_err());
    Ok(())
}

#[test]
fn examples_with_weights_of_their_own_share_the_running_statistics_of_a_shared_input() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0], [3.0, 6.0]]);
    let weights = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let bias = Tensor::from([0.5, -0.5]);
    let statistics = || (Tensor::from([0.0, 0.0]), Tensor::from([1.0, 1.0]));
    let normalised = |weight: &Tensor, (mean, var): &(Tensor, Tensor)| {
        aten::batch_norm(&x, Some(weight), Some(&bias), Some(mean), Some(var), true, 0.5, 0.0, false)
    };
    let shared = statistics();
    let all = vmap([&weights], |[weight]| normalised(&weight, &shared))?;
    for example in 0..3 {
        let own = statistics();
        let one = normalised(&aten::select_int(&weights, 0, example)?, &own)?;
        assert_eq!(aten::select_int(&all, 0, example)?.to_vec::<f64>()?, one.to_vec::<f64>()?);
        assert_eq!(shared.0.to_vec::<f64>()?, own.0.to_vec::<f64>()?); // written once
        assert_eq!(shared.1.to_vec::<f64>()?, own.1.to_vec::<f64>()?);
    }
    Ok(())
}
