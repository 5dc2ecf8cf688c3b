//! Primitives, and a program of them that PyTorch wrote.

use std::path::Path;

use torch_library::prelude::*;
use torch_library_export::Program;
use torch_library_kernels::aten;
use torch_library_kernels::data::safetensors;
use torch_library_prims::prims;

const ARCHIVES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../runtime/export/tests/archives");

fn numbers(tensor: &Tensor) -> Vec<f64> {
    aten::to_dtype(tensor, DType::Float64).unwrap().to_vec().unwrap()
}

#[test]
fn a_program_of_primitives_computes_what_pytorch_does() -> Result<()> {
    let recorded = |which: &str| {
        let file = std::fs::read(Path::new(ARCHIVES).join(format!("primitive.{which}.safetensors")))?;
        Ok::<Vec<_>, Error>(safetensors::from_bytes(&file)?.into_values().collect())
    };
    let program = Program::load(Path::new(ARCHIVES).join("primitive.pt2"))?;
    assert!(program.problems().is_empty(), "{program}");
    assert!(program.operators().keys().filter(|name| name.starts_with("torch.ops.prims.")).count() > 20);
    let outputs = program.run(&recorded("inputs")?)?;
    for (place, (output, wanted)) in outputs.iter().zip(recorded("outputs")?).enumerate() {
        assert_eq!((output.dtype(), output.sizes()), (wanted.dtype(), wanted.sizes()), "{place}");
        for (here, there) in numbers(output).into_iter().zip(numbers(&wanted)) {
            assert!((here - there).abs() <= 1e-5 * (1.0 + there.abs()), "{place}: {here}, PyTorch {there}");
        }
    }
    Ok(())
}

#[test]
fn dimensions_are_added_merged_and_split() -> Result<()> {
    let x = Tensor::from([[1i64, 2, 3], [4, 5, 6]]);
    let wide = prims::broadcast_in_dim(&x, &[2, 2, 4, 3], &[0, 3])?;
    assert_eq!((wide.sizes(), wide.strides()), (&[2, 2, 4, 3][..], &[3, 0, 0, 1][..]));
    for dims in [&[3, 0][..], &[0], &[0, 4], &[-1, 3]] {
        assert!(prims::broadcast_in_dim(&x, &[2, 2, 4, 3], dims).is_err(), "{dims:?}");
    }
    assert_eq!(prims::collapse_view(&x, 0, 1)?.sizes(), [6]);
    assert!(prims::collapse_view(&aten::t(&x)?, 0, 1).is_err());
    assert_eq!(numbers(&prims::collapse(&aten::t(&x)?, 0, 1)?), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(prims::collapse_view(&Tensor::from(1i64), 0, 0)?.sizes(), [1]);
    assert!(prims::collapse_view(&x, 1, 2).is_err() && prims::collapse_view(&x, 1, 0).is_err());
    let none = Tensor::zeros(&[0, 1, 1], DType::Float32, Device::CPU)?;
    let none = aten::expand(&none, &[0, 1 << 40, 1 << 40])?;
    let error = prims::collapse_view(&none, 1, 2).unwrap_err().to_string();
    assert!(error.contains("collapse_view") && error.contains("more elements than 2^63"), "{error}");
    assert!(prims::collapse(&none, 1, 2).is_err());
    assert_eq!(prims::split_dim(&x, 1, 3)?.sizes(), [2, 3, 1]);
    assert!(prims::split_dim(&x, 1, 2).is_err() && prims::split_dim(&x, 2, 1).is_err());
    assert!(prims::split_dim(&x, 1, 0).is_err());
    Ok(())
}

#[test]
fn copies_are_copies() -> Result<()> {
    let x = Tensor::from([[1f32, 2.0], [3.0, 4.0]]);
    let turned = aten::t(&x)?;
    for copy in [prims::reshape(&x, &[2, 2])?, prims::convert_element_type(&x, DType::Float32)?] {
        assert!(copy.storage().data_ptr() != x.storage().data_ptr());
    }
    assert_eq!(prims::convert_element_type(&turned, DType::Int64)?.strides(), [1, 2]);
    assert_eq!(prims::reshape(&turned, &[2, 2])?.strides(), [2, 1]);
    let strided = prims::copy_strided(&x, &[1, 2])?;
    assert_eq!((strided.strides(), numbers(&strided)), (&[1, 2][..], vec![1.0, 2.0, 3.0, 4.0]));
    Ok(())
}

#[test]
fn numbers_are_computed_as_by_pytorch() -> Result<()> {
    let whole = |values: [i64; 2]| Tensor::from(values);
    assert_eq!(numbers(&prims::div(&whole([-7, 7]), &whole([2, 2]))?), [-3.0, 3.0]);
    assert_eq!(numbers(&prims::div(&Tensor::from([1.0, -7.0]), &Tensor::from([2.0, 2.0]))?), [0.5, -3.5]);
    assert_eq!(numbers(&aten::round(&prims::cbrt(&Tensor::from([-8.0, 27.0]))?)?), [-2.0, 3.0]);
    let x = Tensor::from([[1i32, 2], [3, 4]]);
    let sum = prims::sum::call(&x, Some(&[1]), None)?;
    assert_eq!((sum.dtype(), numbers(&sum)), (DType::Int32, vec![3.0, 7.0]));
    let product = prims::prod::call(&x, Some(&[0, 1]), Some(DType::Float32))?;
    assert_eq!((product.dtype(), numbers(&product)), (DType::Float32, vec![24.0]));
    let wide = aten::to_dtype(&x, DType::Float64)?;
    assert_eq!(numbers(&prims::var::call(&wide, Some(&[1]), Some(0.0), None)?), [0.25, 0.25]);
    assert_eq!(numbers(&prims::amax(&wide, Some(&[0]))?), [3.0, 4.0]);
    Ok(())
}

#[test]
fn primitives_of_the_compiler_compute_what_pytorch_does() -> Result<()> {
    let x = Tensor::from([[1f32, -2.0], [3.0, 4.5]]);
    assert_eq!(numbers(&prims::fma(&x, &Tensor::from([2f32, 3.0]), &x)?), [3.0, -8.0, 9.0, 18.0]);
    let (maxima, sums) =
        prims::prepare_softmax_online(&Tensor::from([[0f32, 0.0], [7.0, f32::NEG_INFINITY]]), 1)?;
    assert_eq!((maxima.sizes(), numbers(&maxima)), (&[2, 1][..], vec![0.0, 7.0]));
    assert_eq!((sums.sizes(), numbers(&sums)), (&[2, 1][..], vec![2.0, 1.0]));
    let scales = [1.0, 1.5, -2.0, 0.0, 1e-40, f32::MAX, f32::INFINITY, f32::NAN];
    let scales = prims::inductor_cvt_e8m0_rceil(&Tensor::from(scales))?;
    assert_eq!(scales.dtype(), DType::UInt8);
    assert_eq!(numbers(&scales), [127.0, 128.0, 128.0, 0.0, 1.0, 254.0, 254.0, 254.0]);
    assert!(prims::inductor_cvt_e8m0_rceil(&Tensor::from([1.0f64])).is_err());
    Ok(())
}

#[test]
fn tensors_are_created() -> Result<()> {
    let (dtype, device) = (DType::Float64, Device::CPU);
    assert_eq!(numbers(&prims::iota(3, 5, -2, dtype, device, false)?), [5.0, 3.0, 1.0]);
    assert!(prims::iota(i64::MAX, 1, 2, dtype, device, false).is_err());
    let full = prims::full(&[2], 3.into(), dtype, device, true)?;
    assert!(full.requires_grad());
    assert_eq!(numbers(&full), [3.0, 3.0]);
    let random = prims::uniform(&[2, 50], 2.into(), 3.into(), dtype, device, &[1, 2])?;
    assert!(numbers(&random).iter().all(|number| (2.0..3.0).contains(number)));
    assert_eq!(random.strides(), [1, 2]);
    let far = prims::normal(&[50], 100.into(), 1.into(), dtype, device, false)?;
    assert!(numbers(&far).iter().all(|number| (90.0..110.0).contains(number)));
    Ok(())
}

#[test]
fn a_maximum_is_found_by_its_place_in_the_window() -> Result<()> {
    let x = Tensor::from_vec((0..42).map(|x| (x * 17 % 23) as f32).collect(), &[1, 1, 6, 7])?;
    for (stride, padding, dilation) in [(1, 0, 1), (2, 1, 1), (1, 1, 2)] {
        let [stride, padding, dilation] = [stride, padding, dilation].map(|number| [number; 2]);
        let (kernel, size) = ([2, 3], [6, 7]);
        let (values, offsets) =
            prims::_low_memory_max_pool_with_offsets(&x, &kernel, &stride, &padding, &dilation, true)?;
        let (maxima, places) =
            aten::max_pool2d_with_indices::call(&x, &kernel, &stride, &padding, &dilation, true)?;
        assert_eq!(numbers(&values), numbers(&maxima));
        assert_eq!(offsets.dtype(), DType::Int8);
        assert!(numbers(&offsets).iter().all(|offset| (0.0..6.0).contains(offset)));
        let indices = prims::_low_memory_max_pool_offsets_to_indices(
            &offsets, &kernel, &size, &stride, &padding, &dilation,
        )?;
        assert_eq!(numbers(&indices), numbers(&places));
    }
    let deep = Tensor::from_vec((0..36).map(|x| (x * 17 % 23) as f32).collect(), &[1, 3, 3, 4])?;
    let (_, offsets) =
        prims::_low_memory_max_pool_with_offsets(&deep, &[2; 3], &[1; 3], &[0; 3], &[1; 3], false)?;
    let (_, places) = aten::max_pool3d_with_indices::call(&deep, &[2; 3], &[1; 3], &[0; 3], &[1; 3], false)?;
    let indices = prims::_low_memory_max_pool_offsets_to_indices(
        &offsets,
        &[2; 3],
        &[3, 3, 4],
        &[1; 3],
        &[0; 3],
        &[1; 3],
    )?;
    assert_eq!(numbers(&indices), numbers(&places));
    assert!(prims::_low_memory_max_pool_with_offsets(&x, &[2], &[1], &[0], &[1], false).is_err());
    let zeros =
        prims::_low_memory_max_pool_offsets_to_indices(&offsets, &[0; 3], &[1; 3], &[1; 3], &[0; 3], &[1; 3]);
    assert!(zeros.is_err());
    Ok(())
}

#[test]
fn primitives_have_derivatives() -> Result<()> {
    let x = Tensor::from([1.0, 2.0]);
    x.set_requires_grad(true)?;
    let rows = prims::broadcast_in_dim(&x, &[3, 2], &[1])?;
    aten::sum(&prims::mul(&rows, &rows)?)?.backward()?;
    assert_eq!(x.grad().expect("a gradient").to_vec::<f64>()?, [6.0, 12.0]);
    let (y, z) = (Tensor::from([3.0, 4.0]), Tensor::from([0.0]));
    z.set_requires_grad(true)?;
    aten::sum(&prims::fma(&y, &y, &z)?)?.backward()?;
    assert_eq!(z.grad().expect("a gradient").to_vec::<f64>()?, [2.0]);
    Ok(())
}
