//! One module for each command.

pub(crate) mod call;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod dangling;
pub(crate) mod explain;
pub(crate) mod html;
pub(crate) mod list;
pub(crate) mod registrations;
pub(crate) mod schema;
pub(crate) mod table;
pub(crate) mod whatif;
