//! Results in tensors that are passed: sizes, types, memory, history.

use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::loops::{Pointwise, match_opmath};
use torch_library_kernels::prelude::*;

type Out = for<'a> fn(&Tensor, &'a mut Tensor) -> Result<&'a mut Tensor>;
type InPlace = for<'a> fn(&'a mut Tensor) -> Result<&'a mut Tensor>;

fn empty(dtype: DType) -> Result<Tensor> {
    Tensor::zeros(&[0], dtype, Device::CPU)
}

#[test]
fn out_takes_the_sizes_of_the_result_and_comes_back() -> Result<()> {
    let (x, y) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from([10.0, 20.0]));
    let mut out = empty(DType::Float64)?;
    let handle = out.clone();
    assert!(aten::add_out(&x, &y, &mut out)?.is_same(&handle));
    assert_eq!((handle.sizes(), handle.to_vec::<f64>()?), (&[2, 2][..], vec![11.0, 22.0, 13.0, 24.0]));
    assert_eq!(handle.version(), 1);
    aten::sum_out(&x, &mut out)?;
    assert_eq!((out.sizes(), out.to_vec::<f64>()?), (&[][..], vec![10.0]));
    Ok(())
}

#[test]
fn out_of_the_right_sizes_keeps_its_memory_and_strides() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let memory = Tensor::from([0.0; 8]);
    let mut out = memory.strided_view(&[2, 2], &[1, 4], 0)?;
    for write in [aten::exp_out, aten::neg_out, aten::relu_out] {
        write(&x, &mut out)?;
    }
    aten::mm_out(&x, &x, &mut out)?;
    assert_eq!((out.strides(), out.to_vec::<f64>()?), (&[1, 4][..], vec![7.0, 10.0, 15.0, 22.0]));
    assert_eq!(memory.to_vec::<f64>()?, [7.0, 15.0, 0.0, 0.0, 10.0, 22.0, 0.0, 0.0]);
    Ok(())
}

#[test]
fn types_of_out_follow_the_operator() -> Result<()> {
    let (x, halves) = (Tensor::from([1.5, -2.5]), aten::to_dtype(&Tensor::from([0.3]), DType::BFloat16)?);
    let error = aten::add_out(&x, &x, &mut empty(DType::Int64)?).unwrap_err();
    assert!(
        error.to_string().contains("a result of float64 cannot be written to a tensor of int64"),
        "{error}"
    );
    let mut wide = empty(DType::Float64)?;
    aten::cos_out(&halves, &mut wide)?;
    let rounded = aten::to_dtype(&aten::cos(&halves)?, DType::Float64)?;
    assert_eq!(wide.to_vec::<f64>()?, rounded.to_vec::<f64>()?, "rounded to its own type first");
    assert!(
        aten::mm_out(&Tensor::from([[1.0]]), &Tensor::from([[1.0]]), &mut empty(DType::Complex128)?).is_err()
    );
    let spread = |out| aten::var_correction_out(&x, &mut empty(out)?).map(drop);
    assert!(
        spread(DType::Float32).is_ok() && spread(DType::Complex128).is_err() && spread(DType::Int64).is_err()
    );
    let mut sum = empty(DType::Float32)?;
    aten::sum_IntList_out(&Tensor::from([1, 2]), None, &mut sum)?;
    assert_eq!(sum.to_vec::<f32>()?, [3.0], "summed in the type of `out`");
    Ok(())
}

#[test]
fn out_does_not_overlap() -> Result<()> {
    let x = Tensor::from([1.0, 2.0, 3.0, 4.0]);
    let (left, mut right) = (x.strided_view(&[3], &[1], 0)?, x.strided_view(&[3], &[1], 1)?);
    assert!(aten::add_out(&left, &left, &mut right).is_err());
    assert!(aten::exp_out(&left, &mut x.strided_view(&[3], &[0], 0)?).is_err());
    assert!(aten::cat_out(std::slice::from_ref(&x), &mut x.clone()).is_err());
    aten::add_out(&x, &x, &mut x.clone())?;
    assert_eq!(x.to_vec::<f64>()?, [2.0, 4.0, 6.0, 8.0], "the very same elements may be written");
    Ok(())
}

#[test]
fn several_results_have_a_tensor_each() -> Result<()> {
    let (mut values, mut indices) = (empty(DType::Float64)?, empty(DType::Int64)?);
    aten::sort_values(&Tensor::from([3.0, 1.0, 2.0]), &mut values, &mut indices)?;
    assert_eq!((values.to_vec::<f64>()?, indices.to_vec::<i64>()?), (vec![1.0, 2.0, 3.0], vec![1, 2, 0]));
    Ok(())
}

#[test]
fn aliases_write_as_the_operators_that_they_stand_for() -> Result<()> {
    let x = Tensor::from([[0.5, 0.25, 1.0], [0.0, 0.75, -0.5]]).t()?;
    for (alias, operator) in [
        (aten::arcsin_out as Out, aten::asin_out as Out),
        (aten::special_log1p_out, aten::log1p_out),
        (aten::special_erf_out, aten::erf_out),
    ] {
        let (mut found, mut want) = (empty(DType::Float32)?, empty(DType::Float32)?);
        alias(&x, &mut found)?;
        operator(&x, &mut want)?;
        assert_eq!(found.to_vec::<f32>()?, want.to_vec::<f32>()?, "rounded to the type of `out`");
        assert_eq!((found.sizes(), found.strides()), (x.sizes(), x.strides()));
    }
    Ok(())
}

#[test]
fn gradients_and_truth_values_are_cast_to_out() -> Result<()> {
    let (grad, x) = (Tensor::from([[1.0, 2.0, 3.0]; 2]).t()?, Tensor::from([[-1.0, 0.5, 2.0]; 2]).t()?);
    let mut out = empty(DType::Float32)?;
    aten::elu_backward_grad_input(&grad, 1.into(), 1.into(), 1.into(), false, &x, &mut out)?;
    let exact = aten::elu_backward(&grad, 1.into(), 1.into(), 1.into(), false, &x)?;
    assert_eq!(out.to_vec::<f32>()?, aten::to_dtype(&exact, DType::Float32)?.to_vec::<f32>()?);
    assert_eq!(out.strides(), x.strides());
    let mut shifted = empty(DType::Float64)?;
    aten::bitwise_left_shift_Tensor_Scalar_out(&Tensor::from([1, 2]), 3.into(), &mut shifted)?;
    assert_eq!(shifted.to_vec::<f64>()?, [8.0, 16.0]);
    let mut is_any = empty(DType::Bool)?;
    aten::any_dims_out::call(&Tensor::from([[0u8, 7], [0, 0]]), Some(&[1]), false, &mut is_any)?;
    assert_eq!(is_any.to_vec::<bool>()?, [true, false]);
    let mut as_byte = empty(DType::UInt8)?;
    aten::all_dims_out::call(&Tensor::from([[true, true], [true, false]]), Some(&[1]), false, &mut as_byte)?;
    assert_eq!(as_byte.to_vec::<u8>()?, [1, 0]);
    assert!(aten::any_dims_out(&Tensor::from([1.0]), &mut empty(DType::Int64)?).is_err());
    Ok(())
}

#[test]
fn an_out_that_is_resized_is_laid_out_as_in_pytorch() -> Result<()> {
    let x = Tensor::from([[0.5, 0.25, 1.0], [0.0, 0.75, 0.5]]).t()?;
    let (mut complex, mut copysign) = (empty(DType::Complex128)?, empty(DType::Float64)?);
    aten::complex_out(&x, &x, &mut complex)?;
    aten::copysign_Scalar_out(&x, (-1).into(), &mut copysign)?;
    assert_eq!((complex.strides(), copysign.strides()), (x.strides(), x.strides()));
    let (mut kron, mut ndtr) = (empty(DType::Float64)?, empty(DType::Float64)?);
    aten::kron_out(&x, &x, &mut kron)?;
    aten::special_ndtr_out(&x, &mut ndtr)?;
    assert_eq!((kron.strides(), ndtr.strides()), (&[4, 1][..], &[2, 1][..]), "row-major");
    let mut column = Tensor::from([[0f32], [0.0]]);
    aten::fft_fftfreq_out(2, &mut column)?;
    assert_eq!((column.sizes(), column.to_vec::<f32>()?), (&[2, 1][..], vec![0.0, -0.5]));
    Ok(())
}

#[test]
fn factories_take_type_and_device_from_out() -> Result<()> {
    let mut out = Tensor::from([[0i16; 3]; 2]);
    aten::arange_out(6.into(), &mut out)?;
    assert_eq!((out.sizes(), out.to_vec::<i16>()?), (&[2, 3][..], vec![0, 1, 2, 3, 4, 5]));
    Ok(())
}

#[test]
fn out_has_no_history() -> Result<()> {
    let x = Tensor::from([1.0]);
    x.set_requires_grad(true)?;
    let error = aten::exp_out(&x, &mut empty(DType::Float64)?).unwrap_err();
    assert!(error.to_string().contains("autograd does not track such writes"), "{error}");
    no_grad(|| aten::exp_out(&x, &mut empty(DType::Float64)?).map(drop))
}

#[test]
fn statistics_are_computed_in_the_type_of_out() -> Result<()> {
    let x = aten::to_dtype(&Tensor::from([0.1, 0.4, 0.6, 0.3]), DType::Float32)?;
    let mut wide = Tensor::zeros(&[], DType::Float64, Device::CPU)?;
    let exact = aten::to_dtype(&x, DType::Float64)?;
    aten::std_out(&x, Some(&[0]), &mut wide)?;
    assert_eq!(wide.to_vec::<f64>()?, aten::std_dim(&exact, Some(&[0]))?.to_vec::<f64>()?);
    aten::var_correction_out(&x, &mut wide)?;
    assert_eq!(wide.to_vec::<f64>()?, aten::var_correction(&exact)?.to_vec::<f64>()?);
    aten::logsumexp_out(&x, &[0], &mut wide)?;
    assert_eq!(wide.to_vec::<f64>()?, aten::logsumexp(&exact, &[0])?.to_vec::<f64>()?);
    Ok(())
}

#[test]
fn a_type_that_is_named_is_that_of_out() -> Result<()> {
    let x = Tensor::from([1.0, 2.0]);
    let mut out = empty(DType::Float64)?;
    let error =
        aten::sum_IntList_out::call(&x, Some(&[0]), false, Some(DType::Float32), &mut out).unwrap_err();
    assert!(error.to_string().contains("dtype is float32, and `out` is of float64"), "{error}");
    aten::sum_IntList_out::call(&x, Some(&[0]), false, Some(DType::Float64), &mut out)?;
    assert_eq!(out.to_vec::<f64>()?, [3.0]);
    Ok(())
}

torch_library! {
    /// Operators with variants: one kernel that takes its output, and one that does not.
    mod doubling {
        #[variants(out, in_place)]
        written(Tensor self) -> Tensor;
        #[variants(out, in_place)]
        copied(Tensor self) -> Tensor;
        #[variants(out)]
        elsewhere(Tensor self) -> Tensor;
    }
}

#[torch_impl(doubling, CPU, Meta)]
fn written(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
    let call = Pointwise::promoting(output, [this])?;
    match_opmath!(call.dtype, T: Float => {
        call.compute(None, call.dtype, |[x]: [T; 1]| x + x)
    }, else => Err(call.unsupported()))
}

#[torch_impl(doubling, CompositeExplicitAutograd)]
fn copied(this: &Tensor) -> Result<Tensor> {
    aten::add_Tensor(this, this)
}

#[torch_impl(doubling, CPU)]
fn elsewhere(this: &Tensor) -> Result<Tensor> {
    aten::add_Tensor(this, this)
}

/// A kernel for a variant goes before what the operator gives.
#[torch_impl(doubling, CompositeExplicitAutograd)]
fn elsewhere_out<'a>(this: &Tensor, out: &'a mut Tensor) -> Result<&'a mut Tensor> {
    aten::sub_out(this, this, out)
}

#[test]
fn variants_follow_from_a_declaration() -> Result<()> {
    let x = Tensor::from([1.5, -2.5]);
    for (out, in_place) in [
        (doubling::written_out as Out, doubling::written_ as InPlace),
        (doubling::copied_out, doubling::copied_),
    ] {
        let (mut result, mut this) = (empty(DType::Float32)?, aten::clone(&x)?);
        let handle = result.clone();
        assert!(out(&x, &mut result)?.is_same(&handle));
        assert_eq!((result.sizes(), result.to_vec::<f32>()?), (&[2][..], vec![3.0, -5.0]));
        in_place(&mut this)?;
        assert_eq!((this.to_vec::<f64>()?, this.version()), (vec![3.0, -5.0], 1));
        let error = out(&x, &mut empty(DType::Int64)?).unwrap_err().to_string();
        assert!(error.contains(".out: a result of float64 cannot be written"), "{error}");
        let mut tied = Tensor::from([0.0]).expand(&[2])?;
        assert!(out(&x, &mut tied).is_err(), "elements of `out` coincide");
        assert!(in_place(&mut x.strided_view(&[2], &[0], 0)?).is_err(), "elements coincide");
    }
    let mut result = empty(DType::Float64)?;
    doubling::elsewhere_out(&x, &mut result)?;
    assert_eq!(result.to_vec::<f64>()?, [0.0, 0.0]);
    Ok(())
}

#[test]
fn errors_speak_of_the_variant_that_was_called() -> Result<()> {
    let (x, y) = (Tensor::from([1.0, 2.0]), Tensor::from([1.0, 2.0, 3.0]));
    let error = aten::add_out(&x, &y, &mut empty(DType::Float64)?).unwrap_err().to_string();
    assert!(error.contains("aten::add.out: "), "{error}");
    let error = aten::add__Tensor(&mut x.clone(), &y).unwrap_err().to_string();
    assert!(error.contains("aten::add_.Tensor: "), "{error}");
    Ok(())
}

#[test]
fn chosen_elements_are_not_written_to_an_out_whose_elements_coincide_whatever_its_sizes() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let index = aten::to_dtype(&Tensor::from([0.0, 1.0]), DType::Int64)?;
    let rows = aten::unsqueeze(&index, 0)?;
    let out = || aten::expand(&Tensor::from([0.0]), &[5]);
    let refusals = [
        aten::index_select_out(&x, 0, &index, &mut out()?).map(drop),
        aten::take_out(&x, &index, &mut out()?).map(drop),
        aten::masked_select_out(&x, &aten::gt_Scalar(&x, 1.into())?, &mut out()?).map(drop),
        aten::scatter_src_out(&x, 0, &rows, &x, &mut out()?).map(drop),
        aten::scatter_value_out(&x, 0, &rows, 1.into(), &mut out()?).map(drop),
        aten::scatter_add_out(&x, 0, &rows, &x, &mut out()?).map(drop),
    ];
    for refusal in refusals {
        let error = refusal.unwrap_err().to_string();
        assert!(error.contains("several elements share one memory location"), "{error}");
    }
    Ok(())
}

#[test]
fn an_out_that_shares_a_part_of_an_input_is_refused_whatever_computes_the_result() -> Result<()> {
    let x = Tensor::from([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]]);
    let turned = || x.t();
    assert!(aten::logit_out(&x, &mut turned()?).is_err());
    assert!(aten::cumsum_out(&x, 0, &mut turned()?).is_err());
    assert!(aten::log_sigmoid_backward_grad_input(&x, &x, &x, &mut turned()?).is_err());
    assert!(aten::frexp_Tensor_out(&x, &mut turned()?, &mut empty(DType::Int32)?).is_err());
    let (row, values) = (Tensor::from([[0i64, 1, 2]]), Tensor::from([[1.0, 2.0, 3.0]]));
    assert!(aten::scatter_src_out(&x, 0, &row, &values, &mut turned()?).is_err());
    assert!(aten::linalg_cross_out(&x, &x, &mut x.clone()).is_err(), "nor one that is an input");
    let complex = aten::complex(&x, &x)?;
    assert!(aten::conj_physical_out(&complex, &mut complex.t()?).is_err());
    aten::cumsum_out(&x, 0, &mut x.clone())?;
    assert_eq!(
        x.to_vec::<f64>()?[3..6],
        [0.5, 0.7, 0.8999999999999999],
        "the very same elements may be written"
    );
    Ok(())
}

#[test]
fn magnitudes_of_complex_numbers_and_slopes_are_cast_to_out() -> Result<()> {
    let z = Tensor::from([Complex64::new(3.0, 4.0)]);
    for dtype in [DType::Float16, DType::Float32, DType::Complex64] {
        let mut out = empty(dtype)?;
        aten::abs_out(&z, &mut out)?;
        assert_eq!(aten::to_dtype(&out, DType::Complex128)?.to_vec::<Complex64>()?, [Complex64::from(5.0)]);
    }
    assert!(aten::abs_out(&z, &mut empty(DType::Int64)?).is_err());
    let mut half = empty(DType::Float16)?;
    aten::gelu_backward_grad_input(&Tensor::from([1.0]), &Tensor::from([0.0]), &mut half)?;
    assert_eq!(aten::to_dtype(&half, DType::Float64)?.to_vec::<f64>()?, [0.5]);
    Ok(())
}

#[test]
fn an_inner_product_is_not_cast_to_out_but_a_product_with_a_number_is() -> Result<()> {
    let (x, number) = (Tensor::from([2.0, 3.0]), Tensor::from(2.0));
    assert!(aten::inner_out(&x, &x, &mut empty(DType::Float32)?).is_err());
    let mut out = empty(DType::Float32)?;
    aten::inner_out(&x, &number, &mut out)?;
    assert_eq!(out.to_vec::<f32>()?, [4.0, 6.0]);
    Ok(())
}

#[test]
fn what_is_true_in_a_byte_is_not_zero_as_a_byte() -> Result<()> {
    let (parts, hundreds) = (Tensor::from([0.5, 2.0]), Tensor::from([256, 512]));
    let (mut byte, mut truth) = (empty(DType::UInt8)?, empty(DType::Bool)?);
    assert_eq!(aten::all_all_out(&parts, &mut byte)?.to_vec::<u8>()?, [0]);
    assert_eq!(aten::any_out(&parts, 0, &mut byte)?.to_vec::<u8>()?, [1]);
    assert_eq!(aten::any_all_out(&hundreds, &mut byte)?.to_vec::<u8>()?, [0]);
    assert_eq!(aten::all_all_out(&parts, &mut truth)?.to_vec::<bool>()?, [true]);
    Ok(())
}

#[test]
fn conjugates_are_laid_out_as_their_input() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).t()?;
    let mut out = empty(DType::Float64)?;
    assert_eq!(aten::conj_physical_out(&x, &mut out)?.strides(), x.strides());
    Ok(())
}
