//! The fused operator, and that every layer has what it needs to know of it.

use glyphs_fused::glyphs_fused as glyphs;
use torch_library::autocast::Autocast;
use torch_library::autograd::{gradcheck, gradgradcheck};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;

/// Three pictures of two channels of 2×2 pixels, none of them near the kink of the function.
fn images() -> Result<Tensor> {
    let values: Vec<f64> = (0..24).map(|index| f64::from((index * 7) % 11) - 5.3).collect();
    Tensor::from_vec(values, &[3, 2, 2, 2])
}

fn parts(images: &Tensor, bias: &Tensor) -> Result<Tensor> {
    images.add(&bias.reshape(&[-1, 1, 1])?)?.relu()
}

#[test]
fn it_is_its_parts_together() -> Result<()> {
    let (images, bias) = (images()?, Tensor::from([0.5, -1.0]));
    let (fused, parts) = (glyphs::biased_relu(&images, &bias)?, parts(&images, &bias)?);
    assert_eq!((fused.sizes(), fused.to_vec::<f64>()?), (parts.sizes(), parts.to_vec::<f64>()?));
    let nan = glyphs::biased_relu(&Tensor::from([[f32::NAN, -1.0]]), &Tensor::from([0f32, 0.0]))?;
    assert!(nan.to_vec::<f32>()?[0].is_nan());
    Ok(())
}

#[test]
fn it_has_first_and_second_derivatives() -> Result<()> {
    let inputs = [images()?, Tensor::from([0.5, -1.0])];
    inputs.iter().try_for_each(|input| input.set_requires_grad(true))?;
    let function = |inputs: &[Tensor]| Ok(vec![glyphs::biased_relu(&inputs[0], &inputs[1])?]);
    gradcheck(function, &inputs, Default::default())?;
    gradgradcheck(function, &inputs, Default::default())
}

#[test]
fn examples_may_share_biases_or_have_their_own() -> Result<()> {
    let batch = aten::stack(&[images()?, images()?.neg()?])?;
    let check = |together: Tensor, biases: [Tensor; 2]| {
        for (index, bias) in biases.iter().enumerate() {
            let alone = glyphs::biased_relu(&batch.select(0, index as i64)?, bias)?;
            assert_eq!(together.select(0, index as i64)?.to_vec::<f64>()?, alone.to_vec::<f64>()?);
        }
        Ok::<_, Error>(())
    };
    let (first, second) = (Tensor::from([0.5, -1.0]), Tensor::from([2.0, 0.0]));
    check(vmap([&batch], |[images]| glyphs::biased_relu(&images, &first))?, [first.clone(), first.clone()])?;
    let biases = aten::stack(&[first.clone(), second.clone()])?;
    let own = vmap([&batch, &biases], |[images, bias]| glyphs::biased_relu(&images, &bias))?;
    check(own, [first, second])
}

#[test]
fn autocast_brings_its_arguments_together() -> Result<()> {
    let (images, bias) = (images()?.to_dtype(DType::BFloat16)?, Tensor::from([0.5f32, -1.0]));
    let error = glyphs::biased_relu(&images, &bias).unwrap_err().to_string();
    assert_eq!(
        error,
        "glyphs::biased_relu: 2 channels of bfloat16 need as many biases of that type, not float32 of sizes [2]"
    );
    let output = Autocast::on(DeviceType::Cpu).run(|| glyphs::biased_relu(&images, &bias))?;
    assert_eq!(output.dtype(), DType::BFloat16);
    Ok(())
}
