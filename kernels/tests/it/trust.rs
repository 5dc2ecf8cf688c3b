//! Checks that kernels do not omit: that memory can be accessed, and that the operators which they call return what
//! they should.

use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;
use torch_library::{ErrorKind, Library, RuntimeKernel, Storage};
use torch_library_kernels::aten;

/// A CPU tensor whose elements cannot be accessed.
fn out_of_reach(sizes: &[i64], dtype: DType) -> Result<Tensor> {
    let (storage, strides) = (Storage::without_data(64, Device::CPU), contiguous_strides(sizes));
    let keys = Tensor::empty(&[0], dtype, Device::CPU)?.key_set();
    Tensor::from_storage(storage, sizes, &strides, 0, dtype, keys)
}

#[test]
fn a_result_is_written_in_full_or_an_error() -> Result<()> {
    let (x, none) = (Tensor::from([1.0f32, 2.0]), Tensor::from([0f32; 0]));
    let index = out_of_reach(&[3], DType::Int64)?;
    let refused = |result: Result<Tensor>| assert_eq!(result.unwrap_err().kind(), ErrorKind::Device);
    refused(aten::index_select(&x, 0, &index));
    refused(aten::gather(&x, 0, &index));
    refused(aten::index_Tensor(&x, &[Some(index.clone())]));
    refused(aten::index_Tensor(&none, &[Some(index)])); // there is not even a first element
    let (weight, zeros) = (out_of_reach(&[2, 3], DType::Float32)?, Tensor::from([0i64, 0]));
    refused(aten::embedding_bag(&weight, &zeros, &zeros).map(|(bags, ..)| bags));
    Ok(())
}

/// Answers a call with an empty tensor of the right type.
fn with_nothing(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = operator.take_arguments(stack)?;
    let dtype = arguments[0].as_tensor().map_or(DType::Float32, |tensor| tensor.dtype());
    stack.push(Tensor::empty(&[0], dtype, Device::CPU)?);
    Ok(())
}

#[test]
fn operators_that_answer_with_fewer_elements_are_noticed() -> Result<()> {
    const KEY: DispatchKey = DispatchKey::TESTING_ONLY_GenericWrapper;
    let mut library = Library::implementation("aten", KEY)?;
    const ATTENTION: &str = "_scaled_dot_product_flash_attention_for_cpu";
    for operator in ["convolution", ATTENTION, &format!("{ATTENTION}_backward")] {
        library.implement(operator, KEY, RuntimeKernel::fallthrough())?;
    }
    for operator in ["to.dtype", "expand"] {
        library.implement(operator, KEY, RuntimeKernel::boxed(with_nothing))?;
    }
    let ones = |sizes: &[i64]| Tensor::full(sizes, 1, DType::Float32, Device::CPU);
    let wrapped = |x: Tensor| x.with_key_set(x.key_set() | DispatchKeySet::from(KEY));

    let (image, weight, bias) = (ones(&[1, 1, 4, 4])?, ones(&[2, 1, 1, 1])?, wrapped(ones(&[2])?));
    let convolved =
        aten::convolution(&image, &weight, Some(&bias), &[1, 1], &[0, 0], &[1, 1], false, &[0, 0], 1);
    let text = convolved.unwrap_err().to_string();
    assert!(text.contains("the bias no longer has 2 elements"), "{text}");

    let (x, mask) = (ones(&[1, 1, 4, 8])?, wrapped(ones(&[1, 1, 4, 4])?));
    let attended = aten::_scaled_dot_product_flash_attention_for_cpu::with(&x, &x, &x).attn_mask(Some(&mask));
    let text = attended.call().map(drop).unwrap_err().to_string();
    assert!(text.contains("gave a mask of other sizes than [1, 1, 4, 4]"), "{text}");

    let sums = ones(&[1, 1, 4])?;
    let call = aten::_scaled_dot_product_flash_attention_for_cpu_backward::with(
        &x, &x, &x, &x, &x, &sums, 0.0, false,
    );
    let text = call.attn_mask(Some(&mask)).call().map(drop).unwrap_err().to_string();
    assert!(text.contains("gave a mask of other sizes than [1, 1, 4, 4]"), "{text}");
    Ok(())
}

#[test]
fn truths_of_any_bytes_are_moved_as_truths() -> Result<()> {
    let bytes: Vec<u8> = (0..300u32).map(|i| (i % 5) as u8 * 63).collect();
    let keys = DispatchKeySet::from_key(DispatchKey::CPU);
    let x = Tensor::from_storage(Storage::from_vec(bytes), &[300], &[1], 0, DType::Bool, keys)?;
    let index = aten::arange(300.into())?;
    let moved = [
        aten::gather(&x, 0, &index)?,
        aten::index_select(&x, 0, &index)?,
        aten::take(&x, &index)?,
        aten::flip(&x, &[0])?,
    ];
    for moved in moved {
        assert!(moved.storage().bytes()?.iter().all(|byte| *byte < 2));
    }
    Ok(())
}
