//! Tests of the public face, one module per theme.

mod golden;
mod hostile;
