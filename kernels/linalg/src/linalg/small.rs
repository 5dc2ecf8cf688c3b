//! Spectra of small matrices: the algorithms and conventions that LAPACK documents, so that signs, phases and order are
//! those of its answers.

pub(super) mod columns;
pub(super) mod field;
pub(super) mod general;
pub(super) mod hermitian;
pub(super) mod implicit_qr;
pub(super) mod root_free;
pub(super) mod rotation;
pub(super) mod scale;
pub(super) mod svd;

mod balance;
mod bidiagonal;
mod complex_schur;
mod deflation;
mod eigenvectors;
mod hessenberg;
mod implicit_ql;
mod real_schur;
mod reflection;
mod triangle;
mod tridiagonal;
