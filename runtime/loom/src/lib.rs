//! The lock-free files of the runtime and of the kernels, compiled with loom's atomics, and models that exercise them.
//!
//! These are the files themselves, not copies: they take their atomics from `crate::sync`, which is loom's here. `cargo
//! test --release` in this folder runs each model under every interleaving that C11 allows.
#![expect(dead_code, reason = "the models use a part of each file")]

#[path = "../../../kernels/loops/src/loops/parallel/door.rs"]
mod door;
#[path = "../../src/registry/names.rs"]
mod names;
#[path = "../../src/operator/slot.rs"]
mod slot;
#[path = "../../src/tensor/lease_word.rs"]
mod word;

mod error {
    /// The parts of an error that a refused lease needs.
    #[derive(Debug)]
    pub(crate) struct Error;

    pub(crate) enum ErrorKind {
        Busy,
    }

    pub(crate) type Result<T> = std::result::Result<T, Error>;

    impl Error {
        pub(crate) fn new(_kind: ErrorKind, _message: String) -> Self {
            Error
        }
    }
}

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
}

mod operator {
    /// The parts of an operator that its name needs.
    pub(crate) struct Operator;
}

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;
use std::panic::Location;
use sync::{AtomicPtr, Ordering};

use door::Door;
use slot::Slot;
use word::LeaseWord;

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// A table. Loom refuses to load from an atomic whose creation does not happen before the load, so reading a table too
/// early is detected.
struct Table {
    kernel: AtomicPtr<()>,
    /// Whether it is the first table, or one that is published while calls are observed; both lead to the stub.
    is_detour: bool,
    resolved: Option<&'static Table>,
}

impl Table {
    fn leak(kernel: usize) -> &'static Self {
        let kernel = AtomicPtr::new(std::ptr::without_provenance_mut(kernel));
        leak(Table { kernel, is_detour: false, resolved: None })
    }

    fn detour(resolved: Option<&'static Table>) -> &'static Self {
        leak(Table { kernel: AtomicPtr::new(std::ptr::null_mut()), is_detour: true, resolved })
    }

    fn kernel(&self) -> usize {
        self.kernel.load(Ordering::Relaxed).addr()
    }

    fn resolved(&'static self) -> Option<&'static Self> {
        self.kernel(); // read before the kinds of tables are distinguished
        if self.is_detour { self.resolved } else { Some(self) }
    }
}

/// The state that an operator's calls and its registry share. Kernel 0 is the stub.
struct Model {
    slot: Slot<Table>,
    initial: &'static Table,
    /// The registry behind its lock: the registered kernel, or `None` once the operator was removed.
    registered: Mutex<Option<usize>>,
    /// Whether calls are observed, so that each goes through the stub.
    watched: bool,
}

impl Model {
    fn new(watched: bool) -> Arc<Self> {
        let initial = Table::detour(None);
        let slot = Slot::new(AtomicPtr::new(std::ptr::from_ref(initial).cast_mut()));
        Arc::new(Model { slot, initial, registered: Mutex::new(Some(1)), watched })
    }

    fn table(&self) -> &'static Table {
        // SAFETY: tables are leaked.
        unsafe { &*self.slot.table() }
    }

    /// The kernel that a call runs; `None` if the call fails.
    fn call(&self) -> Option<usize> {
        match self.table().kernel() {
            0 => self.resolve(),
            kernel => Some(kernel),
        }
    }

    /// Resolves the operator, as the stub does.
    fn resolve(&self) -> Option<usize> {
        if let Some(resolved) = self.table().resolved() {
            return Some(resolved.kernel());
        }
        let registered = self.registered.lock().unwrap();
        let kernel = (*registered)?;
        Some(self.table().resolved().map_or_else(|| self.publish(kernel), Table::kernel))
    }

    /// Publishes a table; called with the lock held.
    fn publish(&self, kernel: usize) -> usize {
        let resolved = Table::leak(kernel);
        self.slot.publish(if self.watched { Table::detour(Some(resolved)) } else { resolved });
        kernel
    }

    fn register(&self, kernel: usize) {
        let mut registered = self.registered.lock().unwrap();
        if registered.is_some() {
            *registered = Some(kernel);
            if self.table().resolved().is_some() {
                self.publish(kernel);
            }
        }
    }

    fn remove(&self) {
        *self.registered.lock().unwrap() = None;
        // The lock is taken again, as by the next step of dropping a library.
        let _registered = self.registered.lock().unwrap();
        self.slot.publish(self.initial);
    }
}

/// First calls race with a registration: each runs a registered kernel, and the next call runs the newest.
pub fn first_calls_race_with_a_registration(watched: bool) {
    loom::model(move || {
        let model = Model::new(watched);
        let (first, second) = (model.clone(), model.clone());
        let caller = thread::spawn(move || first.call());
        let writer = thread::spawn(move || second.register(2));
        let here = model.call();
        assert!(matches!(here, Some(1 | 2)) && matches!(caller.join().unwrap(), Some(1 | 2)));
        writer.join().unwrap();
        assert_eq!(model.call(), Some(2));
    });
}

/// Calls race with a removal: each runs the kernel or fails, and none publishes the table again.
pub fn calls_race_with_a_removal(watched: bool) {
    loom::model(move || {
        let model = Model::new(watched);
        let (first, second) = (model.clone(), model.clone());
        let caller = thread::spawn(move || first.call());
        let writer = thread::spawn(move || second.remove());
        assert!(matches!(model.call(), None | Some(1)));
        assert!(matches!(caller.join().unwrap(), None | Some(1)));
        writer.join().unwrap();
        assert_eq!(model.call(), None);
    });
}

/// A name is looked up while the table of names grows: existing names are found, and a new one is either complete or
/// missing.
pub fn names_are_looked_up_while_the_table_grows() {
    loom::model(|| {
        let names = names::Names::leak();
        let name = |index: usize| format!("ns::op{index}");
        for index in 0..8 {
            names.add(&name(index), index, index);
        }
        // The reader is the second thread: loom forgets that a load matters to a later store once the writer loads too.
        let reader = thread::spawn(move || {
            let new = names.get(&name(9));
            let operator = new.and_then(names::Name::operator);
            let old = names.get(&name(3)).map(|name| name.entry);
            (old, new.map(|name| (name.entry, name.name_and_overload())), operator.is_some())
        });
        names.add(&name(8), 8, 8); // the table grows
        names.add(&name(9), 9, 9).set_operator(Some(leak(operator::Operator)));
        let (old, new, has_operator) = reader.join().unwrap();
        assert_eq!(old, Some(3));
        assert!(new.map_or(!has_operator, |new| new == (9, "op9")));
        assert!(names.get(&name(9)).is_some_and(|name| name.operator().is_some()));
    });
}

/// A value that a thread lends to others until it closes the door.
struct Room {
    door: Door,
    lent: UnsafeCell<u32>,
}

// SAFETY: loom detects whether two threads use the lent value at the same time.
unsafe impl Sync for Room {}

/// Threads borrow a value behind a door while its owner closes it: none of them still has it when the owner takes it
/// back.
pub fn visitors_are_out_before_what_they_borrow_ends() {
    loom::model(|| {
        let room = Arc::new(Room { door: Door::open(), lent: UnsafeCell::new(7) });
        let visit = |room: Arc<Room>| {
            move || {
                if !room.door.enter() {
                    return false;
                }
                // SAFETY: loom checks that no thread writes to it meanwhile.
                let seen = room.lent.with(|lent| unsafe { *lent });
                assert_eq!(seen, 7);
                room.door.leave()
            }
        };
        let visitors = [thread::spawn(visit(room.clone())), thread::spawn(visit(room.clone()))];
        room.door.close();
        let had_to_wait = !room.door.is_left();
        while !room.door.is_left() {
            thread::yield_now();
        }
        // SAFETY: all borrowers are done, so no other thread uses it; loom checks that.
        room.lent.with_mut(|lent| unsafe { *lent = 0 });
        let last_out = visitors.into_iter().map(|visitor| visitor.join().unwrap());
        let wakes = last_out.filter(|is_last| *is_last).count();
        assert!(wakes <= 1 && (wakes == 1 || !had_to_wait), "whoever leaves last says so");
    });
}

/// Elements, and their lease word.
struct Elements {
    word: LeaseWord,
    number: UnsafeCell<u32>,
}

// SAFETY: loom detects whether two threads use the number at the same time, one of which writes.
unsafe impl Sync for Elements {}

impl Elements {
    /// Returns whether a lease was available.
    fn read(&self) -> bool {
        let is_leased = self.word.share(Location::caller()).is_ok();
        if is_leased {
            // SAFETY: loom checks that no thread writes meanwhile.
            self.number.with(|number| unsafe { *number });
            self.word.give_back_shared();
        }
        is_leased
    }

    /// Returns the number of leases taken: 0 or 1.
    fn write(&self) -> u32 {
        let is_leased = self.word.take(Location::caller()).is_ok();
        if is_leased {
            // SAFETY: loom checks that no thread reads or writes meanwhile.
            self.number.with_mut(|number| unsafe { *number += 1 });
            self.word.give_back_exclusive();
        }
        u32::from(is_leased)
    }
}

/// Threads read and write an element under leases: none interferes with another, and a lease that was given back can be
/// taken again.
pub fn leases_keep_readers_and_writers_apart() {
    loom::model(|| {
        let elements = Arc::new(Elements { word: LeaseWord::new(), number: UnsafeCell::new(0) });
        let other = elements.clone();
        let other = thread::spawn(move || {
            other.read();
            other.write()
        });
        let written = elements.write();
        elements.read();
        let written = written + other.join().unwrap();
        assert!(elements.read(), "all leases were given back");
        // SAFETY: the threads have finished.
        assert_eq!(elements.number.with(|number| unsafe { *number }), written);
        assert_eq!(elements.write(), 1);
    });
}
