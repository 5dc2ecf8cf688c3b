//! A hundred operators, each with a CPU, a meta and a derivative kernel, to measure the cost of importing them.

use torch_library::{derivatives, prelude::*};

macro_rules! operators {
    ($grad:ident; $($name:ident)*) => {
        torch_library! {
            /// Operators to import.
            pub mod hundred {
                $(
                    /// The tensor.
                    $name(Tensor self) -> Tensor;
                )*
            }
        }

        #[torch_impl(hundred, CPU, Meta)]
        mod kernels {
            use torch_library::prelude::*;

            $(fn $name(this: &Tensor) -> Result<Tensor> {
                Ok(this.clone())
            })*
        }

        derivatives! {
            in hundred;
            $($name(Tensor self) -> Tensor {
                self => $grad.clone(),
            })*
        }
    };
}

operators! {
    grad; // `grad` as formulas use it
    f00 f01 f02 f03 f04 f05 f06 f07 f08 f09 f10 f11 f12 f13 f14 f15 f16 f17 f18 f19
    f20 f21 f22 f23 f24 f25 f26 f27 f28 f29 f30 f31 f32 f33 f34 f35 f36 f37 f38 f39
    f40 f41 f42 f43 f44 f45 f46 f47 f48 f49 f50 f51 f52 f53 f54 f55 f56 f57 f58 f59
    f60 f61 f62 f63 f64 f65 f66 f67 f68 f69 f70 f71 f72 f73 f74 f75 f76 f77 f78 f79
    f80 f81 f82 f83 f84 f85 f86 f87 f88 f89 f90 f91 f92 f93 f94 f95 f96 f97 f98 f99
}
