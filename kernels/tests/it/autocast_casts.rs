//! Casts under autocast: which are cached, and how lists are cast.

use torch_library::autocast::{Autocast, cached};
use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library::{DeviceType, Library, RuntimeKernel};
use torch_library_kernels::aten;
use torch_library_kernels::autocast::Policy;
use torch_library_kernels::prelude::*;

const CPU: DeviceType = DeviceType::Cpu;

fn weight() -> Result<Tensor> {
    let w = Tensor::from([[1f32, 2.0], [3.0, 4.0]]);
    w.set_requires_grad(true)?;
    Ok(w)
}

/// The number of casts for three uses of a tensor in one region.
fn casts(tensor: &Tensor) -> Result<usize> {
    let mut count = 0;
    Autocast::on(CPU).run(|| {
        for _ in 0..3 {
            let cast = |tensor: &Tensor, to| {
                count += 1;
                aten::to_dtype(tensor, to)
            };
            cached(tensor, DType::BFloat16, CPU, cast)?;
        }
        Ok(count)
    })
}

#[test]
fn weights_that_were_used_without_grad_mode_first_get_their_gradient() -> Result<()> {
    let (x, w) = (Tensor::from([[1f32, 1.0]]), weight()?);
    Autocast::on(CPU).run(|| {
        no_grad(|| aten::mm(&x, &w))?;
        aten::sum(&aten::mm(&x, &w)?)?.backward()
    })?;
    assert_eq!(w.grad().expect("a gradient").to_vec::<f32>()?, [1.0; 4]);
    Ok(())
}

#[test]
fn casts_are_remembered_of_leaves_that_want_a_gradient_and_are_no_views() -> Result<()> {
    let w = weight()?;
    assert_eq!(casts(&w)?, 1);
    let computed = w.mul(2)?;
    assert_eq!(casts(&computed)?, 3, "what was computed is another tensor in the next step");
    let view = Tensor::from([[1f32, 2.0], [3.0, 4.0]]).select(0, 1)?;
    view.set_requires_grad(true)?;
    assert!(view.is_view() && view.is_leaf()?);
    assert_eq!(casts(&view)?, 3, "a view changes with its base");
    assert_eq!(casts(&Tensor::from([1f32]))?, 3);
    Ok(())
}

#[test]
fn the_widest_type_in_a_list_is_that_of_the_result() -> Result<()> {
    let (half, single) = (Tensor::from([half::bf16::ONE]), Tensor::from([1f32]));
    for list in [[half.clone(), single.clone()], [single, half]] {
        let (joined, stacked) =
            Autocast::on(CPU).run(|| Ok::<_, Error>((aten::cat(&list)?, aten::stack(&list)?)))?;
        assert_eq!((joined.dtype(), stacked.dtype()), (DType::Float32, DType::Float32));
    }
    Ok(())
}

/// The types of all tensors in the arguments.
fn types(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = operator.take_arguments(stack)?;
    let types: Vec<_> =
        arguments.iter().flat_map(Value::all_tensors).map(|x| x.dtype().to_string()).collect();
    stack.push(types.join(" "));
    Ok(())
}

#[test]
fn every_tensor_of_a_list_is_cast() -> Result<()> {
    let mut library = Library::new("autocast_lists")?;
    let operator = library.define("types(Tensor[] all, Tensor?[] some) -> str")?;
    library.implement("types", DispatchKey::CPU, RuntimeKernel::boxed(types))?;
    library.implement("types", DispatchKey::AutocastCPU, Policy::LowerPrecision.kernel(CPU))?;
    let (single, double) = (Tensor::from([1f32]), Tensor::from([1f64]));
    let call = || {
        let all: Value<'_> = vec![single.clone(), double.clone()].into();
        let some: Value<'_> = vec![Some(single.clone()), None, Some(double.clone())].into();
        operator.call_with([all, some], [])?.pop_as::<String>()
    };
    assert_eq!(call()?, "float32 float64 float32 float64");
    assert_eq!(Autocast::on(CPU).run(call)?, "bfloat16 float64 bfloat16 float64");
    Ok(())
}

#[test]
fn kernels_that_are_no_composites_in_pytorch_keep_the_type_of_their_operands() -> Result<()> {
    let ones = |sizes: &[i64], dtype| aten::ones::with(sizes).dtype(Some(dtype)).call();
    let (x, matrix) = (ones(&[3], DType::Float16)?, ones(&[2, 3], DType::Float16)?);
    let (batch, weight) = (ones(&[2, 2], DType::Float16)?, ones(&[4, 2, 3], DType::Float16)?);
    let (single, nothing) = (ones(&[2, 2], DType::Float32)?, ones(&[0, 2], DType::Float32)?);
    Autocast::on(CPU).run(|| {
        let kept = [
            aten::inner(&x, &x)?,
            aten::tensordot(&matrix, &matrix, &[0, 1], &[0, 1])?,
            aten::block_diag(&[x.clone(), matrix.clone()])?,
            aten::linalg_cross(&matrix, &matrix)?,
            aten::bilinear(&batch, &matrix, &weight)?,
        ];
        assert_eq!(kept.map(|out| out.dtype()), [DType::Float16; 5]);
        let (unitary, positive) = aten::linalg_polar(&single)?;
        assert_eq!((unitary.dtype(), positive.dtype()), (DType::Float32, DType::Float32));
        // These are products of matrices.
        let cast =
            [aten::inner(&matrix, &x)?, aten::linalg_pinv(&single, 0.1)?, aten::linalg_pinv(&nothing, 0.1)?];
        assert_eq!(cast.map(|out| out.dtype()), [DType::BFloat16; 3]);
        Ok(())
    })
}
