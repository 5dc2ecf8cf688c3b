//! Every operator of `aten`, on tensors that are moved and written meanwhile, and on tensors that all share one memory.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use torch_library::prelude::*;
use torch_library::{Dispatcher, Layout, MemoryFormat};
use torch_library_schema::Type;

use crate::harness::{allowed, attempt, rounds};

/// Pseudo-random numbers, the same every time.
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % bound
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A value of a type; tensors are chosen from these.
    fn value(&mut self, ty: &Type, tensors: &[Tensor]) -> Value<'static> {
        match ty {
            Type::Optional(_) if self.below(2) == 0 => Value::None,
            Type::Optional(inner) => self.value(inner, tensors),
            Type::Tensor => self.one(tensors).clone().into(),
            Type::Int | Type::SymInt => Value::Int(*self.one(&[0, 1, 2, -1, 3])),
            Type::Float => Value::Float(*self.one(&[0.5, 1.0, 0.0, -2.0])),
            Type::Bool | Type::SymBool => Value::Bool(self.below(2) == 0),
            Type::Scalar => Value::Float(*self.one(&[0.5, 1.0, 2.0])),
            Type::Str => Value::Str(Cow::Borrowed(*self.one(&["mean", "sum", "floor", "reduced", "ij", "amax"]))),
            Type::ScalarType => Value::DType(*self.one(&[DType::Float32, DType::Float64, DType::Int64])),
            Type::Layout => Value::Layout(Layout::ALL[0]),
            Type::MemoryFormat => Value::MemoryFormat(MemoryFormat::Contiguous),
            Type::Device => Value::Device(Device::CPU),
            Type::Generator => Value::Generator(Cow::Owned(Generator::with_seed(1))),
            Type::List(element) => self.list(element, tensors),
            _ => Value::None,
        }
    }

    fn list(&mut self, element: &Type, tensors: &[Tensor]) -> Value<'static> {
        let len = self.below(3) + 1;
        match element {
            Type::Tensor => (0..len).map(|_| self.one(tensors).clone()).collect::<Vec<_>>().into(),
            Type::Optional(_) => (0..len).map(|_| Some(self.one(tensors).clone())).collect::<Vec<_>>().into(),
            Type::Float => (0..len).map(|_| 0.5).collect::<Vec<_>>().into(),
            Type::Bool => (0..len).map(|_| true).collect::<Vec<_>>().into(),
            Type::Scalar => (0..len).map(|_| Scalar::Int(1)).collect::<Vec<_>>().into(),
            _ => (0..len).map(|_| *self.one(&[0i64, 1, 2, -1])).collect::<Vec<_>>().into(),
        }
    }
}

/// Calls randomly chosen operators one after the other; none may panic, unless that is allowed.
fn call_all(seed: u64, tensors: &[Tensor], may_panic: bool) {
    let operators: Vec<_> = Dispatcher::global().operators().into_iter().map(|info| info.operator).collect();
    let mut choices = Choices(seed);
    let trace = std::env::var_os("HOSTILE_TRACE").is_some();
    for _ in rounds() {
        for _ in 0..16 {
            let operator = *choices.one(&operators);
            if operator.namespace() != "aten" {
                continue;
            }
            let Ok(schema) = operator.schema() else { continue };
            let mut stack: Stack<'_> =
                schema.arguments.iter().map(|argument| choices.value(&argument.ty, tensors)).collect();
            if trace {
                eprintln!("{operator}");
            }
            let end = catch_unwind(AssertUnwindSafe(|| operator.call_boxed(&mut stack)));
            match end {
                Ok(end) => attempt(end),
                Err(_) => assert!(may_panic, "{operator} panicked"),
            }
            stack.last(stack.len()).iter().flat_map(Value::all_tensors).for_each(|tensor| {
                assert!(tensor.numel() > 1 << 20 || !tensor.to_string().is_empty());
            });
        }
    }
}

fn full(sizes: &[i64], value: f64, dtype: DType) -> Result<Tensor> {
    Tensor::full(sizes, value, dtype, Device::CPU)
}

fn pool(n: i64) -> Result<Vec<Tensor>> {
    Ok(vec![
        full(&[n, n], 1.0, DType::Float32)?,
        full(&[n, n], 0.5, DType::Float64)?,
        full(&[n], 1.0, DType::Int64)?,
        full(&[n, n], 1.0, DType::Int64)?,
        full(&[n, n], 1.0, DType::Bool)?,
        full(&[1, 2, n, n], 1.0, DType::Float32)?,
        full(&[], 2.0, DType::Float64)?,
        full(&[n, n], 1.0, DType::Float32)?.strided_view(&[n, n], &[1, n], 0)?,
        full(&[n], 1.0, DType::Int32)?,
        full(&[n, n], 1.0, DType::Complex64)?,
    ])
}

/// Threads call any operator on some tensors, while another fills, resizes and moves them. A composite that reads the sizes of a
/// tensor twice, while others change them, may panic: it has no access to elements.
pub(crate) fn any_operator_while_moved() -> Result<()> {
    let (tensors, done) = (pool(4)?, AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut choices = Choices(99);
            while !done.load(Ordering::Relaxed) {
                let mut x = choices.one(&tensors).clone();
                let (sizes, strides) = (x.sizes().to_vec(), x.strides().to_vec());
                allowed(match choices.below(5) {
                    0 => x.resize(&[1], None),
                    1 => x.resize(&[4, 4], None),
                    2 => full(&[64], 1.0, x.dtype())
                        .and_then(|fresh| x.set_storage(fresh.storage().clone(), &[4, 4], &[4, 1], 3)),
                    3 => x.fill(*choices.one(&[1i64, 1 << 40, -5])).or_else(|_| x.fill(f64::NAN)),
                    _ => x.set_geometry(&sizes, &strides, 0),
                });
            }
        });
        let callers = [7, 1234].map(|seed| {
            let tensors = &tensors;
            scope.spawn(move || call_all(seed, tensors, true))
        });
        let ends = callers.map(|caller| caller.join().is_ok());
        done.store(true, Ordering::Relaxed);
        assert_eq!(ends, [true; 2]);
    });
    Ok(())
}

/// The same views, types and overlaps of one memory for every argument.
fn one_memory(n: i64) -> Result<Vec<Tensor>> {
    let memory = full(&[4 * n * n + 64], 1.0, DType::Float64)?;
    let mut tensors = Vec::new();
    for dtype in [DType::Float64, DType::Float32, DType::Int64, DType::Bool, DType::Complex64, DType::Int32] {
        for (strides, offset) in [([n, 1], 0), ([n, 1], 1), ([1, n], 3), ([0, 1], 2), ([1, 1], 0)] {
            let storage = memory.storage().clone();
            tensors.push(Tensor::from_storage(storage, &[n, n], &strides, offset, dtype, memory.key_set())?);
        }
        let storage = memory.storage().clone();
        tensors.push(Tensor::from_storage(storage, &[n], &[1], 5, dtype, memory.key_set())?);
    }
    Ok(tensors)
}

/// Every argument is a view of one small memory.
pub(crate) fn any_operator_on_one_memory() -> Result<()> {
    call_all(42, &one_memory(4)?, false);
    Ok(())
}

/// Every argument is a view of one memory so large that kernels divide it among threads.
pub(crate) fn any_operator_on_large_memory() -> Result<()> {
    call_all(4242, &one_memory(300)?, false);
    Ok(())
}
