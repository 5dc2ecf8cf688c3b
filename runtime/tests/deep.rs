//! Chains of a hundred thousand objects, each of which owns the next: they are dropped, walked and printed without a
//! deep stack, or refused.
#![forbid(unsafe_code)]

use std::sync::Arc;

use torch_library::autograd::{self, Context, Function};
use torch_library::observe::{Observer, Scope};
use torch_library::prelude::*;
use torch_library::vmap::{Level, Randomness};
use torch_library::{
    Device, Dispatcher, ErrorKind, Library, LibraryKind, RuntimeKernel, Storage, StorageImpl, limits,
};

const DEPTH: usize = 100_000;

fn leaf() -> Result<Tensor> {
    let leaf = Tensor::from([1.0]);
    leaf.set_requires_grad(true)?;
    Ok(leaf)
}

#[test]
fn gradients_have_gradients() -> Result<()> {
    let first = Tensor::from([1.0]);
    let last = (0..DEPTH).try_fold(first, |grad, _| {
        let tensor = Tensor::from([1.0]);
        tensor.set_grad(Some(grad))?;
        Ok::<_, Error>(tensor)
    })?;
    assert!(last.grad().and_then(|grad| grad.grad()).is_some());
    drop(last);
    Ok(())
}

#[test]
fn hooks_of_leaves_hold_leaves() -> Result<()> {
    let first = leaf()?;
    let weak = first.downgrade();
    let last = (0..DEPTH).try_fold(first, |held, _| {
        let next = leaf()?;
        next.register_hook(move |_| Ok(Some(held.clone())))?;
        Ok::<_, Error>(next)
    })?;
    drop(last);
    assert!(weak.upgrade().is_none());
    Ok(())
}

/// Copies its input; it owns a tensor that is not part of the graph.
struct Holding(Tensor);

impl Function for Holding {
    fn name(&self) -> &'static str {
        "HoldingBackward"
    }

    fn forward(&self, context: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        context.save_for_backward(&[&self.0]);
        Ok(vec![Tensor::from(inputs[0].to_vec::<f64>()?)])
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        Ok(grads)
    }
}

#[test]
fn functions_and_hooks_of_nodes_hold_graphs() -> Result<()> {
    let (first, x) = (leaf()?, leaf()?);
    let weak = first.downgrade();
    let last = (0..DEPTH).try_fold(first, |held, step| {
        let function = Holding(if step % 2 == 0 { held.clone() } else { x.clone() });
        let next = autograd::apply(function, &[&x])?.remove(0);
        next.register_hook(move |_| Ok(Some(held.clone())))?;
        Ok::<_, Error>(next)
    })?;
    drop(last);
    assert!(weak.upgrade().is_none());
    Ok(())
}

#[test]
fn backends_own_storages_and_wrappers_own_both() -> Result<()> {
    struct Owner {
        host: Storage,
        _wrapper: Option<Tensor>,
    }
    impl StorageImpl for Owner {
        fn nbytes(&self) -> usize {
            self.host.nbytes()
        }
        fn device(&self) -> Device {
            self.host.device()
        }
        fn host(&self) -> Option<&Storage> {
            Some(&self.host)
        }
    }
    let alive = Arc::new(());
    let keys = DispatchKeySet::from_key(DispatchKey::TESTING_ONLY_GenericWrapper);
    let geometry = Tensor::from([1.0]).geometry().clone();
    let first = Storage::from_vec(vec![1.0]);
    let (storage, wrapper) = (0..DEPTH).try_fold((first, None), |(host, wrapper), _| {
        let storage = Storage::new(Owner { host, _wrapper: wrapper });
        let content = (storage.clone(), alive.clone());
        let wrapper = Tensor::wrapper(storage.clone(), &geometry, DType::Float64, keys, content)?;
        Ok::<_, Error>((storage, Some(wrapper)))
    })?;
    assert_eq!(wrapper.as_ref().map(ToString::to_string).unwrap_or_default(), WRAPPER);
    drop((storage, wrapper));
    assert_eq!(Arc::strong_count(&alive), 1);
    Ok(())
}

/// Runs on a thread whose stack is too small for a recursion as deep as `LISTENERS`.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    const STACK: usize = 256 * 1024;
    std::thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap();
}

/// The length of the chains of listeners; each listener searches the list of all of them for itself when dropped.
const LISTENERS: usize = if cfg!(miri) { 100 } else { 3000 };

#[test]
fn observers_hold_observers() {
    on_a_small_stack(|| {
        let alive = Arc::new(());
        let last = (0..LISTENERS).fold(None, |held, _| {
            let held = (held, alive.clone());
            let observer = Observer::new(move |_| _ = &held).of_scopes(&[Scope::User]);
            Some(observer.on_all_threads())
        });
        drop(last);
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}

#[test]
fn listeners_to_registrations_hold_listeners() {
    on_a_small_stack(|| {
        let (alive, dispatcher) = (Arc::new(()), Dispatcher::leak_empty());
        let last = (0..LISTENERS).fold(None, |held, _| {
            let held = (held, alive.clone());
            Some(dispatcher.listen(move |_| _ = &held))
        });
        drop(last);
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}

#[test]
fn libraries_hold_libraries() {
    on_a_small_stack(|| {
        let (alive, dispatcher) = (Arc::new(()), Dispatcher::leak_empty());
        let last = (0..LISTENERS).fold(None, |held, number| {
            let (name, held) = (format!("nested{number}"), (held, alive.clone()));
            let mut library = Library::open(dispatcher, LibraryKind::Definition, &name, None).unwrap();
            library.define("f() -> ()").unwrap();
            let kernel = RuntimeKernel::boxed(move |_, _, _| {
                let _ = &held;
                Ok(())
            });
            library.implement("f", DispatchKey::CPU, kernel).unwrap();
            Some(library)
        });
        drop(last);
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}

const WRAPPER: &str = "tensor(..., size=(1,), dtype=torch.float64)";

#[test]
fn a_panic_in_a_drop_loses_nothing_else() {
    struct Loud {
        panics: bool,
        alive: Arc<()>,
        _inside: Option<Tensor>,
    }
    impl Drop for Loud {
        fn drop(&mut self) {
            assert!(!self.panics, "{} alive", Arc::strong_count(&self.alive));
        }
    }
    let alive = Arc::new(());
    let keys = DispatchKeySet::from_key(DispatchKey::TESTING_ONLY_GenericWrapper);
    let of = |panics, inside: Option<Tensor>| {
        let x = Tensor::from([1.0]);
        let content = Loud { panics, alive: alive.clone(), _inside: inside };
        Tensor::wrapper(x.storage().clone(), x.geometry(), DType::Float64, keys, content).unwrap()
    };
    let nested = of(true, Some(of(false, Some(of(true, Some(of(false, None)))))));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(nested))).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("5 alive"));
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn levels_are_counted() -> Result<()> {
    let mut guards = Vec::new();
    while guards.len() < limits::LEVELS {
        guards.push(match guards.len() % 2 {
            0 => Level::enter(1, Randomness::default())?,
            _ => Level::enter_grad()?,
        });
    }
    for refused in [Level::enter(1, Randomness::default()), Level::enter_grad()] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert_eq!(error.to_string(), "vmap is 64 levels deep on this thread, at most 64 are allowed");
    }
    drop(guards.pop());
    drop(Level::enter_grad()?);
    while let Some(guard) = guards.pop() {
        drop(guard);
    }
    Ok(())
}

#[test]
fn dimensions_are_counted() -> Result<()> {
    const MESSAGE: &str = "200000 dimensions, a tensor has at most 64";
    let many = vec![1; 200_000];
    let mut x = Tensor::from([1.0]);
    let refused = [
        Tensor::zeros(&many, DType::Float32, Device::CPU).map(drop),
        Tensor::zeros(&many, DType::Float32, Device::META).map(drop),
        Tensor::empty_strided(&many, &many, DType::Float32, Device::CPU).map(drop),
        Tensor::from_vec(vec![1.0], &many).map(drop),
        x.strided_view(&many, &many, 0).map(drop),
        x.set_geometry(&many, &many, 0),
        x.resize(&many, None),
    ];
    for refused in refused {
        let error = refused.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Shape, MESSAGE));
    }
    assert_eq!(x.sizes(), [1]);
    let most = x.strided_view(&[1; limits::DIMENSIONS], &[1; limits::DIMENSIONS], 0)?;
    assert_eq!(
        most.to_string(),
        format!("tensor({}1.{},\n       dtype=torch.float64)", "[".repeat(64), "]".repeat(64))
    );
    Ok(())
}

#[test]
fn a_text_has_an_end_whatever_the_sizes() -> Result<()> {
    let one = Tensor::from([1.0f32]);
    let text = |sizes: &[i64]| Ok::<_, Error>(one.strided_view(sizes, &vec![0; sizes.len()], 0)?.to_string());
    let twos = text(&[2; 62])?;
    assert!(twos.starts_with("tensor(...,\n       size=(2, 2, 2,") && twos.len() < 300, "{twos}");
    assert!(text(&[1 << 12; 5])?.starts_with("tensor([[[[[1., 1., 1.,  ..., 1., 1., 1.],"));
    assert_eq!(text(&[100; 9])?, "tensor(..., size=(100, 100, 100, 100, 100, 100, 100, 100, 100))");
    assert_eq!(text(&[1 << 60])?, "tensor([1., 1., 1.,  ..., 1., 1., 1.])");
    assert!(text(&[1 << 20, 0, 1 << 20])?.starts_with("tensor([], size=(1048576, 0, 1048576)"));
    Ok(())
}
