//! A library for programs in C, which lists what its crates registered.
#![deny(warnings)]

#[path = "../../linked/src/list.rs"]
mod list;

/// Prints the list.
#[unsafe(no_mangle)]
pub extern "C" fn print_registrations() {
    list::print();
}
