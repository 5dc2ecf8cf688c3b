//! A tensor's storage and geometry, which can be replaced while they are read: reading the geometry is one atomic load,
//! without a lock or a reference count.
#![expect(unsafe_code, reason = "readers follow a raw pointer to the current geometry")]

use std::collections::HashSet;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::geometry::Geometry;
use super::storage::StorageRef;
use super::{Storage, StorageView};
use crate::ensure;
use crate::error::Result;

/// A placement, and its replacements.
///
/// # How it works
/// 1. The first placement is stored inline, which is all that most tensors ever need: `geometry` is null and `later`
///    empty.
/// 2. [`publish`](Placement::publish) stores the address of the new geometry in `geometry`. No geometry is moved or
///    dropped before the `Placement` itself is, so a reader's reference stays valid however often it is replaced
///    meanwhile. Equal geometries are kept once: a tensor that is transposed in place a million times keeps two.
/// 3. Old storages are not kept: once a tensor was given other memory, readers get a handle of their own.
/// 4. With `&mut` there are no readers, and everything but the new placement can be dropped:
///    [`replace`](Placement::replace).
///
/// # Orderings
/// The store of an address is a release and its load an acquire, so a reader that sees an address sees the geometry
/// behind it. The mutex orders writers among themselves, and with code that reads geometry and storage together.
pub(super) struct Placement {
    first: StorageView,
    /// Null for the first geometry, otherwise an address inside an `Arc` of `later`.
    geometry: AtomicPtr<Geometry>,
    /// Empty for most tensors, whose placement is never replaced.
    later: OnceLock<Box<Later>>,
}

/// The replacements of the first placement.
#[derive(Default)]
struct Later {
    /// Whether the current storage is not the first one.
    has_moved: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The current storage, if it is not the first one.
    storage: Option<Storage>,
    /// Only grows; `Arc` rather than `Box` because its contents may be pointed to while it moves.
    geometries: HashSet<Arc<Geometry>>,
}

/// The maximum number of different geometries of a tensor while it has several handles: each is kept.
const MOST_GEOMETRIES: usize = if cfg!(test) { 1 << 8 } else { 1 << 20 };

impl Later {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Placement {
    #[inline]
    pub(super) fn new(first: StorageView) -> Self {
        Placement { first, geometry: AtomicPtr::new(ptr::null_mut()), later: OnceLock::new() }
    }

    /// The current geometry.
    #[inline(always)]
    pub(super) fn geometry(&self) -> &Geometry {
        let current = self.geometry.load(Ordering::Acquire);
        if current.is_null() {
            return &self.first.geometry;
        }
        // SAFETY: an address that is not null points into an `Arc` in `later`, of which none is dropped while `self` is
        // borrowed; there is never a `&mut` to its contents. The store was a release and the load an acquire, so the
        // contents are visible.
        unsafe { &*current }
    }

    /// The current storage.
    #[inline(always)]
    pub(super) fn storage(&self) -> StorageRef<'_> {
        match self.later.get() {
            None => StorageRef::Borrowed(&self.first.storage),
            Some(later) => self.later_storage(later),
        }
    }

    /// The storage, if nothing was ever replaced.
    #[inline(always)]
    pub(super) fn first_storage(&self) -> Option<&Storage> {
        match self.later.get() {
            None => Some(&self.first.storage),
            Some(_) => None,
        }
    }

    /// The first storage, which lives until the placement is dropped, or replaced by code with exclusive access.
    #[inline]
    pub(super) fn first(&self) -> &Storage {
        &self.first.storage
    }

    /// A consistent pair of storage and geometry.
    #[inline]
    pub(super) fn place(&self) -> (StorageRef<'_>, &Geometry) {
        match self.later.get() {
            None => (StorageRef::Borrowed(&self.first.storage), &self.first.geometry),
            Some(later) => {
                let state = later.lock();
                (self.look(&state), self.geometry())
            }
        }
    }

    #[cold]
    fn later_storage(&self, later: &Later) -> StorageRef<'_> {
        match later.has_moved.load(Ordering::Acquire) {
            true => self.look(&later.lock()),
            false => StorageRef::Borrowed(&self.first.storage),
        }
    }

    fn look(&self, state: &State) -> StorageRef<'_> {
        match &state.storage {
            Some(storage) => StorageRef::Owned(storage.clone()),
            None => StorageRef::Borrowed(&self.first.storage),
        }
    }

    /// Whether this is the current storage.
    #[inline(always)]
    pub(super) fn is_in(&self, storage: &Storage) -> bool {
        match self.later.get() {
            None => true, // there is no other
            Some(later) => later.lock().storage.as_ref().unwrap_or(&self.first.storage).is_same(storage),
        }
    }

    /// Makes a placement current for all handles, if `hold` succeeds for the old storage; its result is held meanwhile.
    ///
    /// # Errors
    /// The error of `hold`; more geometries than are kept.
    pub(super) fn publish<G>(
        &self,
        place: StorageView,
        hold: impl FnOnce(Storage) -> Result<G>,
    ) -> Result<()> {
        let later = self.later.get_or_init(Box::default);
        let mut state = later.lock();
        let before = state.storage.clone().unwrap_or_else(|| self.first.storage.clone());
        let held = hold(before.clone())?;
        let geometry = if place.geometry == self.first.geometry {
            ptr::null()
        } else {
            Arc::as_ptr(&state.keep(place.geometry)?)
        };
        self.geometry.store(geometry.cast_mut(), Ordering::Release);
        let is_first = place.storage.is_same(&self.first.storage);
        let gone = std::mem::replace(&mut state.storage, (!is_first).then_some(place.storage));
        later.has_moved.store(state.storage.is_some(), Ordering::Release);
        drop(held);
        drop(state);
        drop((gone, before)); // without the lock: dropping may run a backend's code
        Ok(())
    }

    /// The geometry of a tensor to which there is no other reference yet.
    #[inline]
    pub(super) fn first_mut(&mut self) -> &mut Geometry {
        &mut self.first.geometry
    }

    /// The storage and geometry, if they were never replaced.
    #[inline]
    pub(super) fn only_mut(&mut self) -> Option<&mut StorageView> {
        self.later.get().is_none().then_some(&mut self.first)
    }

    /// Makes a placement the only one.
    pub(super) fn replace(&mut self, place: StorageView) {
        *self = Placement::new(place);
    }
}

impl State {
    fn keep(&mut self, geometry: Geometry) -> Result<Arc<Geometry>> {
        if let Some(kept) = self.geometries.get(&geometry) {
            return Ok(kept.clone());
        }
        ensure!(
            self.geometries.len() < MOST_GEOMETRIES,
            NotSupported,
            "a tensor with several handles has had {MOST_GEOMETRIES} different sizes, strides and offsets, all of which are \
             kept while it lives: take a new tensor, or drop the other handles first"
        );
        let kept = Arc::new(geometry);
        self.geometries.insert(kept.clone());
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    fn place(sizes: &[i64]) -> StorageView {
        let geometry = Geometry::contiguous(sizes).unwrap();
        let storage = Storage::zeroed(geometry.numel() as usize, Device::CPU).unwrap();
        StorageView { storage, geometry }
    }

    fn publish(placement: &Placement, place: StorageView) -> Result<()> {
        placement.publish(place, |_| Ok(()))
    }

    #[test]
    fn old_geometries_stay_good() {
        let placement = Placement::new(place(&[1]));
        let first = placement.geometry();
        publish(&placement, place(&[2])).unwrap();
        let second = placement.geometry();
        publish(&placement, place(&[1])).unwrap();
        assert_eq!(
            (first.sizes(), second.sizes(), placement.geometry().sizes()),
            (&[1][..], &[2][..], &[1][..])
        );
        assert!(ptr::eq(first, placement.geometry()), "an earlier geometry is published again");
    }

    #[test]
    fn equal_geometries_are_kept_once_and_storages_not_at_all() {
        let mut placement = Placement::new(place(&[9]));
        let moved = place(&[1]).storage;
        for i in 0..1000 {
            let geometry = Geometry::contiguous(&[i % 3]).unwrap();
            publish(&placement, StorageView { storage: moved.clone(), geometry }).unwrap();
        }
        assert_eq!(placement.later.get().unwrap().lock().geometries.len(), 3);
        publish(&placement, place(&[4])).unwrap();
        assert!(moved.is_sole_owner());
        placement.replace(place(&[7]));
        assert!(placement.geometry().sizes() == [7] && placement.later.get().is_none());
    }

    #[test]
    fn geometries_without_end_are_refused() {
        let placement = Placement::new(place(&[0]));
        let storage = placement.first.storage.clone();
        let mut offsets = 0i64..;
        let refusal = offsets.find_map(|offset| {
            let geometry = Geometry::new(&[0], &[1], offset).unwrap();
            publish(&placement, StorageView { storage: storage.clone(), geometry }).err()
        });
        assert!(refusal.unwrap().to_string().contains("has had 256 different sizes"));
        assert_eq!(offsets.start, MOST_GEOMETRIES as i64 + 2, "the first one is not counted");
    }

    #[test]
    fn a_refused_condition_changes_nothing() {
        let placement = Placement::new(place(&[1]));
        let refused = placement.publish(place(&[2]), |_| -> Result<()> { crate::bail!(Busy, "no") });
        assert!(refused.is_err() && placement.geometry().sizes() == [1]);
    }

    #[test]
    fn readers_see_whole_places_while_writers_publish() {
        let placement = Placement::new(place(&[1]));
        let rounds = if cfg!(miri) { 20 } else { 500 };
        std::thread::scope(|scope| {
            for writer in 0..2 {
                let placement = &placement;
                scope.spawn(move || {
                    (0..rounds).for_each(|i| publish(placement, place(&[i % 7 + 2 + writer])).unwrap());
                });
            }
            for _ in 0..rounds * 4 {
                let (storage, geometry) = placement.place();
                assert_eq!(storage.nbytes() as i64, geometry.numel());
            }
        });
    }
}
