//! Convolutions by the names of PyTorch's algorithms, and with time first.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn close(found: &Tensor, want: &[f64]) -> Result<()> {
    let found = found.to_vec::<f64>()?;
    let is_close = |(found, want): (&f64, &f64)| (found - want).abs() < 1e-14;
    assert!(found.len() == want.len() && found.iter().zip(want).all(is_close), "{found:?}, not {want:?}");
    Ok(())
}

/// An image, two kernels and their biases.
fn image() -> Result<[Tensor; 3]> {
    let series = |count: i64| aten::arange::with(count.into()).dtype(Some(DType::Float64)).call();
    let image = aten::reshape(&series(16)?.sub(5.0)?.div(4.0)?, &[1, 1, 4, 4])?;
    let kernels = aten::reshape(&series(8)?.div(3.0)?.sub(1.0)?, &[2, 1, 2, 2])?;
    Ok([image, kernels, Tensor::from([0.5, -0.25])])
}

/// PyTorch's numbers.
#[test]
fn convolutions_of_images_have_the_names_of_algorithms() -> Result<()> {
    let ([image, kernels, bias], two) = (image()?, [2, 2]);
    let want = [
        0.9166666666666667,
        0.8333333333333334,
        0.75,
        0.5,
        0.0,
        -0.5,
        -2.5833333333333335,
        -3.0,
        -3.4166666666666665,
        -2.8333333333333335,
        -2.25,
        -1.6666666666666667,
        1.75,
        2.5833333333333335,
        3.4166666666666665,
        1.6666666666666667,
        1.9166666666666667,
        2.1666666666666665,
    ];
    for kernels in [kernels.clone(), aten::reshape(&kernels, &[2, 4])?] {
        close(&aten::thnn_conv2d::call(&image, &kernels, &two, Some(&bias), &[2, 1], &[1, 0])?, &want)?;
        let grad = aten::ones_like(&aten::reshape(&Tensor::from(want), &[1, 2, 3, 3])?)?;
        let slopes = aten::_slow_conv2d_backward_output_mask(
            &grad,
            &image,
            &kernels,
            &two,
            &[2, 1],
            &[1, 0],
            &[true; 3],
        )?;
        close(&slopes.1, &[6.0, 7.5, 0.0, 1.5, 6.0, 7.5, 0.0, 1.5])?;
        close(&slopes.2, &[9.0, 9.0])?;
        assert_eq!((slopes.0.sizes(), slopes.1.sizes()), (image.sizes(), kernels.sizes()));
        let [mut a, mut b, mut c] =
            [(); 3].map(|()| Tensor::zeros(&[0], DType::Float64, Device::CPU).unwrap());
        aten::_slow_conv2d_backward_grad_input(
            &grad,
            &image,
            &kernels,
            &two,
            &[2, 1],
            &[1, 0],
            &mut a,
            &mut b,
            &mut c,
        )?;
        assert!(aten::equal(&a, &slopes.0)? && aten::equal(&b, &slopes.1)? && aten::equal(&c, &slopes.2)?);
    }
    Ok(())
}

/// PyTorch's numbers.
#[test]
fn transposed_and_dilated_convolutions_have_such_names() -> Result<()> {
    let ([image, kernels, bias], two) = (image()?, [2, 2]);
    let part = aten::narrow(&aten::narrow(&image, 2, 0, 2)?, 3, 0, 2)?;
    let turned = aten::transpose_int(&kernels, 0, 1)?;
    let want = [
        1.5,
        1.3333333333333335,
        0.8333333333333334,
        0.5,
        0.5,
        0.6666666666666667,
        0.5,
        0.5,
        0.5,
        0.5,
        -0.5833333333333333,
        -1.0833333333333335,
        -1.25,
        -1.916666666666667,
        -0.25,
        -0.4166666666666667,
        -0.25,
        -0.5833333333333334,
        -0.25,
        -0.25,
    ];
    let found = aten::slow_conv_transpose2d::call(
        &part,
        &turned,
        &two,
        Some(&bias),
        &[2, 1],
        &[0, 1],
        &[1, 0],
        &[1, 2],
    )?;
    close(&found, &want)?;
    let without_batch = aten::select_int(&image, 0, 0)?;
    let found = aten::slow_conv_dilated2d::call(
        &without_batch,
        &kernels,
        &two,
        Some(&bias),
        &[1, 1],
        &[0, 0],
        &[2, 3],
    )?;
    close(&found, &[1.8333333333333335, -0.16666666666666677, 1.7500000000000004, 5.083333333333334])?;
    Ok(())
}

/// PyTorch's numbers.
#[test]
fn convolutions_of_volumes_have_such_names() -> Result<()> {
    let [image, kernels, _] = image()?;
    let (volume, cube) =
        (aten::reshape(&image, &[1, 1, 2, 2, 4])?, aten::reshape(&kernels, &[1, 1, 2, 2, 2])?);
    let found = aten::slow_conv3d::call(&volume, &cube, &[2; 3], None, &[1; 3], &[0, 0, 1])?;
    close(&found, &[3.6666666666666665, 7.333333333333333, 7.666666666666667, 8.0, 3.3333333333333335])?;
    let column = aten::narrow(&volume, 4, 0, 1)?;
    let found = aten::slow_conv_transpose3d(&column, &cube, &[2; 3])?;
    assert_eq!(found.sizes(), [1, 1, 3, 3, 2]);
    close(&aten::narrow(&aten::flatten(&found)?, 0, 0, 3)?, &[1.25, 0.8333333333333334, 0.6666666666666666])?;
    let found = aten::slow_conv_dilated3d::call(&volume, &cube, &[2; 3], None, &[1; 3], &[0; 3], &[1, 1, 2])?;
    let plain = aten::conv3d::call(&volume, &cube, None, &[1; 3], &[0; 3], &[1, 1, 2], 1)?;
    assert!(aten::equal(&found, &plain)?);
    Ok(())
}

#[test]
fn convolutions_by_name_refuse_what_their_algorithms_refuse() -> Result<()> {
    let [image, kernels, _] = image()?;
    let without_batch = aten::select_int(&image, 0, 0)?;
    let complex = |tensor: &Tensor| aten::to_dtype(tensor, DType::Complex64);
    assert!(aten::thnn_conv2d(&image, &kernels, &[3, 3]).is_err(), "another kernel");
    assert!(aten::thnn_conv2d(&without_batch, &kernels, &[2, 2]).is_err(), "no batch");
    assert!(aten::thnn_conv2d(&complex(&image)?, &complex(&kernels)?, &[2, 2]).is_err(), "complex");
    assert!(aten::slow_conv_dilated2d(&image, &aten::reshape(&kernels, &[2, 4])?, &[2, 2]).is_err(), "rows");
    assert!(
        aten::slow_conv_transpose2d(&image, &aten::narrow(&kernels, 1, 0, 0)?, &[2, 2]).is_err(),
        "nothing"
    );
    assert!(aten::slow_conv3d(&image, &kernels, &[2, 2, 2]).is_err(), "no volume");
    let whole = |tensor: &Tensor| aten::to_dtype(tensor, DType::Int64);
    assert_eq!(aten::thnn_conv2d(&whole(&image)?, &whole(&kernels)?, &[2, 2])?.dtype(), DType::Int64);
    Ok(())
}

#[test]
fn gradients_of_time_first_convolutions_are_a_function() -> Result<()> {
    let (grad, x) = (Tensor::from([[[1.0, 2.0]], [[3.0, -1.0]]]), Tensor::from([[[0.0]], [[1.0]], [[2.0]]]));
    let weight = Tensor::from([[[0.0, 1.0]], [[2.0, 3.0]]]);
    let (of_x, of_weight, of_bias) =
        aten::conv_tbc_backward(&grad, &x, &weight, &Tensor::from([1.0, 1.0]), 0)?;
    close(&of_x, &[2.0, 7.0, 3.0])?;
    close(&of_weight, &[3.0, -1.0, 7.0, 0.0])?;
    close(&of_bias, &[4.0, 1.0])?;
    Ok(())
}
