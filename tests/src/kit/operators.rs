//! Checks operators of each family against their own schemas, with samples on the device: see `opcheck`.

use torch_library::Dispatcher;
use torch_library::backend::on_device;
use torch_library::opcheck::{Check, OpCheck};
use torch_library::prelude::*;
use torch_library_kernels as _; // the operators

use crate::report::{Report, Unmet};

/// An operator, and a function that makes a sample of vectors and matrices on a device.
type Sample = (&'static str, fn(&Samples) -> Vec<Value<'static>>);

const SAMPLES: [Sample; 24] = [
    ("aten::add.Tensor", |s| vec![s.matrix(0), s.matrix(1)]),
    ("aten::add_.Tensor", |s| vec![s.matrix(0), s.matrix(1)]),
    ("aten::mul.Tensor", |s| vec![s.matrix(0), s.vector(1)]),
    ("aten::div.Tensor", |s| vec![s.matrix(0), s.positive()]),
    ("aten::relu", |s| vec![s.matrix(2)]),
    ("aten::exp", |s| vec![s.matrix(0)]),
    ("aten::tanh", |s| vec![s.matrix(1)]),
    ("aten::where.self", |s| vec![s.mask(), s.matrix(0), s.matrix(1)]),
    ("aten::gt.Scalar", |s| vec![s.matrix(0), Value::Float(0.1)]),
    ("aten::sum", |s| vec![s.matrix(0)]),
    ("aten::sum.dim_IntList", |s| vec![s.matrix(0), vec![1i64].into(), Value::Bool(true)]),
    ("aten::mean", |s| vec![s.matrix(1)]),
    ("aten::amax", |s| vec![s.matrix(1), vec![0i64].into()]),
    ("aten::argmax", |s| vec![s.matrix(1), Value::Int(1)]),
    ("aten::mm", |s| vec![s.square(0), s.square(1)]),
    ("aten::addmm", |s| vec![s.square(2), s.square(0), s.square(1)]),
    ("aten::_softmax", |s| vec![s.matrix(0), Value::Int(1), Value::Bool(false)]),
    ("aten::cat", |s| vec![s.list()]),
    ("aten::index_select", |s| vec![s.matrix(0), Value::Int(0), s.indices()]),
    ("aten::index.Tensor", |s| vec![s.matrix(0), s.optional_indices()]),
    ("aten::clone", |s| vec![s.matrix(0)]),
    ("aten::transpose.int", |s| vec![s.matrix(0), Value::Int(0), Value::Int(1)]),
    ("aten::fill_.Scalar", |s| vec![s.matrix(0), Value::Float(2.5)]),
    ("aten::copy_", |s| vec![s.matrix(0), s.vector(1)]),
];

struct Samples {
    device: Device,
    dtype: DType,
}

impl Samples {
    fn tensor(&self, seed: usize, sizes: &[i64]) -> Tensor {
        let count = sizes.iter().product::<i64>() as usize;
        let numbers = (0..count).map(|i| ((i + 5 * seed) as f64 * 0.83 + 0.3).sin()).collect::<Vec<_>>();
        self.there(Tensor::from_vec(numbers, sizes), self.dtype)
    }

    /// A tensor on the device, or on the CPU if that fails: then the check of the operator reports it.
    fn there(&self, made: Result<Tensor>, dtype: DType) -> Tensor {
        let host = made.and_then(|host| torch_library_kernels::aten::to_dtype(&host, dtype));
        let host = host.unwrap_or_else(|_| Tensor::undefined());
        match self.device {
            Device::CPU => host,
            device => on_device(&host, device).unwrap_or(host),
        }
    }

    fn matrix(&self, seed: usize) -> Value<'static> {
        self.tensor(seed, &[3, 4]).into()
    }

    fn square(&self, seed: usize) -> Value<'static> {
        self.tensor(seed, &[3, 3]).into()
    }

    fn vector(&self, seed: usize) -> Value<'static> {
        self.tensor(seed, &[4]).into()
    }

    fn positive(&self) -> Value<'static> {
        self.there(Ok(Tensor::from([1.5f64, 2.5, 0.75, 1.25])), self.dtype).into()
    }

    fn mask(&self) -> Value<'static> {
        self.there(Ok(Tensor::from([true, false, false, true])), DType::Bool).into()
    }

    fn indices(&self) -> Value<'static> {
        self.there(Ok(Tensor::from([2i64, 0, 2])), DType::Int64).into()
    }

    fn optional_indices(&self) -> Value<'static> {
        let indices = self.there(Ok(Tensor::from([1i64, 0])), DType::Int64);
        Value::OptionalTensors(vec![None, Some(indices)].into())
    }

    fn list(&self) -> Value<'static> {
        vec![self.tensor(0, &[3, 4]), self.tensor(1, &[2, 4])].into()
    }
}

pub(super) fn run(device: Device) -> Report {
    let mut report = Report::new("operators");
    for (name, sample) in SAMPLES {
        for dtype in [DType::Float32, DType::Float64] {
            report.row(&serde_json::Value::Null, &format!("{name} of {dtype}"), || {
                let operator = Dispatcher::global().find(name)?;
                let samples = Samples { device, dtype };
                // On meta and in a loop over examples, the operators themselves have been checked on the CPU.
                let check = OpCheck::new(operator).without(Check::SecondGradient);
                let check = if device == Device::CPU { check } else { check.without(Check::Vmap) };
                check.run([sample(&samples)]).into_result().map_err(Unmet::from)
            });
        }
    }
    report
}
