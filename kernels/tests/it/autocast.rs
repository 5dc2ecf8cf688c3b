//! Autocast on accelerators, for which a backend registers PyTorch's policies.

use torch_library::autocast::Autocast;
use torch_library::prelude::*;
use torch_library::{DeviceType, Library, RuntimeKernel};
use torch_library_kernels::aten;
use torch_library_kernels::autocast::implement_policies;

#[torch_fallback(AutocastXPU, fallthrough)]
fn without_a_policy();

/// A tensor on a device that does not exist.
fn tensor(dtype: DType) -> Tensor {
    let storage = torch_library::Storage::without_data(16, DeviceType::Xpu.into());
    let keys = DispatchKeySet::of_tensor(DispatchKey::XPU);
    Tensor::from_storage(storage, &[2], &[1], 0, dtype, keys).unwrap()
}

/// The device's backend: makes tensors, writes nothing, and answers any other call with the types of its arguments.
fn backend(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = operator.take_arguments(stack)?;
    match (&*operator.to_string(), arguments.as_slice()) {
        ("aten::empty_strided", [_, _, Value::DType(dtype), ..]) => stack.push(tensor(*dtype)),
        ("aten::copy_", [Value::TensorMut(to), ..]) => stack.push((**to).clone()),
        _ => {
            let seen = |value: &Value<'_>| match value {
                Value::DType(dtype) => Some(format!("asks for {dtype}")),
                value => Some(value.as_tensor()?.dtype().to_string()),
            };
            bail!(
                Kernel,
                "{} of {}",
                operator,
                arguments.iter().filter_map(seen).collect::<Vec<_>>().join(", ")
            )
        }
    }
    Ok(())
}

/// The backend's answer to a call under autocast.
fn seen<T>(call: impl FnOnce() -> Result<T>) -> String {
    Autocast::on(DeviceType::Xpu).run(call).err().expect("the backend's answer").to_string()
}

#[test]
fn a_backend_gets_pytorchs_policies_for_its_key() -> Result<()> {
    let mut library = Library::implementation("aten", DispatchKey::AutocastXPU)?;
    implement_policies(&mut library, DeviceType::Xpu)?;
    let mut kernels = Library::implementation("_", DispatchKey::XPU)?;
    kernels.fallback(DispatchKey::XPU, RuntimeKernel::boxed(backend))?;
    // All devices share kernels for these operators, which would run instead of the fallback.
    let mut memory = Library::implementation("aten", DispatchKey::XPU)?;
    for operator in ["empty_strided", "copy_"] {
        memory.implement(operator, DispatchKey::XPU, RuntimeKernel::boxed(backend))?;
    }

    let (half, single) = (DType::Float16, DType::Float32);
    assert_eq!(seen(|| aten::mv(&tensor(single), &tensor(single))), "aten::mv of float16, float16");
    assert_eq!(seen(|| aten::exp(&tensor(half))), "aten::exp of float32");
    assert_eq!(seen(|| aten::atan2(&tensor(half), &tensor(single))), "aten::atan2 of float32, float32");
    assert_eq!(seen(|| aten::relu(&tensor(half))), "aten::relu of float16");
    assert_eq!(seen(|| aten::cumsum(&tensor(half), 0)), "aten::cumsum of float16, asks for float32");
    assert_eq!(seen(|| aten::cumsum(&tensor(DType::Int64), 0)), "aten::cumsum of int64");
    let given = || aten::cumsum::with(&tensor(half), 0).dtype(Some(half)).call();
    assert_eq!(seen(given), "aten::cumsum of float16, asks for float16");
    let norms = [
        seen(|| aten::norm_Scalar(&tensor(half))),
        seen(|| aten::norm_ScalarOpt_dim(&tensor(half), None, &[0])),
    ];
    for norm in norms {
        assert!(norm.ends_with("aten::linalg_vector_norm of float16, asks for float32"), "{norm}");
    }
    let banned = seen(|| aten::binary_cross_entropy(&tensor(half), &tensor(half)));
    assert!(banned.contains("use the variant that takes logits"), "{banned}");
    Ok(())
}

#[test]
fn devices_without_policies_are_refused() -> Result<()> {
    let mut library = Library::implementation("aten", DispatchKey::AutocastHPU)?;
    let mut refusal = |device| implement_policies(&mut library, device).unwrap_err().to_string();
    assert_eq!(refusal(DeviceType::Meta), "meta has no autocast key, so no policies");
    assert_eq!(refusal(DeviceType::Cpu), "the policies of the CPU are registered with the kernels");
    Ok(())
}
