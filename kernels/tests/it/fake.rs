//! Fake mode on real operators: whole programs without elements.

use torch_library::fake::{FakeMode, is_fake, to_fake, to_fake_on};
use torch_library::functionalize::functionalize;
use torch_library::prelude::*;
use torch_library::tracer::trace;
use torch_library_kernels::aten;
use torch_library_kernels::init;
use torch_library_kernels::optim::{AdamW, Optimizer, Sgd};
use torch_library_kernels::prelude::*;
use torch_library_kernels::vmap::vmap;

torch_library! {
    mod fake_test {
        /// Only has a kernel for the CPU.
        fft(Tensor self) -> Tensor;
        /// Declares that its sizes depend on data.
        #[tags(data_dependent_output)]
        median(Tensor self) -> Scalar;
    }
}

#[torch_impl(fake_test, CPU)]
fn fft(this: &Tensor) -> Result<Tensor> {
    aten::clone(this)
}

fn x() -> Tensor {
    Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
}

#[test]
fn what_is_made_is_fake_and_what_is_real_stays() {
    let (mut real, mode) = (x(), FakeMode::new());
    let made = aten::zeros::with(&[1 << 40]).dtype(Some(DType::Float32)).call().unwrap();
    assert!(is_fake(&made) && !is_fake(&real));
    assert_eq!((made.sizes(), made.dtype(), made.device()), (&[1 << 40][..], DType::Float32, Device::CPU));
    let view = real.t().unwrap().view(&[6]).unwrap_err();
    assert!(view.to_string().contains("use reshape"), "{view}");
    let (column, row) = (real.select(1, 0).unwrap(), real.select(0, 0).unwrap());
    assert!(is_fake(&column) && column.shares_storage_with(&row) && !column.shares_storage_with(&real));
    // The elements of the real tensor are not written to.
    real.mul_(10.0).unwrap();
    column.clone().add_(1.0).unwrap();
    let error = aten::transpose_(&mut real, 0, 1).unwrap_err();
    assert!(error.to_string().contains("fake mode leaves real tensors unchanged"), "{error}");
    drop(mode);
    assert_eq!(real.to_vec::<f64>().unwrap(), x().to_vec::<f64>().unwrap());
    assert!(!is_fake(&aten::zeros(&[2]).unwrap()));
}

#[test]
fn a_closure_runs_in_fake_mode_and_leaves_it() -> Result<()> {
    let sum = FakeMode::run(|| x().sum())?;
    assert!(is_fake(&sum) && !is_fake(&x().sum()?));
    let _ = std::panic::catch_unwind(|| FakeMode::run(|| std::panic::resume_unwind(Box::new(()))));
    assert!(!is_fake(&x().sum()?), "a panic leaves it too");
    Ok(())
}

#[test]
fn fake_tensors_need_no_mode() {
    let fake = to_fake(&x()).unwrap();
    let sum = aten::add_Tensor(&fake, &x()).unwrap();
    assert!(is_fake(&sum) && is_fake(&aten::zeros_like(&sum).unwrap()));
    let mut moved = aten::clone(&fake).unwrap();
    aten::unsqueeze_(aten::transpose_(&mut moved, 0, 1).unwrap(), 0).unwrap();
    assert_eq!((moved.sizes(), moved.strides()), (&[1, 3, 2][..], &[3, 1, 3][..]));
    assert!(format!("{fake}").contains("fake") || fake.to_vec::<f64>().is_err());
}

#[test]
fn devices_are_followed_that_are_not_there() {
    let cuda: Device = "cuda:0".parse().unwrap();
    let on_cuda = to_fake_on(&x(), cuda).unwrap();
    let matrix = aten::mm(&on_cuda, &on_cuda.t().unwrap()).unwrap();
    assert_eq!((matrix.sizes(), matrix.device()), (&[2, 2][..], cuda));
    // A number on the CPU goes along.
    let half = aten::mul_Tensor(&matrix, &to_fake(&Tensor::from(0.5)).unwrap()).unwrap();
    assert_eq!(half.device(), cuda);
    let back = aten::_to_copy::with(&half).device(Some(Device::CPU)).call().unwrap();
    assert_eq!(back.device(), Device::CPU);
    let mut there = aten::empty_like(&on_cuda).unwrap();
    aten::copy_(&mut there, &to_fake(&x()).unwrap()).unwrap();
    assert_eq!(there.device(), cuda);
    let error = aten::add_Tensor(&on_cuda, &to_fake(&x()).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "aten::add.Tensor got tensors on cuda:0 and on cpu, expected one device\n  \
         help: move one of them to the device of the other first"
    );
    let _mode = FakeMode::new();
    let made = aten::ones::with(&[3]).device(Some(cuda)).call().unwrap();
    assert_eq!(aten::new_zeros(&made, &[2]).unwrap().device(), cuda);
    assert_eq!(aten::ones::with(&[3]).device(Some(Device::META)).call().unwrap().device(), Device::META);
}

#[test]
fn what_needs_elements_is_an_error() {
    let fake = to_fake(&x()).unwrap();
    let error = aten::nonzero(&fake).unwrap_err().to_string();
    assert_eq!(
        error,
        "aten::nonzero depends on the values of elements, which fake tensors do not have\n  \
         help: call it outside of fake mode, or use an operator whose result has the same sizes for all values"
    );
    assert!(
        fake_test::median(&fake)
            .unwrap_err()
            .to_string()
            .starts_with("fake_test::median depends on the values of elements")
    );
    let one = fake.sum().unwrap();
    assert!(one.item().unwrap_err().to_string().contains("this tensor is fake"));
    let error = aten::equal(&fake, &fake).unwrap_err().to_string();
    assert!(error.starts_with("aten::equal depends on the values of elements"), "{error}");
}

#[test]
fn a_missing_meta_kernel_says_what_to_write() {
    let error = fake_test::fft(&to_fake(&x()).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingKernel);
    let message = error.to_string();
    let lines: Vec<_> = message.lines().collect();
    assert_eq!(
        lines[0],
        "fake_test::fft has no kernel for Meta, so the sizes and types of its results are unknown in fake mode"
    );
    assert!(lines[1].starts_with("  declared at ") && lines[1].ends_with("(crate it)"), "{message}");
    assert!(lines[2].starts_with("  help: write `#[torch_impl(fake_test, Meta)] fn fft(…)`"), "{message}");
}

#[test]
fn gradients_and_transforms_see_nothing_unusual() {
    let x = to_fake(&x()).unwrap();
    x.set_requires_grad(true).unwrap();
    let y = aten::relu(&x.mul(2.0).unwrap().select(0, 1).unwrap()).unwrap();
    y.sum().unwrap().backward().unwrap();
    let grad = x.grad().unwrap();
    assert!(is_fake(&grad) && grad.sizes() == [2, 3]);
    let rows = vmap([&aten::detach(&x).unwrap()], |[row]| row.sum()).unwrap();
    assert!(is_fake(&rows) && rows.sizes() == [2]);
    let program = |inputs: &[Tensor]| {
        inputs[0].select(0, 0)?.add_(1.0)?;
        Ok(vec![inputs[0].t()?])
    };
    let plain = aten::detach(&x).unwrap();
    let (results, graph) = trace(&[plain], |inputs| functionalize(inputs, program)).unwrap();
    assert!(is_fake(&results[0]) && results[0].sizes() == [3, 2]);
    // A graph that was recorded without elements runs with elements.
    let real = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    assert_eq!(graph.run(&[real]).unwrap()[0].to_vec::<f64>().unwrap(), [2.0, 3.0, 3.0, 4.0]);
}

#[test]
fn random_numbers_are_not_drawn() {
    let generator = Generator::with_seed(3);
    {
        let _mode = FakeMode::new();
        assert!(is_fake(&init::kaiming_uniform(&[16, 8], &generator).unwrap()));
    }
    let drawn = init::uniform(&[4], 0.0, 1.0, &generator).unwrap().to_vec::<f32>().unwrap();
    let fresh = init::uniform(&[4], 0.0, 1.0, &Generator::with_seed(3)).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(drawn, fresh);
}

/// The network of the binary `digits`, in a step of training with more images than fit into any memory.
#[test]
fn a_training_step_costs_nothing() {
    let _mode = FakeMode::new();
    let generator = Generator::with_seed(0);
    let parameters = vec![
        init::kaiming_uniform(&[16, 1, 3, 3], &generator).unwrap(),
        init::zeros(&[16]).unwrap(),
        init::kaiming_uniform(&[32, 16, 3, 3], &generator).unwrap(),
        init::zeros(&[32]).unwrap(),
        init::kaiming_uniform(&[10, 32 * 16], &generator).unwrap(),
        init::zeros(&[10]).unwrap(),
    ];
    let count = 1 << 30;
    let images = aten::zeros::with(&[count, 1, 8, 8]).dtype(Some(DType::Float32)).call().unwrap();
    let labels = aten::zeros::with(&[count]).dtype(Some(DType::Int64)).call().unwrap();
    let loss = || {
        let convolve = |images: &Tensor, at: usize| {
            aten::relu(
                &aten::conv2d::with(images, &parameters[at])
                    .bias(Some(&parameters[at + 1]))
                    .padding(&[1, 1])
                    .call()?,
            )
        };
        let seen = aten::max_pool2d(&convolve(&convolve(&images, 0)?, 2)?, &[2, 2])?;
        let flat = aten::flatten_using_ints::with(&seen).start_dim(1).call()?;
        let logits = aten::linear::with(&flat, &parameters[4]).bias(Some(&parameters[5])).call()?;
        assert_eq!(logits.sizes(), [count, 10]);
        aten::cross_entropy_loss(&logits, &labels)
    };
    let mut optimizers: [Box<dyn Optimizer>; 2] = [
        Box::new(AdamW::new(parameters.clone(), 1e-3).unwrap()),
        Box::new(Sgd::new(parameters.clone(), 1e-3).unwrap()),
    ];
    for optimizer in &mut optimizers {
        loss().unwrap().backward().unwrap();
        optimizer.step().unwrap();
        optimizer.zero_grad().unwrap();
    }
    assert!(parameters.iter().all(is_fake));
}

#[test]
fn indices_that_are_numbers_say_how_many_are_picked() -> Result<()> {
    let (fake, rows) = (to_fake(&x())?, to_fake(&Tensor::from([1i64, 0, 1]))?);
    assert_eq!(aten::index_Tensor(&fake, &[Some(rows)])?.sizes(), [3, 3]);
    let mask = to_fake(&aten::gt_Scalar(&x(), 2.into())?)?;
    let error = aten::index_Tensor(&fake, &[Some(mask)]).unwrap_err().to_string();
    assert!(error.contains("depends on the values of elements"), "{error}");
    Ok(())
}

#[test]
fn numbers_that_are_not_there_are_not_needed_where_they_determine_no_size() -> Result<()> {
    let meta = |sizes: &[i64], dtype| Tensor::empty(sizes, dtype, Device::META);
    let (x, mask) = (meta(&[4, 2], DType::Float32)?, meta(&[4], DType::Bool)?);
    let written = aten::index_put(&x, &[Some(mask)], &meta(&[3, 2], DType::Float32)?)?;
    assert_eq!((written.sizes(), written.device()), (&[4, 2][..], Device::META));
    let (one, counts) = (meta(&[], DType::Float32)?, meta(&[4], DType::Int64)?);
    let spaced = aten::linspace_Tensor_Scalar::with(&one, 2.into(), 5).device(Some(Device::META)).call()?;
    assert_eq!((spaced.sizes(), spaced.dtype()), (&[5][..], DType::Float32));
    let repeated =
        aten::repeat_interleave_self_Tensor::with(&x, &counts).dim(Some(0)).output_size(Some(7)).call()?;
    assert_eq!(repeated.sizes(), [7, 2]);
    Ok(())
}
