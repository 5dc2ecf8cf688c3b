//! Replays the rows of each file.

mod autocast;
mod bad_schemas;
mod dispatch_calls;
mod dispatch_keys;
mod dispatch_tables;
mod gradients;
pub(crate) mod kernels;
pub(crate) mod programs;
mod promotion;
mod schemas;
mod traced;
mod vmap;

use crate::File;

pub(crate) const ALL: &[File] = &[
    File { name: "schemas", replay: schemas::canonical },
    File { name: "schema_inputs", replay: schemas::inputs },
    File { name: "bad_schemas", replay: bad_schemas::replay },
    File { name: "dispatch_keys", replay: dispatch_keys::replay },
    File { name: "dispatch_tables", replay: dispatch_tables::replay },
    File { name: "dispatch_calls", replay: dispatch_calls::replay },
    File { name: "promotion", replay: promotion::replay },
    File { name: "kernels", replay: kernels::replay },
    File { name: "programs", replay: programs::replay },
    File { name: "autocast", replay: autocast::replay },
    File { name: "vmap", replay: vmap::replay },
];

/// Files that can be replayed through a layer that must not change the results.
pub(crate) const THROUGH: &[(&str, File)] = &[
    ("functionalize", File { name: "programs", replay: programs::functionalized }),
    ("fake", File { name: "programs", replay: programs::fake }),
    ("trace", File { name: "programs", replay: traced::replay }),
];
