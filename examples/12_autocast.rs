//! Lower precision where it does no harm: autocast, for the library's operators and for your own.

use torch_library::autocast::Autocast;
use torch_library::prelude::*;
use torch_library_kernels::{aten, autocast::Policy};

torch_library! {
    /// A library without any code for autocast.
    pub mod attention {
        /// The attention scores of each row of `query` for each row of `key`.
        scores(Tensor query, Tensor key) -> Tensor;
        /// The mean of two tensors, which may have different types.
        middle(Tensor a, Tensor b) -> Tensor;
    }
}

#[torch_impl(attention, CompositeImplicitAutograd)]
fn scores(query: &Tensor, key: &Tensor) -> Result<Tensor> {
    aten::softmax_int(&aten::mm(query, &aten::t(key)?)?, -1)
}

#[torch_impl(attention, CompositeImplicitAutograd)]
fn middle(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    ensure!(a.dtype() == b.dtype(), DType, "middle: types {} and {} differ", a.dtype(), b.dtype());
    aten::mul_Scalar(&aten::add_Tensor(a, b)?, 0.5.into())
}

/// Written with autocast in mind: runs in the widest type of its inputs.
#[torch_impl(attention::middle, AutocastCPU, boxed)]
fn middle_autocast(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    Policy::Promote.apply(DeviceType::Cpu, operator, keys, stack)
}

fn main() -> Result<()> {
    let x = Tensor::from([[1f32, 0.5], [0.25, 2.0]]);
    let half = aten::to_dtype(&x, DType::BFloat16)?;
    println!("outside:  {} and {}", attention::scores(&x, &x)?.dtype(), attention::middle(&x, &x)?.dtype());
    println!("          {}", attention::middle(&x, &half).unwrap_err());

    Autocast::on(DeviceType::Cpu).run(|| {
        // The matrix product inside is on a list of `aten`'s autocast, addition is on none.
        println!(
            "inside:   {} and {}",
            attention::scores(&x, &x)?.dtype(),
            attention::middle(&x, &half)?.dtype()
        );
        println!("mm, add:  {} and {}", aten::mm(&x, &x)?.dtype(), aten::add_Tensor(&x, &x)?.dtype());
        let off = Autocast::on(DeviceType::Cpu).enabled(false);
        println!("and off:  {}", off.run(|| attention::scores(&x, &x))?.dtype());
        Ok::<(), Error>(())
    })?;

    let float16 = Autocast::on(DeviceType::Cpu).dtype(DType::Float16);
    println!("float16:  {}", float16.run(|| aten::mm(&x, &x))?);
    Ok(())
}

// Prints:
// outside:  float32 and float32
//           attention::middle: middle: types float32 and bfloat16 differ
// inside:   bfloat16 and float32
// mm, add:  bfloat16 and float32
// and off:  float32
// float16:  tensor([[1.1250, 1.5000],
//         [0.7500, 4.1250]], dtype=torch.float16)
