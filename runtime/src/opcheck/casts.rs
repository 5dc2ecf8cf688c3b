//! The operator under autocast, compared with a call whose inputs were cast before.

use super::arguments::{TensorArgument, copies, map, tensors};
use super::compare::difference;
use super::{Check, Session};
use crate::autocast::Autocast;
use crate::device::DeviceType;
use crate::dtype::{DType, Element};
use crate::element::Complex64;
use crate::error::Result;
use crate::key::DispatchKey;
use crate::match_dtype;
use crate::operator::OperatorHandle;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

const LOWER: DType = DType::BFloat16;

/// A name for a choice of types, and the type for each floating-point tensor of a sample, by its index.
type Types = (&'static str, fn(usize) -> DType);

const TYPES: [Types; 3] = [
    ("float32", |_| DType::Float32),
    ("float64", |_| DType::Float64),
    ("bfloat16 and float32", |at| if at == 0 { LOWER } else { DType::Float32 }),
];

impl Session<'_> {
    pub(super) fn casts(&mut self, values: &[Value<'static>]) {
        if !self.wants(Check::Autocast) || !self.has_kernel(DispatchKey::AutocastCPU) {
            return;
        }
        let is_on_cpu = |place: &TensorArgument| place.tensor.device().kind == DeviceType::Cpu;
        if !tensors(self.operator, values).iter().all(is_on_cpu) {
            return; // other backends define their own policies
        }
        let operator = self.operator;
        for (what, dtype) in TYPES {
            let Ok(values) = cast(values, dtype) else { return };
            // Autocast leaves tensors of double precision alone.
            let without = [DType::Float32, LOWER].map(|to| {
                call(operator, if what == "float64" { copies(&values)? } else { cast(&values, |_| to)? })
            });
            let without: Vec<_> = without.into_iter().flatten().collect();
            if without.is_empty() {
                continue; // the operator accepts no precision that a policy can choose
            }
            let passed = self.passes(Check::Autocast, || {
                let found =
                    Autocast::on(DeviceType::Cpu).dtype(LOWER).run(|| call(operator, copies(&values)?))?;
                let differences: Option<Vec<String>> =
                    without.iter().map(|expected| difference(&found, expected)).collect();
                Ok(differences.map(|all| {
                    let all = all.join("; ");
                    format!(
                        "with inputs of {what}, the result differs from that of a call with cast inputs: {all}"
                    )
                }))
            });
            if !passed {
                return;
            }
        }
    }
}

fn call(operator: OperatorHandle, values: Vec<Value<'static>>) -> Result<Vec<Value<'static>>> {
    let mut stack: Stack<'static> = values.into_iter().collect();
    operator.call_boxed(&mut stack)?;
    Ok(stack.into_iter().collect())
}

/// The same values, with each floating-point tensor cast to the type for its index.
fn cast(values: &[Value<'static>], dtype: impl Fn(usize) -> DType) -> Result<Vec<Value<'static>>> {
    let mut next = 0;
    map(values, |_, tensor| {
        if !tensor.dtype().is_floating_point() || tensor.is_wrapped_number() {
            return Ok(tensor.clone());
        }
        next += 1;
        converted(tensor, dtype(next - 1))
    })
}

fn converted(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    let wide: Vec<Complex64> = match_dtype!(tensor.dtype(), T => {
        tensor.to_vec::<T>()?.into_iter().map(Element::cast).collect()
    });
    let mut result = Tensor::zeros(tensor.sizes(), dtype, tensor.device())?;
    match_dtype!(dtype, T => result.fill_from(wide.into_iter().map(|value| value.cast::<T>())))?;
    Ok(result)
}
