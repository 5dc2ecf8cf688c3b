//! Tensors that are moved and written in the middle of a call.

use std::sync::{Mutex, PoisonError};

use torch_library::observe::{Event, Observer};
use torch_library::{Device, Result, Storage, Tensor, Value};

/// An observer of the calls that kernels make: it moves and writes tensors that they get, tensors that they return, and
/// those of the outermost call.
pub(super) fn observer(seed: usize, tensors: &[Tensor]) -> Observer {
    let state = std::sync::Arc::new(Mutex::new(Mover { state: seed as u64 + 1, own: tensors.to_vec() }));
    let at_end = state.clone();
    let of = |event: &Event<'_>, values: &[Value<'_>], mover: &Mutex<Mover>| {
        if event.depth > 0 {
            let tensors: Vec<Tensor> = values.iter().flat_map(Value::all_tensors).cloned().collect();
            mover.lock().unwrap_or_else(PoisonError::into_inner).step(&tensors);
        }
    };
    Observer::with_context(
        move |event| of(event, event.inputs, &state),
        move |event, ()| of(event, event.outputs, &at_end),
    )
    .with_inputs()
    .with_outputs()
    .with_redispatches()
}

struct Mover {
    state: u64,
    /// The tensors of the outermost call.
    own: Vec<Tensor>,
}

impl Mover {
    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 20) as usize % bound
    }

    /// Moves one of its own or of the given tensors, or none.
    fn step(&mut self, given: &[Tensor]) {
        let (from, other) =
            if self.below(2) == 0 { (self.own.clone(), given) } else { (given.to_vec(), &[][..]) };
        let tensors = if from.is_empty() { other } else { &from };
        if tensors.is_empty() || self.below(3) > 0 {
            return;
        }
        let place = self.below(tensors.len());
        let _ = self.move_or_write(&mut tensors[place].clone()); // refused while a kernel has a lease
    }

    fn move_or_write(&mut self, x: &mut Tensor) -> Result<()> {
        let (mut sizes, mut strides, offset) = (x.sizes().to_vec(), x.strides().to_vec(), x.storage_offset());
        let fresh = |sizes: &[i64]| Tensor::zeros(sizes, x.dtype(), x.device());
        let dim = match sizes.len() {
            0 => return x.resize(&[3], None),
            count => self.below(count),
        };
        match self.below(9) {
            0 => sizes[dim] /= 2,
            1 => (sizes[dim], strides[dim]) = (3 * sizes[dim].clamp(1, 64), 0),
            2 => {
                let small = fresh(&[1])?;
                return x.set_storage(small.storage().clone(), &[1], &[1], 0);
            }
            3 => {
                let other = fresh(&sizes)?;
                strides.reverse();
                sizes.reverse();
                return x.set_storage(other.storage().clone(), &sizes, &strides, 0);
            }
            4 => return x.resize(&[], None),
            5 => {
                sizes.swap(0, dim);
                strides.swap(0, dim);
            }
            6 => {
                let far = Storage::without_data(x.storage().nbytes(), Device::CPU);
                return x.set_storage(far, &sizes, &strides, offset);
            }
            7 => drop((sizes.remove(dim), strides.remove(dim))),
            _ => return self.write(x),
        }
        x.set_geometry(&sizes, &strides, offset)
    }

    /// Fills a tensor with a number that is no index.
    fn write(&mut self, x: &mut Tensor) -> Result<()> {
        let number = [1_i64 << 40, -5, i64::MIN][self.below(3)];
        x.fill(number).or_else(|_| x.fill(f64::NAN)).or_else(|_| x.fill(f32::NAN))
    }
}
