//! A record in the list, with the build of the runtime that it was compiled with.
//!
//! A plug-in is compiled apart from the program that loads it, perhaps with other sources of the runtime, in which
//! records and tensors have other fields. Cargo gives a package the same symbols whatever its sources are, so the
//! dynamic linker finds nothing wrong. (Of another compiler, version, profile or feature it does: symbols have hashes
//! of these.)

use super::Record;

/// What tells two builds of the runtime apart that the dynamic linker takes for one.
const BUILD: u64 = torch_library_macros::hash_of_sources!();

/// A record in the list.
///
/// Builds agree on this type alone: the record may only be read if the build is this one.
#[repr(C)]
pub struct Submitted {
    build: u64,
    module: &'static str,
    record: Record,
}

impl Submitted {
    /// A record of this build, with the module that it is from.
    pub const fn new(record: Record, module: &'static str) -> Self {
        Submitted { build: BUILD, module, record }
    }

    /// The record, if it is one of this build.
    pub(super) fn record(&self) -> Option<&Record> {
        (self.build == BUILD).then_some(&self.record)
    }

    /// The module of the record, if it is one of another build.
    pub(super) fn foreign_module(&self) -> Option<&'static str> {
        (self.build != BUILD).then_some(self.module)
    }
}

/// A record as another build would make it, for tests.
#[doc(hidden)]
pub const fn submitted_by_another_build(record: Record, module: &'static str) -> Submitted {
    Submitted { build: !BUILD, module, record }
}
