//! Autocast on accelerators, for which a backend registers PyTorch's policies.

use torch_library::autocast::Autocast;
use torch_library::prelude::*;
use torch_library::{DeviceType, Library, RuntimeKernel};
use torch_library_kernels::aten;
use torch_library_kernels::autocast::{implement_policies, policy_fallback};

/// All of a backend's rules at once.
#[torch_fallback(AutocastMTIA)]
fn by_policy(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    policy_fallback(DeviceType::Mtia, operator, keys, stack)
}

/// A tensor on a device that does not exist.
fn tensor_on(device: DeviceType, dtype: DType) -> Tensor {
    let storage = torch_library::Storage::without_data(16, device.into());
    let keys = DispatchKeySet::of_tensor(device.dispatch_key());
    Tensor::from_storage(storage, &[2], &[1], 0, dtype, keys).unwrap()
}

fn tensor(dtype: DType) -> Tensor {
    tensor_on(DeviceType::Xpu, dtype)
}

/// The kernels of a device's backend, while the libraries live.
fn backend(device: DeviceType) -> Result<[Library; 2]> {
    let key = device.dispatch_key();
    let kernel = || RuntimeKernel::boxed(move |operator, _, stack| answer(device, operator, stack));
    let mut kernels = Library::implementation("_", key)?;
    kernels.fallback(key, kernel())?;
    // All devices share kernels for these operators, which would run instead of the fallback.
    let mut memory = Library::implementation("aten", key)?;
    for operator in ["empty_strided", "copy_"] {
        memory.implement(operator, key, kernel())?;
    }
    Ok([kernels, memory])
}

/// Makes tensors, writes nothing, and answers any other call with the types of its arguments.
fn answer(device: DeviceType, operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = operator.take_arguments(stack)?;
    match (&*operator.to_string(), arguments.as_slice()) {
        ("aten::empty_strided", [_, _, Value::DType(dtype), ..]) => stack.push(tensor_on(device, *dtype)),
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
fn seen_on<T>(device: DeviceType, call: impl FnOnce() -> Result<T>) -> String {
    Autocast::on(device).run(call).err().expect("the backend's answer").to_string()
}

fn seen<T>(call: impl FnOnce() -> Result<T>) -> String {
    seen_on(DeviceType::Xpu, call)
}

#[test]
fn a_backend_gets_pytorchs_policies_for_its_key() -> Result<()> {
    let mut library = Library::implementation("aten", DispatchKey::AutocastXPU)?;
    implement_policies(&mut library, DeviceType::Xpu)?;
    let _kernels = backend(DeviceType::Xpu)?;

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
fn a_fallback_at_the_autocast_key_is_all_of_pytorchs_policies() -> Result<()> {
    let _kernels = backend(DeviceType::Mtia)?;
    let tensor = |dtype| tensor_on(DeviceType::Mtia, dtype);
    let (half, single, double) = (DType::Float16, DType::Float32, DType::Float64);
    let seen = |call: &dyn Fn() -> Result<Tensor>| seen_on(DeviceType::Mtia, call);
    assert_eq!(seen(&|| aten::mv(&tensor(single), &tensor(single))), "aten::mv of float16, float16");
    assert_eq!(seen(&|| aten::mv(&tensor(double), &tensor(double))), "aten::mv of float64, float64");
    assert_eq!(seen(&|| aten::exp(&tensor(half))), "aten::exp of float32");
    assert_eq!(seen(&|| aten::atan2(&tensor(half), &tensor(single))), "aten::atan2 of float32, float32");
    assert_eq!(
        seen(&|| aten::pow_Tensor_Scalar(&tensor(half), 2.into())),
        "aten::pow.Tensor_Scalar of float32"
    );
    assert_eq!(seen(&|| aten::cumsum(&tensor(half), 0)), "aten::cumsum of float16, asks for float32");
    let banned = seen(&|| aten::binary_cross_entropy(&tensor(half), &tensor(half)));
    assert!(banned.contains("use the variant that takes logits"), "{banned}");

    // Without a policy: in the types of the arguments, as without autocast.
    assert_eq!(seen(&|| aten::relu(&tensor(half))), "aten::relu of float16");
    assert_eq!(
        seen(&|| aten::mul_Tensor(&tensor(single), &tensor(half))),
        "aten::mul.Tensor of float32, float16"
    );
    let outside = aten::mv(&tensor(single), &tensor(single)).unwrap_err().to_string();
    assert_eq!(outside, "aten::mv of float32, float32");
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
