//! The out variants of Fourier transforms, and windows.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    bartlett_window_out: bartlett_window => "bartlett_window.out(int window_length, *, Tensor(a!) out) -> Tensor(a!)";
    bartlett_window_periodic_out: bartlett_window_periodic =>
        "bartlett_window.periodic_out(int window_length, bool periodic, *, Tensor(a!) out) -> Tensor(a!)";
    blackman_window_out: blackman_window => "blackman_window.out(int window_length, *, Tensor(a!) out) -> Tensor(a!)";
    blackman_window_periodic_out: blackman_window_periodic =>
        "blackman_window.periodic_out(int window_length, bool periodic, *, Tensor(a!) out) -> Tensor(a!)";
    _fft_c2c_out: _fft_c2c Castable RowMajor =>
        "_fft_c2c.out(Tensor self, SymInt[] dim, int normalization, bool forward, *, Tensor(a!) out) -> Tensor(a!)";
    _fft_c2r_out: _fft_c2r Castable RowMajor =>
        "_fft_c2r.out(Tensor self, int[] dim, int normalization, SymInt last_dim_size, *, Tensor(a!) out) -> Tensor(a!)";
    fft_fft2_out: fft_fft2 Castable RowMajor =>
        "fft_fft2.out(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_fft_out: fft_fft Castable RowMajor =>
        "fft_fft.out(Tensor self, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_fftfreq_out: fft_fftfreq OfAnySizes => "fft_fftfreq.out(int n, float d=1., *, Tensor(a!) out) -> Tensor(a!)";
    fft_fftn_out: fft_fftn Castable RowMajor =>
        "fft_fftn.out(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_hfft2_out: fft_hfft2 Castable RowMajor Real =>
        "fft_hfft2.out(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_hfft_out: fft_hfft Castable RowMajor Real =>
        "fft_hfft.out(Tensor self, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_hfftn_out: fft_hfftn Castable RowMajor Real =>
        "fft_hfftn.out(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_ifft2_out: fft_ifft2 Castable RowMajor =>
        "fft_ifft2.out(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_ifft_out: fft_ifft Castable RowMajor AsResultOfReal =>
        "fft_ifft.out(Tensor self, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_ifftn_out: fft_ifftn Castable RowMajor =>
        "fft_ifftn.out(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_ihfft2_out: fft_ihfft2 Castable RowMajor =>
        "fft_ihfft2.out(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_ihfft_out: fft_ihfft Castable AsResultOfReal =>
        "fft_ihfft.out(Tensor self, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_ihfftn_out: fft_ihfftn Castable RowMajor =>
        "fft_ihfftn.out(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_irfft2_out: fft_irfft2 Castable RowMajor Real =>
        "fft_irfft2.out(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_irfft_out: fft_irfft Castable RowMajor Real =>
        "fft_irfft.out(Tensor self, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_irfftn_out: fft_irfftn Castable RowMajor Real =>
        "fft_irfftn.out(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    _fft_r2c_out: _fft_r2c Castable RowMajor =>
        "_fft_r2c.out(Tensor self, int[] dim, int normalization, bool onesided, *, Tensor(a!) out) -> Tensor(a!)";
    fft_rfft2_out: fft_rfft2 Castable RowMajor =>
        "fft_rfft2.out(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_rfft_out: fft_rfft Castable RowMajor =>
        "fft_rfft.out(Tensor self, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    fft_rfftfreq_out: fft_rfftfreq OfAnySizes => "fft_rfftfreq.out(int n, float d=1., *, Tensor(a!) out) -> Tensor(a!)";
    fft_rfftn_out: fft_rfftn Castable RowMajor =>
        "fft_rfftn.out(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor(a!) out) -> Tensor(a!)";
    hamming_window_out: hamming_window => "hamming_window.out(int window_length, *, Tensor(a!) out) -> Tensor(a!)";
    hamming_window_periodic_alpha_beta_out: hamming_window_periodic_alpha_beta =>
        "hamming_window.periodic_alpha_beta_out(int window_length, bool periodic, float alpha, float beta, *, Tensor(a!) out) -> Tensor(a!)";
    hamming_window_periodic_alpha_out: hamming_window_periodic_alpha =>
        "hamming_window.periodic_alpha_out(int window_length, bool periodic, float alpha, *, Tensor(a!) out) -> Tensor(a!)";
    hamming_window_periodic_out: hamming_window_periodic =>
        "hamming_window.periodic_out(int window_length, bool periodic, *, Tensor(a!) out) -> Tensor(a!)";
    hann_window_out: hann_window => "hann_window.out(int window_length, *, Tensor(a!) out) -> Tensor(a!)";
    hann_window_periodic_out: hann_window_periodic =>
        "hann_window.periodic_out(int window_length, bool periodic, *, Tensor(a!) out) -> Tensor(a!)";
    kaiser_window_beta_out: kaiser_window_beta =>
        "kaiser_window.beta_out(int window_length, bool periodic, float beta, *, Tensor(a!) out) -> Tensor(a!)";
    kaiser_window_out: kaiser_window => "kaiser_window.out(int window_length, *, Tensor(a!) out) -> Tensor(a!)";
    kaiser_window_periodic_out: kaiser_window_periodic =>
        "kaiser_window.periodic_out(int window_length, bool periodic, *, Tensor(a!) out) -> Tensor(a!)";
}
