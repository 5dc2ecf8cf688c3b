//! Variants that a declaration asks for: their names, and the kernel that serves all of them.

use torch_library::prelude::*;

torch_library! {
    /// Operators with variants.
    #[methods(VariantMethods)]
    mod variants {
        /// The next number.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        next(Tensor self) -> Tensor;
        #[variants(function, out, in_place)]
        sum.Tensor(Tensor self, Tensor other, *, int times=1) -> Tensor;
        #[variants(in_place, out = "Other_result(result)")]
        sum.Number(Tensor self, float other) -> Tensor;
        #[variants(out)]
        #[variants(function)]
        filled(int[] size, float value) -> Tensor;
        #[cfg(any())]
        #[variants(out, in_place)]
        never(Tensor self) -> Tensor;
        #[variants(out)]
        r#type(Tensor self) -> Tensor;
    }
}

use variants::VariantMethods;

fn written(output: Output<'_>, values: Vec<f64>, sizes: &[i64]) -> Result<Tensor> {
    let mut out = output.contiguous(sizes, DType::Float64, Device::CPU, &[])?;
    out.fill_from(values)?;
    Ok(out)
}

#[torch_impl(variants, CPU)]
mod kernels {
    use super::*;

    fn next(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        super::written(output, this.to_vec::<f64>()?.iter().map(|x| x + 1.0).collect(), this.sizes())
    }

    fn sum_Tensor(output: Output<'_>, this: &Tensor, other: &Tensor, times: i64) -> Result<Tensor> {
        let (x, y) = (this.to_vec::<f64>()?, other.to_vec::<f64>()?);
        super::written(output, x.iter().zip(y).map(|(x, y)| x + y * times as f64).collect(), this.sizes())
    }
}

#[torch_impl(variants, CPU)]
fn sum_Number(output: Output, this: &Tensor, other: f64) -> Result<Tensor> {
    written(output, this.to_vec::<f64>()?.iter().map(|x| x + other).collect(), this.sizes())
}

#[torch_impl(variants, CompositeExplicitAutograd)]
fn filled(output: Output<'_>, size: &[i64], value: f64) -> Result<Tensor> {
    assert_eq!(
        output.operator(),
        if output.tensor().is_some() { "variants::filled.out" } else { "variants::filled" }
    );
    written(output, vec![value; size.iter().product::<i64>() as usize], size)
}

#[torch_impl(variants, CPU)]
fn r#type(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
    output.exactly(DType::Float64)?;
    written(output, this.to_vec()?, this.sizes())
}

#[test]
fn one_kernel_serves_all_variants() -> Result<()> {
    let (mut x, mut out) = (Tensor::from([1.0, 2.0]), Tensor::empty(&[0], DType::Float64, Device::CPU)?);
    assert_eq!(x.next()?.to_vec::<f64>()?, [2.0, 3.0]);
    let before = out.clone();
    variants::next_out(&x, &mut out)?;
    assert_eq!((out.to_vec::<f64>()?, before.is_same(&out)), (vec![2.0, 3.0], true));
    x.next_()?;
    assert_eq!(x.to_vec::<f64>()?, [2.0, 3.0]);
    variants::sum_out::with(&x, &before, &mut out).times(2).call()?;
    assert_eq!(out.to_vec::<f64>()?, [6.0, 9.0]);
    variants::sum__Tensor(&mut x, &before)?;
    x.sum__Number(0.5)?;
    assert_eq!(x.to_vec::<f64>()?, [8.5, 12.5]);
    variants::sum_Other_result(&x, 1.0, &mut out)?;
    assert_eq!(out.to_vec::<f64>()?, [9.5, 13.5]);
    variants::filled_out(&[3], 1.5, &mut out)?;
    assert_eq!((out.to_vec::<f64>()?, variants::filled(&[1], 2.0)?.numel()), (vec![1.5; 3], 1));
    let mut other = Tensor::empty(&[2], DType::Float32, Device::CPU)?;
    let error = variants::type_out(&x, &mut other).unwrap_err().to_string();
    assert!(error.contains("variants::type.out: a result of float64 cannot be written"), "{error}");
    Ok(())
}

#[test]
fn schemas_and_tags_follow_from_the_declaration() -> Result<()> {
    let schema = |handle: OperatorHandle| Ok::<_, Error>(handle.schema()?.to_string());
    assert_eq!(
        schema(variants::sum_out::handle())?,
        "variants::sum.out(Tensor self, Tensor other, *, int times=1, Tensor(a!) out) -> Tensor(a!)"
    );
    assert_eq!(
        schema(variants::sum_Other_result::handle())?,
        "variants::sum.Other_result(Tensor self, float other, *, Tensor(a!) result) -> Tensor(a!)"
    );
    assert_eq!(
        schema(variants::sum__Number::handle())?,
        "variants::sum_.Number(Tensor(a!) self, float other) -> Tensor(a!)"
    );
    assert_eq!(variants::next_::handle().tags(), ["pointwise"]);
    Ok(())
}
