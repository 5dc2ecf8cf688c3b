//! A program that lists what its crates registered.
#![forbid(unsafe_code)]
#![deny(warnings)]

mod list;

fn main() {
    list::print();
}
