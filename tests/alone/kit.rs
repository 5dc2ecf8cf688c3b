//! Tests the backend test kit itself: the CPU and a plain backend pass, and each of twenty faulty backends fails. A
//! process of its own, since warnings about fallbacks apply to the whole process.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use torch_library::backend::{Allocation, Backend, cpu_fallback, host_copy, on_device};
use torch_library::prelude::*;
use torch_library::{DeviceType, Storage, StorageImpl, torch_backend};
use torch_library_kernels::aten;
use torch_library_tests::kit::Kit;

/// The fault that is active now; 0 is none.
static FAULT: AtomicUsize = AtomicUsize::new(0);

fn has(fault: usize) -> bool {
    FAULT.load(Relaxed) == fault
}

type Bytes = Arc<Mutex<Vec<u8>>>;

/// Memory that can only be reached by copies.
struct Glass(Bytes, usize);

impl StorageImpl for Glass {
    fn nbytes(&self) -> usize {
        self.1
    }

    fn device(&self) -> Device {
        Device::new(DeviceType::PrivateUse3, Some(0))
    }
}

fn bytes_of(storage: &Storage) -> Result<MutexGuard<'_, Vec<u8>>> {
    let Some(glass) = storage.downcast_ref::<Glass>() else { bail!(Device, "not behind glass") };
    Ok(glass.0.lock().unwrap_or_else(PoisonError::into_inner))
}

struct Cabinet;
static CABINET: Cabinet = Cabinet;
torch_backend!(CABINET);

impl Backend for Cabinet {
    fn device_type(&self) -> DeviceType {
        DeviceType::PrivateUse3
    }

    fn name(&self) -> &'static str {
        "cabinet"
    }

    fn device_count(&self) -> usize {
        if has(1) { 300 } else { 1 }
    }

    fn allocate(&self, wanted: &Allocation) -> Result<Storage> {
        static ONE: Mutex<Option<Bytes>> = Mutex::new(None);
        ensure!(wanted.nbytes < 1 << 30, OutOfMemory, "{} bytes are too many", wanted.nbytes);
        let fresh = || Arc::new(Mutex::new(vec![if has(2) { 7 } else { 0 }; wanted.nbytes]));
        let bytes = match has(3) && wanted.nbytes == 16 {
            true => ONE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(fresh).clone(),
            false => fresh(),
        };
        Ok(Storage::new(Glass(bytes, wanted.nbytes)))
    }

    fn upload(&self, to: &Storage, offset: usize, bytes: &[u8]) -> Result<()> {
        let offset = if has(4) { 0 } else { offset };
        let count = if has(5) { bytes.len().saturating_sub(1) } else { bytes.len() };
        bytes_of(to)?[offset..offset + count].copy_from_slice(&bytes[..count]);
        Ok(())
    }

    fn download(&self, from: &Storage, offset: usize, bytes: &mut [u8]) -> Result<()> {
        let offset = if has(6) { 0 } else { offset };
        let count = if has(7) { bytes.len() / 4 * 4 } else { bytes.len() };
        bytes[..count].copy_from_slice(&bytes_of(from)?[offset..offset + count]);
        Ok(())
    }

    fn copy(&self, to: &Storage, at: usize, from: &Storage, from_at: usize, nbytes: usize) -> Result<()> {
        let (to, at, from, from_at) = if has(8) { (from, from_at, to, at) } else { (to, at, from, from_at) };
        let from_at = if has(9) { 0 } else { from_at };
        let bytes = bytes_of(from)?[from_at..from_at + nbytes].to_vec();
        bytes_of(to)?[at..at + nbytes].copy_from_slice(&bytes);
        Ok(())
    }
}

#[torch_fallback(PrivateUse3)]
fn on_the_cpu(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    cpu_fallback(operator, keys, stack)
}

/// The kernels that a fault can replace.
#[torch_impl(aten, PrivateUse3, boxed)]
mod kernels {
    use super::*;

    fn relu(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        flawed(operator, keys, stack, 10, |x, _| x.map(|x| x.abs()))
    }

    fn exp(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        flawed(operator, keys, stack, 11, |x, _| Ok(x.0)) // the operand itself, not a new tensor
    }

    fn add_Tensor(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        flawed(operator, keys, stack, 12, |x, _| x.map(|x| x + 1.0))
    }

    fn mul_Tensor(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        flawed(operator, keys, stack, 13, |x, _| host_copy(&x.0)) // on the CPU instead of the device
    }

    fn gt_Scalar(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        flawed(operator, keys, stack, 14, |x, _| x.map(|x| x)) // of the operand's type instead of bool
    }

    fn sum_dim_IntList(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        flawed(operator, keys, stack, 15, |x, _| x.map(|x| x)) // returned without summing
    }

    fn mm(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        flawed(operator, keys, stack, 16, |x, _| x.map(|x| 2.0 * x))
    }

    fn clone(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        if has(17) {
            let this = operator.take_arguments(stack)?.swap_remove(0).into_owned();
            stack.push(this); // not a copy
            return Ok(());
        }
        operator.call_boxed_for_key(DispatchKey::CompositeExplicitAutograd, stack).map(|()| _ = keys)
    }

    fn fill__Scalar(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        flawed_in_place(operator, keys, stack, 18)
    }

    fn tanh(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        match has(19) {
            true => panic!("a kernel that panics"),
            false => cpu_fallback(operator, keys, stack),
        }
    }

    fn index_select(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        match has(20) {
            true => bail!(NotSupported, "no indices here"),
            false => cpu_fallback(operator, keys, stack),
        }
    }
}

/// The first operand of a call.
struct Operand(Tensor);

impl Operand {
    /// A contiguous tensor with changed elements.
    fn map(&self, change: impl Fn(f32) -> f32) -> Result<Tensor> {
        let elements = self.0.to_vec::<f32>()?.into_iter().map(change).collect();
        on_device(&Tensor::from_vec(elements, self.0.sizes())?, self.0.device())
    }
}

fn flawed(
    operator: OperatorHandle,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
    fault: usize,
    result: impl Fn(Operand, ()) -> Result<Tensor>,
) -> Result<()> {
    let first = operator.arguments(stack)?.first().and_then(Value::as_tensor).cloned();
    match first.filter(|first| has(fault) && first.dtype() == DType::Float32) {
        Some(first) => {
            drop(operator.take_arguments(stack)?);
            stack.push(result(Operand(first), ())?);
            Ok(())
        }
        None => cpu_fallback(operator, keys, stack),
    }
}

/// Does what the schema says, and overwrites one more element.
fn flawed_in_place(
    operator: OperatorHandle,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
    fault: usize,
) -> Result<()> {
    let first = operator.arguments(stack)?.first().and_then(Value::as_tensor).cloned();
    cpu_fallback(operator, keys, stack)?;
    if let Some(first) =
        first.filter(|first| has(fault) && first.dtype() == DType::Float32 && first.numel() > 0)
    {
        let mut start = first.strided_view(&[1], &[1], first.storage_offset())?;
        start.copy_from_slice(&[99f32])?;
    }
    Ok(())
}

/// Gradients of copies, and of numbers that a device has taken as operands, are where these came from.
fn gradients_go_back(device: Device) -> Result<()> {
    let (w, factor) = (Tensor::from([1.0f32, 2.0]), Tensor::from(3f32));
    w.set_requires_grad(true)?;
    factor.set_requires_grad(true)?;
    let there = aten::to_device(&w, device, DType::Float32)?;
    aten::sum(&aten::mul_Tensor(&there, &factor)?)?.backward()?;
    aten::sum(&aten::mul_Scalar(&w, 2.0.into())?)?.backward()?;
    assert_eq!(w.grad().unwrap().to_vec::<f32>()?, [5.0, 5.0]);
    assert_eq!(factor.grad().unwrap().to_vec::<f32>()?, [3.0]);
    Ok(())
}

#[test]
fn sound_backends_pass() {
    let cpu = Kit::new(Device::CPU).quick().run();
    assert_eq!(cpu.failed(), 0, "{cpu}");
    let device = Device::new(DeviceType::PrivateUse3, Some(0));
    let sound = Kit::new(device).run();
    assert_eq!(sound.failed(), 0, "{sound}");
    gradients_go_back(device).unwrap();
}

/// The number of faults that a backend can be told to have.
const FAULTS: usize = 20;
/// Names the active fault to a process of its own, in which it is global.
const FAULT_VARIABLE: &str = "TORCH_LIBRARY_KIT_FAULT";

#[test]
fn each_fault_is_found() {
    if let Ok(fault) = std::env::var(FAULT_VARIABLE) {
        FAULT.store(fault.parse().unwrap(), Relaxed);
        assert_eq!(Kit::new(Device::new(DeviceType::PrivateUse3, Some(0))).quick().run().failed(), 0);
        return;
    }
    let program = std::env::current_exe().unwrap();
    let is_missed = |fault: usize| {
        let mut run = std::process::Command::new(&program);
        run.args(["--exact", "each_fault_is_found"]).env(FAULT_VARIABLE, fault.to_string());
        run.output().unwrap().status.success()
    };
    assert!(is_missed(0), "the test fails without a fault, too");
    let next = AtomicUsize::new(1);
    let missed = Mutex::new(Vec::new());
    let work = || loop {
        let fault = next.fetch_add(1, Relaxed);
        if fault > FAULTS {
            return;
        }
        if is_missed(fault) {
            missed.lock().unwrap().push(fault);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let missed = missed.into_inner().unwrap();
    assert!(missed.is_empty(), "faults that nobody noticed: {missed:?}");
}
