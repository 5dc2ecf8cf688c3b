//! The end of a thread: destructors of its thread-locals can still use the library.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::sync::Mutex;

use torch_library::autocast::Autocast;
use torch_library::fake::FakeMode;
use torch_library::prelude::*;
use torch_library::vmap::{Level, LevelGuard, Randomness};
use torch_library::{DeviceType, tracer};
use torch_library_kernels::aten;
use torch_library_kernels::vmap::{grad, vmap};

/// Everything that keeps state in thread-locals.
fn work() -> Result<()> {
    let (x, rows) = (Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]), Tensor::from([[1.0f32], [2.0]]));
    x.set_requires_grad(true)?;
    aten::sum(&aten::matmul(&x, &rows)?)?.backward()?;
    let image = aten::reshape(&aten::arange(36.0f32.into())?, &[1, 1, 6, 6])?;
    aten::max_pool2d::with(&image, &[2, 2]).call()?;
    aten::conv2d(&image, &aten::ones(&[1, 1, 3, 3])?)?;
    aten::add_out::call(&rows, &rows, 1.into(), &mut aten::zeros(&[0])?)?;
    vmap([&rows], |[row]| aten::neg(&row))?;
    grad([&aten::sum(&rows)?], |[x]| aten::mul_Tensor(&x, &x))?;
    let generator = Generator::with_seed(0);
    generator.with(|next| next(&mut [0; 3]));
    aten::randn_generator(&[3], Some(&generator))?;
    Autocast::on(DeviceType::Cpu).run(|| aten::matmul(&x, &rows))?;
    tracer::trace(std::slice::from_ref(&rows), |inputs| Ok(vec![aten::neg(&inputs[0])?]))?;
    let mode = FakeMode::new();
    aten::neg(&rows)?;
    drop(mode);
    Ok(())
}

/// The results of the work at the end of the thread.
static DONE: Mutex<Vec<Result<(), String>>> = Mutex::new(Vec::new());

struct Late(Option<LevelGuard>);

impl Drop for Late {
    fn drop(&mut self) {
        drop(self.0.take());
        DONE.lock().unwrap().push(work().map_err(|error| error.to_string()));
    }
}

thread_local! {
    static BEFORE: RefCell<Option<Late>> = const { RefCell::new(None) };
    static AFTER: RefCell<Option<Late>> = const { RefCell::new(None) };
}

#[test]
fn what_ends_with_a_thread_may_compute() {
    // The order of destruction is not specified: one of these is made before the library's locals, the other after.
    let thread = std::thread::spawn(|| -> Result<()> {
        BEFORE.set(Some(Late(None)));
        work()?;
        let level = Level::enter(2, Randomness::default())?;
        AFTER.set(Some(Late(Some(level))));
        Ok(())
    });
    assert!(thread.join().unwrap().is_ok());
    assert_eq!(*DONE.lock().unwrap(), [Ok(()), Ok(())]);
}
