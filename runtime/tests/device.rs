//! A backend with two devices, memory that only copies can reach, and no kernels: every call falls back to the CPU.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use torch_library::backend::{
    self, Allocation, Backend, DeviceGuard, FallbackPolicy, Stream, StreamGuard, cpu_fallback,
};
use torch_library::opcheck::OpCheck;
use torch_library::prelude::*;
use torch_library::{DeviceType, Storage, StorageImpl, torch_backend, warning};

struct Drawer {
    bytes: Mutex<Vec<u8>>,
    nbytes: usize,
    index: u8,
}

impl Drawer {
    fn of(storage: &Storage) -> Result<MutexGuard<'_, Vec<u8>>> {
        let Some(drawer) = storage.downcast_ref::<Drawer>() else { bail!(Device, "not in a drawer") };
        Ok(drawer.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl StorageImpl for Drawer {
    fn nbytes(&self) -> usize {
        self.nbytes
    }

    fn device(&self) -> Device {
        Device::new(DeviceType::PrivateUse3, Some(self.index))
    }
}

struct Desk;

impl Backend for Desk {
    fn device_type(&self) -> DeviceType {
        DeviceType::PrivateUse3
    }

    fn name(&self) -> &'static str {
        "desk"
    }

    fn device_count(&self) -> usize {
        2
    }

    fn allocate(&self, wanted: &Allocation) -> Result<Storage> {
        ensure!(wanted.nbytes <= 1 << 20, OutOfMemory, "a drawer has a megabyte, not {}", wanted.nbytes);
        let bytes = Mutex::new(vec![0; wanted.nbytes]);
        Ok(Storage::new(Drawer { bytes, nbytes: wanted.nbytes, index: wanted.index }))
    }

    fn upload(&self, to: &Storage, offset: usize, bytes: &[u8]) -> Result<()> {
        Drawer::of(to)?[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn download(&self, from: &Storage, offset: usize, bytes: &mut [u8]) -> Result<()> {
        bytes.copy_from_slice(&Drawer::of(from)?[offset..offset + bytes.len()]);
        Ok(())
    }
}

static DESK: Desk = Desk;
torch_backend!(DESK);

#[torch_fallback(PrivateUse3)]
fn on_the_cpu(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    cpu_fallback(operator, keys, stack)
}

torch_library! {
    /// Operators with all kinds of arguments.
    pub mod things {
        /// The sum of a list.
        total(Tensor[] tensors) -> Tensor;
        /// Adds the tensors that are present.
        add_all_(Tensor(a!) self, Tensor?[] others) -> Tensor(a!);
        /// Doubles into `out`, which is resized.
        double.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!);
        /// The second half of a vector.
        half(Tensor(a) self) -> Tensor(a);
        /// A number and a mask.
        both(Tensor self) -> (int, Tensor);
        /// Noise.
        noise(Tensor self, *, Generator? generator=None) -> Tensor;
        /// Writes to each tensor.
        fill_each_(Tensor(a!)[] self, float value) -> ();
        /// A number that only the device knows.
        weigh(Tensor self) -> int;
    }
}

#[torch_impl(things, PrivateUse3)]
fn weigh(this: &Tensor) -> Result<i64> {
    Ok(10 * this.numel())
}

#[torch_impl(things, CPU)]
mod kernels {
    use torch_library::prelude::*;

    fn total(tensors: &[Tensor]) -> Result<Tensor> {
        let mut sums = tensors[0].to_vec::<f32>()?;
        for tensor in &tensors[1..] {
            sums.iter_mut().zip(tensor.to_vec::<f32>()?).for_each(|(sum, x)| *sum += x);
        }
        Tensor::from_vec(sums, tensors[0].sizes())
    }

    fn add_all_<'a>(this: &'a mut Tensor, others: &[Option<Tensor>]) -> Result<&'a mut Tensor> {
        for other in others.iter().flatten() {
            let other = other.to_vec::<f32>()?;
            let sums: Vec<f32> = this.to_vec::<f32>()?.iter().zip(other).map(|(a, b)| a + b).collect();
            this.copy_from_slice(&sums)?;
        }
        Ok(this)
    }

    fn double_out<'a>(this: &Tensor, out: &'a mut Tensor) -> Result<&'a mut Tensor> {
        out.resize(this.sizes(), None)?;
        out.fill_from(this.to_vec::<f32>()?.iter().map(|x| 2.0 * x))?;
        Ok(out)
    }

    fn half(this: &Tensor) -> Result<Tensor> {
        let half = this.numel() / 2;
        this.strided_view(&[half], this.strides(), this.storage_offset() + half)
    }

    fn both(this: &Tensor) -> Result<(i64, Tensor)> {
        Ok((this.numel(), Tensor::from(this.to_vec::<f32>()?.iter().map(|x| *x > 1.0).collect::<Vec<_>>())))
    }

    fn noise(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
        let Some(generator) = generator else { bail!(Argument, "no generator") };
        let numbers = (0..this.numel()).map(|_| generator.random() as f32);
        Tensor::from_vec(numbers.collect(), this.sizes())
    }

    fn fill_each_(this: &mut [Tensor], value: f64) -> Result<()> {
        this.iter_mut().try_for_each(|tensor| tensor.fill(value as f32))
    }
}

fn desk(index: u8) -> Device {
    Device::new(DeviceType::PrivateUse3, Some(index))
}

fn on_desk(values: &[f32]) -> Tensor {
    backend::on_device(&Tensor::from(values), desk(0)).unwrap()
}

/// Serialises the tests, because counts and policies are global to the process.
static ALONE: Mutex<()> = Mutex::new(());

fn silent() -> MutexGuard<'static, ()> {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    backend::set_fallback_policy(DeviceType::PrivateUse3, FallbackPolicy::Silent);
    alone
}

#[test]
fn tensors_are_made_read_written_and_printed() {
    let mut x = Tensor::full(&[2, 2], 1.5, DType::Float64, "desk".parse().unwrap()).unwrap();
    assert_eq!(x.device(), desk(0));
    let expected =
        "tensor([[1.5000, 1.5000],\n        [1.5000, 1.5000]], device='desk:0', dtype=torch.float64)";
    assert_eq!(x.to_string(), expected);
    let mut column = x.strided_view(&[2], &[2], 1).unwrap();
    column.copy_from_slice(&[7.0, 8.0]).unwrap();
    assert_eq!(x.to_vec::<f64>().unwrap(), [1.5, 7.0, 1.5, 8.0]);
    x.fill(3.0).unwrap();
    assert_eq!(column.element::<f64>(&[1]).unwrap(), 3.0);
    assert_eq!(Tensor::full(&[1], 4, DType::Int64, desk(1)).unwrap().item().unwrap(), Scalar::Int(4));
    assert_eq!(x.to_vec::<f32>().unwrap_err().kind(), ErrorKind::DType);
    let error = Tensor::empty(&[1 << 20], DType::Float64, desk(0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
}

#[test]
fn the_current_device_is_the_threads() {
    let made = || Tensor::empty(&[1], DType::Float32, DeviceType::PrivateUse3.into()).unwrap().device();
    let guard = DeviceGuard::new(desk(1)).unwrap();
    assert_eq!(made(), desk(1));
    assert_eq!(std::thread::spawn(made).join().unwrap(), desk(0));
    drop(guard);
    assert_eq!(made(), desk(0));
    let error = DeviceGuard::new(desk(2)).err().unwrap().to_string();
    assert_eq!(error, "there is no device desk:2: desk has 2 devices");
    assert_eq!(backend::device_count(DeviceType::PrivateUse3), 2);
    assert!(Stream::new(desk(0)).is_err(), "it has one queue");
    let stream = backend::current_stream(desk(0)).unwrap();
    let other = Stream { id: 4, ..stream };
    let guard = StreamGuard::new(other).unwrap();
    assert_eq!(backend::current_stream(desk(0)).unwrap(), other);
    drop(guard);
    assert_eq!(backend::current_stream(desk(0)).unwrap(), stream);
    assert!(stream.record_event().unwrap().query().unwrap());
}

#[test]
fn lists_optionals_views_and_writes_fall_back() {
    let _alone = silent();
    let (x, y) = (on_desk(&[1.0, 2.0]), on_desk(&[10.0, 20.0]));
    let sum = things::total(&[x.clone(), y.clone()]).unwrap();
    assert_eq!((sum.device(), sum.to_vec::<f32>().unwrap()), (desk(0), vec![11.0, 22.0]));

    // A view of the written tensor is among the arguments: it sees the first write.
    let mut all = on_desk(&[1.0, 2.0, 3.0, 4.0]);
    let back = all.strided_view(&[2], &[1], 2).unwrap();
    let mut front = all.strided_view(&[2], &[1], 0).unwrap();
    let own = front.clone();
    things::add_all_(&mut front, &[Some(back.clone()), None, Some(own)]).unwrap();
    assert_eq!(all.to_vec::<f32>().unwrap(), [8.0, 12.0, 3.0, 4.0]);
    let handle = things::add_all_(&mut all, &[]).unwrap();
    assert!(handle.sizes() == [4]);

    let mut out = on_desk(&[0.0]);
    let other = out.clone();
    things::double_out(&all, &mut out).unwrap();
    assert_eq!(other.to_vec::<f32>().unwrap(), [16.0, 24.0, 6.0, 8.0]);

    let half = things::half(&all).unwrap();
    assert!(half.shares_storage_with(&all) && half.device() == desk(0));
    assert_eq!(half.to_vec::<f32>().unwrap(), [3.0, 4.0]);
    let (count, mask) = things::both(&all).unwrap();
    assert_eq!((count, mask.to_vec::<bool>().unwrap()), (4, vec![true; 4]));
    things::fill_each_(&mut [x.clone(), half], 5.0).unwrap();
    assert_eq!(
        (x.to_vec::<f32>().unwrap(), all.to_vec::<f32>().unwrap()),
        (vec![5.0; 2], vec![8.0, 12.0, 5.0, 5.0])
    );
}

#[test]
fn random_numbers_are_the_devices() {
    let _alone = silent();
    let x = on_desk(&[0.0; 3]);
    backend::manual_seed_all(0);
    let first = things::noise(&x).unwrap().to_vec::<f32>().unwrap();
    let second = things::noise(&x).unwrap().to_vec::<f32>().unwrap();
    assert_ne!(first, second);
    let generator = backend::default_generator(desk(0)).unwrap();
    generator.manual_seed(0);
    assert_eq!(things::noise::call(&x, Some(&generator)).unwrap().to_vec::<f32>().unwrap(), first);
    assert_ne!(generator.device(), backend::default_generator(desk(1)).unwrap().device());
}

#[test]
fn who_falls_back_is_counted_told_and_refused() {
    let _alone = silent();
    let x = on_desk(&[1.0]);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = heard.clone();
    let guard = warning::listen(move |message| listener.lock().unwrap().push(message.to_owned()));
    backend::reset_fallback_counts(DeviceType::PrivateUse3);
    backend::set_fallback_policy(DeviceType::PrivateUse3, FallbackPolicy::Warn);
    (0..3).for_each(|_| drop(things::both(&x).unwrap()));
    drop(guard);
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 1);
    assert!(heard[0].starts_with("things::both has no kernel for desk, so it runs on the CPU"), "{heard:?}");
    assert!(heard[0].ends_with("a kernel at PrivateUse3 makes it faster"), "{heard:?}");
    assert_eq!(backend::fallback_counts(DeviceType::PrivateUse3), [("things::both".to_owned(), 3)]);
    backend::set_fallback_policy(DeviceType::PrivateUse3, FallbackPolicy::Error);
    let error = things::both(&x).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingKernel);
    assert!(error.to_string().contains("falling back to the CPU is refused here"), "{error}");
}

#[test]
fn an_operator_of_the_device_alone_is_checked_there() {
    let _alone = silent();
    let check = |x: Tensor| OpCheck::new(things::weigh::handle()).run([vec![Value::from(x)]]);
    assert_eq!(check(on_desk(&[1.0, 2.0])).faults, []);
    let faults = check(Tensor::from([1f32])).faults;
    assert_eq!(faults[0].message, "has no kernel for the CPU");
}
