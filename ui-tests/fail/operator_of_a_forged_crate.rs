#![forbid(unsafe_code)]
mod root { pub mod __private { pub use crate::forged as operator; pub use torch_library::__private::*; } }
#[macro_export]
macro_rules! forged { (name: $name:ident, symbol: $symbol:literal, lifetimes: $lifetimes:tt, arguments: 2 $arguments:tt, output: $output:ty, signature: $from:tt -> $to:ty, returned: 1 [$r:ident { 0 }], $($spec:tt)*) => {
    torch_library::__operator! { name: $name, symbol: $symbol, lifetimes: $lifetimes, arguments: 2 $arguments, output: $output, signature: $from -> $to, returned: 1 [$r { 1 }], $($spec)* }
} }
torch_library::declare_library! { [crate::root] pub mod m { f(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!); } }
fn main() {}
