//! Operators with each type that a schema may have, as an argument and as a return.

use torch_library::autograd::{self, Context, Function};
use torch_library::element::Complex64;
use torch_library::guard::AutoDispatchBelowAutograd;
use torch_library::prelude::*;
use torch_library_aten::aten;
use torch_library_aten::prelude::*;

torch_library! {
    /// Operators that return their argument.
    pub mod types {
        int(int x) -> int;
        symint(SymInt x) -> SymInt;
        float(float x) -> float;
        bool(bool x) -> bool;
        str(str x) -> str;
        dtype(ScalarType x) -> ScalarType;
        layout(Layout x) -> Layout;
        device(Device x) -> Device;
        format(MemoryFormat x) -> MemoryFormat;
        ints(int[] x) -> int[];
        symints(SymInt[] x) -> SymInt[];
        floats(float[] x) -> float[];
        bools(bool[] x) -> bool[];
        strs(str[] x) -> str[];
        tensors(Tensor[] x) -> Tensor[];
        optional_tensors(Tensor?[] x) -> Tensor?[];
        optional_tensor(Tensor? x) -> Tensor?;
        optional_list(Tensor[]? x) -> Tensor[]?;
        optional_int(int? x) -> int?;
        optional_symint(SymInt? x) -> SymInt?;
        optional_float(float? x) -> float?;
        optional_bool(bool? x) -> bool?;
        optional_str(str? x) -> str?;
        optional_dtype(ScalarType? x) -> ScalarType?;
        optional_layout(Layout? x) -> Layout?;
        optional_device(Device? x) -> Device?;
        optional_format(MemoryFormat? x) -> MemoryFormat?;
        optional_ints(int[]? x) -> int[]?;
        optional_floats(float[]? x) -> float[]?;
        optional_bools(bool[]? x) -> bool[]?;
        optional_strs(str[]? x) -> str[]?;
        optional_complex(complex? x) -> str;
        drawn(Generator x) -> bool;
        /// Cannot be called from PyTorch, like the three below.
        symbool(SymBool x) -> bool;
        scalar(int x) -> Scalar;
        complex(int x) -> complex;
        generator(int x) -> Generator;
        /// Has a derivative for one backend only.
        on_cpu(Tensor self) -> Tensor;
        /// Has a separate derivative for each of two backends.
        on_each(Tensor self) -> Tensor;
        /// Is a composite of other operators at the autograd key, where it makes no node.
        composed(Tensor self) -> Tensor;
        /// Has a kernel at `CompositeExplicitAutogradNonFunctional`.
        functional(Tensor self) -> Tensor;
    }
}

/// Kernels that return what they are given.
macro_rules! same {
    ($($name:ident($argument:ty) -> $output:ty = $owned:expr;)*) => {
        #[torch_impl(types, CompositeExplicitAutograd)]
        mod same {
            use super::*;

            $(fn $name(x: $argument) -> Result<$output> {
                let owned: fn($argument) -> $output = $owned;
                Ok(owned(x))
            })*
        }
    };
}

same! {
    int(i64) -> i64 = |x| x;
    symint(i64) -> i64 = |x| x;
    float(f64) -> f64 = |x| x;
    bool(bool) -> bool = |x| x;
    str(&str) -> String = str::to_owned;
    dtype(DType) -> DType = |x| x;
    layout(Layout) -> Layout = |x| x;
    device(Device) -> Device = |x| x;
    format(MemoryFormat) -> MemoryFormat = |x| x;
    ints(&[i64]) -> Vec<i64> = <[_]>::to_vec;
    symints(&[i64]) -> Vec<i64> = <[_]>::to_vec;
    floats(&[f64]) -> Vec<f64> = <[_]>::to_vec;
    bools(&[bool]) -> Vec<bool> = <[_]>::to_vec;
    strs(&[String]) -> Vec<String> = <[_]>::to_vec;
    tensors(&[Tensor]) -> Vec<Tensor> = <[_]>::to_vec;
    optional_tensors(&[Option<Tensor>]) -> Vec<Option<Tensor>> = <[_]>::to_vec;
    optional_tensor(Option<&Tensor>) -> Option<Tensor> = |x| x.cloned();
    optional_list(Option<&[Tensor]>) -> Option<Vec<Tensor>> = |x| x.map(<[_]>::to_vec);
    optional_int(Option<i64>) -> Option<i64> = |x| x;
    optional_symint(Option<i64>) -> Option<i64> = |x| x;
    optional_float(Option<f64>) -> Option<f64> = |x| x;
    optional_bool(Option<bool>) -> Option<bool> = |x| x;
    optional_str(Option<&str>) -> Option<String> = |x| x.map(str::to_owned);
    optional_dtype(Option<DType>) -> Option<DType> = |x| x;
    optional_layout(Option<Layout>) -> Option<Layout> = |x| x;
    optional_device(Option<Device>) -> Option<Device> = |x| x;
    optional_format(Option<MemoryFormat>) -> Option<MemoryFormat> = |x| x;
    optional_ints(Option<&[i64]>) -> Option<Vec<i64>> = |x| x.map(<[_]>::to_vec);
    optional_floats(Option<&[f64]>) -> Option<Vec<f64>> = |x| x.map(<[_]>::to_vec);
    optional_bools(Option<&[bool]>) -> Option<Vec<bool>> = |x| x.map(<[_]>::to_vec);
    optional_strs(Option<&[String]>) -> Option<Vec<String>> = |x| x.map(<[_]>::to_vec);
    optional_complex(Option<Complex64>) -> String = |x| x.map_or_else(|| "none".to_owned(), |x| x.to_string());
    drawn(&Generator) -> bool = |x| x.random() != x.random();
}

/// A handwritten derivative of an operator that doubles its argument.
struct Twice(fn(&Tensor) -> Result<Tensor>);

impl Function for Twice {
    fn name(&self) -> &'static str {
        "Twice"
    }

    fn forward(&self, _: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![self.0(inputs[0])?])
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        let twice = grads[0].as_ref().map(|grad| grad.mul(2.0)).transpose()?;
        Ok(vec![twice])
    }
}

fn twice(operator: fn(&Tensor) -> Result<Tensor>, this: &Tensor) -> Result<Tensor> {
    let _below = AutoDispatchBelowAutograd::new();
    Ok(autograd::apply(Twice(operator), &[this])?.remove(0))
}

#[torch_impl(types::on_cpu, AutogradCPU)]
fn on_cpu(this: &Tensor) -> Result<Tensor> {
    twice(|x| types::on_cpu(x), this)
}

#[torch_impl(types::on_each, AutogradCPU)]
fn on_each_cpu(this: &Tensor) -> Result<Tensor> {
    twice(|x| types::on_each(x), this)
}

#[torch_impl(types::on_each, AutogradCUDA)]
fn on_each_cuda(this: &Tensor) -> Result<Tensor> {
    twice(|x| types::on_each(x), this)
}

#[torch_impl(types::composed, Autograd)]
fn composed(this: &Tensor) -> Result<Tensor> {
    this.mul(2.0)
}

#[torch_impl(types, CPU, Meta)]
mod kernels {
    use super::*;

    fn on_cpu(this: &Tensor) -> Result<Tensor> {
        this.mul(2.0)
    }

    fn on_each(this: &Tensor) -> Result<Tensor> {
        this.mul(2.0)
    }

    fn composed(this: &Tensor) -> Result<Tensor> {
        this.mul(2.0)
    }
}

#[torch_impl(types::functional, CompositeExplicitAutogradNonFunctional)]
fn functional(this: &Tensor) -> Result<Tensor> {
    aten::mul_Scalar(this, 2.0.into())
}
