//! A record pairs an operator with the kernel of another one, which has different arguments.
#![forbid(unsafe_code)]

use torch_library::__private::{KernelRecord, Place, Record, SourceModule, register};
use torch_library::DispatchKey;
use torch_library::prelude::*;

torch_library! {
    pub mod numbers {
        takes(int x) -> int;
    }
}

torch_library! {
    pub mod tensors {
        reads(Tensor self) -> int;
    }
}

struct Reads;

impl tensors::reads::Kernel for Reads {
    fn reads(this: &Tensor) -> Result<i64> {
        Ok(this.numel())
    }
}

static MODULE: SourceModule = SourceModule { file: file!(), path: module_path!() };

static KERNELS: [KernelRecord; 1] = [KernelRecord {
    operator: &numbers::takes::OPERATOR,
    key: DispatchKey::CompositeExplicitAutograd,
    kernel: tensors::reads::typed::<Reads>(),
    derivative: None,
    function: "reads",
    overrides: false,
    place: Place { module: &MODULE, line: 1, column: 1 },
}];

static RECORD: Record = Record::Kernels(&KERNELS);

fn main() {
    register(&[&RECORD]);
    let end = numbers::takes(0x4141_4141);
    assert!(end.is_err(), "an address of our choice was followed: {end:?}");
}
