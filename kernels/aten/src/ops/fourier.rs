//! Fourier transforms, the frequencies of their results, window functions, and short-time Fourier transforms.

use torch_library::torch_library;

torch_library! {
    /// Fourier transforms.
    #[methods(FourierMethods)]
    #[kernels_in(torch_library_fourier)]
    pub mod aten extends "aten" {
        /// The Fourier transform of a complex tensor along the given non-negative dimensions, of which the other
        /// transforms are made.
        ///
        /// `normalization` is 0 for none, 1 for division by the square root of the number of transformed elements, 2
        /// for division by that number.
        ///
        /// # Errors
        /// A real dtype, a dimension that is out of range or named twice, another `normalization`.
        ///
        /// PyTorch: `aten::_fft_c2c`.
        _fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor;

        /// [`_fft_c2c`](fn@_fft_c2c) of a real tensor; with `onesided`, the last of these dimensions keeps only the
        /// non-negative frequencies.
        ///
        /// # Errors
        /// The errors of [`_fft_c2c`](fn@_fft_c2c); a complex dtype, no dimension.
        ///
        /// PyTorch: `aten::_fft_r2c`.
        _fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor;

        /// The backward transform to real elements: from one-sided frequencies, as of [`_fft_r2c`](fn@_fft_r2c), to
        /// `last_dim_size` elements in the last of these dimensions.
        ///
        /// # Errors
        /// The errors of [`_fft_c2c`](fn@_fft_c2c); no dimension, a size that does not fit `last_dim_size`.
        ///
        /// PyTorch: `aten::_fft_c2r`.
        _fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor;

        /// The discrete Fourier transform along a dimension. If `n` is given, the input is first trimmed, or padded
        /// with zeros, to `n` elements.
        ///
        /// `norm` says which transform is divided by `n`: `"backward"` (the default) the inverse one, `"forward"` the
        /// forward one; with `"ortho"`, both are divided by its square root.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let x = Tensor::from([1.0, 0.0, -1.0, 0.0]);
        /// let y = aten::fft_fft(&x)?;
        /// assert_eq!(aten::real(&y)?.to_vec::<f64>()?, [0.0, 2.0, 0.0, 2.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// A dimension out of range, no elements to transform, an unknown `norm`, `float16` or `bfloat16`.
        ///
        /// PyTorch: `torch.fft.fft`.
        fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor;

        /// The inverse of [`fft_fft`](fn@fft_fft).
        ///
        /// # Errors
        /// The errors of [`fft_fft`](fn@fft_fft).
        ///
        /// PyTorch: `torch.fft.ifft`.
        fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor;

        /// [`fft_fft`](fn@fft_fft) of real input: only the `n / 2 + 1` non-negative frequencies, as the others are
        /// their conjugates.
        ///
        /// # Errors
        /// The errors of [`fft_fft`](fn@fft_fft); a complex dtype.
        ///
        /// PyTorch: `torch.fft.rfft`.
        fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor;

        /// The inverse of [`fft_rfft`](fn@fft_rfft): `n` real elements, an even number of them unless `n` is given.
        ///
        /// # Errors
        /// The errors of [`fft_fft`](fn@fft_fft); one element, unless `n` is given.
        ///
        /// PyTorch: `torch.fft.irfft`.
        fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor;

        /// [`fft_fft`](fn@fft_fft) of a Hermitian-symmetric signal, given by its first half: `n` real elements.
        ///
        /// # Errors
        /// The errors of [`fft_fft`](fn@fft_fft); one element, unless `n` is given.
        ///
        /// PyTorch: `torch.fft.hfft`.
        fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor;

        /// The inverse of [`fft_hfft`](fn@fft_hfft): the first `n / 2 + 1` elements, computed from real input.
        ///
        /// # Errors
        /// The errors of [`fft_fft`](fn@fft_fft); a complex dtype.
        ///
        /// PyTorch: `torch.fft.ihfft`.
        fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor;

        /// The Fourier transform along several dimensions: all of them, unless `s` or `dim` is given.
        ///
        /// `s` has a size for each dimension, -1 for that of the tensor; without `dim`, these are the last dimensions.
        ///
        /// # Errors
        /// A dimension out of range or named twice, numbers of sizes and dimensions that differ, no elements to
        /// transform, an unknown `norm`, `float16` or `bfloat16`.
        ///
        /// PyTorch: `torch.fft.fftn`.
        fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor;

        /// The inverse of [`fft_fftn`](fn@fft_fftn).
        ///
        /// # Errors
        /// The errors of [`fft_fftn`](fn@fft_fftn).
        ///
        /// PyTorch: `torch.fft.ifftn`.
        fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor;

        /// [`fft_fftn`](fn@fft_fftn) of real input: the last of these dimensions keeps only the non-negative
        /// frequencies.
        ///
        /// # Errors
        /// The errors of [`fft_fftn`](fn@fft_fftn); a complex dtype, no dimension.
        ///
        /// PyTorch: `torch.fft.rfftn`.
        fft_rfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor;

        /// The inverse of [`fft_rfftn`](fn@fft_rfftn).
        ///
        /// # Errors
        /// The errors of [`fft_fftn`](fn@fft_fftn); no dimension.
        ///
        /// PyTorch: `torch.fft.irfftn`.
        fft_irfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor;

        /// [`fft_fftn`](fn@fft_fftn) of a Hermitian-symmetric signal, given by its first half along the last of these
        /// dimensions: real elements.
        ///
        /// # Errors
        /// The errors of [`fft_fftn`](fn@fft_fftn); no dimension.
        ///
        /// PyTorch: `torch.fft.hfftn`.
        fft_hfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor;

        /// The inverse of [`fft_hfftn`](fn@fft_hfftn).
        ///
        /// # Errors
        /// The errors of [`fft_fftn`](fn@fft_fftn); a complex dtype, no dimension.
        ///
        /// PyTorch: `torch.fft.ihfftn`.
        fft_ihfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor;

        /// [`fft_fftn`](fn@fft_fftn) along the last two dimensions.
        ///
        /// # Errors
        /// The errors of [`fft_fftn`](fn@fft_fftn).
        ///
        /// PyTorch: `torch.fft.fft2`.
        fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor;

        /// [`fft_ifftn`](fn@fft_ifftn) along the last two dimensions.
        ///
        /// # Errors
        /// The errors of [`fft_fftn`](fn@fft_fftn).
        ///
        /// PyTorch: `torch.fft.ifft2`.
        fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor;

        /// [`fft_rfftn`](fn@fft_rfftn) along the last two dimensions.
        ///
        /// # Errors
        /// The errors of [`fft_fftn`](fn@fft_fftn); a complex dtype, no dimension.
        ///
        /// PyTorch: `torch.fft.rfft2`.
        fft_rfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor;

        /// [`fft_irfftn`](fn@fft_irfftn) along the last two dimensions.
        ///
        /// # Errors
        /// The errors of [`fft_fftn`](fn@fft_fftn); no dimension.
        ///
        /// PyTorch: `torch.fft.irfft2`.
        fft_irfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor;

        /// [`fft_hfftn`](fn@fft_hfftn) along the last two dimensions.
        ///
        /// # Errors
        /// The errors of [`fft_fftn`](fn@fft_fftn); no dimension.
        ///
        /// PyTorch: `torch.fft.hfft2`.
        fft_hfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor;

        /// [`fft_ihfftn`](fn@fft_ihfftn) along the last two dimensions.
        ///
        /// # Errors
        /// The errors of [`fft_fftn`](fn@fft_fftn); a complex dtype, no dimension.
        ///
        /// PyTorch: `torch.fft.ihfft2`.
        fft_ihfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor;

        /// The frequencies of a transform of `n` samples that are `d` apart: from zero up, then the negative ones.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let frequencies = aten::fft_fftfreq::with(4).d(0.5).call()?;
        /// assert_eq!(frequencies.to_vec::<f32>()?, [0.0, 0.5, -1.0, -0.5]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// A negative `n`, a dtype that is not floating-point.
        ///
        /// PyTorch: `torch.fft.fftfreq`.
        fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// The frequencies of a one-sided transform, [`fft_rfft`](fn@fft_rfft), of `n` samples that are `d` apart: none
        /// is negative.
        ///
        /// # Errors
        /// The errors of [`fft_fftfreq`](fn@fft_fftfreq).
        ///
        /// PyTorch: `torch.fft.rfftfreq`.
        fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// Reorders a transform so that its frequencies ascend, along all dimensions unless some are given.
        ///
        /// # Errors
        /// A tensor without dimensions, a dimension out of range.
        ///
        /// PyTorch: `torch.fft.fftshift`.
        fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor;

        /// The inverse of [`fft_fftshift`](fn@fft_fftshift).
        ///
        /// # Errors
        /// The errors of [`fft_fftshift`](fn@fft_fftshift).
        ///
        /// PyTorch: `torch.fft.ifftshift`.
        fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor;

        /// The Hann window: one period of the cosine, from zero up to one and back, which is a squared sine.
        ///
        /// It is periodic, as a Fourier transform needs it: the point after the last would equal the first.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// assert_eq!(aten::hann_window_periodic(3, false)?.to_vec::<f32>()?, [0.0, 1.0, 0.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// A negative length, a dtype that is not floating-point.
        ///
        /// PyTorch: `torch.hann_window`.
        hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// [`hann_window`](fn@hann_window), symmetric if `periodic` is false.
        ///
        /// # Errors
        /// The errors of [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.hann_window`.
        hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// The Hamming window, `alpha - beta * cos(…)`: like [`hann_window`](fn@hann_window), but it starts at 0.08.
        ///
        /// # Errors
        /// The errors of [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.hamming_window`.
        hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// [`hamming_window`](fn@hamming_window), symmetric if `periodic` is false.
        ///
        /// # Errors
        /// The errors of [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.hamming_window`.
        hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// [`hamming_window`](fn@hamming_window) with another `alpha`.
        ///
        /// # Errors
        /// The errors of [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.hamming_window`.
        hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// [`hamming_window`](fn@hamming_window) with another `alpha` and `beta`.
        ///
        /// # Errors
        /// The errors of [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.hamming_window`.
        hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *,
            ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// The Blackman window, a sum of two cosines: narrower than [`hann_window`](fn@hann_window).
        ///
        /// # Errors
        /// The errors of [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.blackman_window`.
        blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// [`blackman_window`](fn@blackman_window), symmetric if `periodic` is false.
        ///
        /// # Errors
        /// The errors of [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.blackman_window`.
        blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// The Bartlett window: a triangle from zero up to one and down again.
        ///
        /// # Errors
        /// The errors of [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.bartlett_window`.
        bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// [`bartlett_window`](fn@bartlett_window), symmetric if `periodic` is false.
        ///
        /// # Errors
        /// The errors of [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.bartlett_window`.
        bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// The Kaiser window, a Bessel function over a half circle; it gets narrower with a larger `beta`.
        ///
        /// # Errors
        /// The errors of [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.kaiser_window`.
        kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// [`kaiser_window`](fn@kaiser_window), symmetric if `periodic` is false.
        ///
        /// # Errors
        /// The errors of [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.kaiser_window`.
        kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// [`kaiser_window`](fn@kaiser_window) with another `beta`.
        ///
        /// # Errors
        /// The errors of [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.kaiser_window`.
        kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// The short-time Fourier transform of a signal: the transforms of its frames, `[batch, frequencies, frames]`.
        ///
        /// Frames of `n_fft` samples start `hop_length` apart, by default a quarter of `n_fft`, and are multiplied by a
        /// window.
        ///
        /// # Errors
        /// Frames longer than the signal, a window that does not fit, an integer dtype, a real signal without
        /// `return_complex`, `onesided` for a complex signal.
        ///
        /// PyTorch: `torch.stft` with `center=False`.
        stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None,
            bool normalized=False, bool? onesided=None, bool? return_complex=None,
            bool? align_to_window=None) -> Tensor;

        /// [`stft`](fn@stft) with frames centred at their positions: the signal is padded at both ends, by `pad_mode`.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let signal = aten::sin(&aten::to_dtype(&aten::arange(64.into())?, DType::Float32)?)?;
        /// let window = aten::hann_window(16)?;
        /// let parts = aten::stft_center::with(&signal, 16).window(&window).return_complex(true).call()?;
        /// assert_eq!(parts.sizes(), [9, 17]);
        /// let back = aten::istft::with(&parts, 16).window(&window).call()?;
        /// assert!(aten::allclose::with(&back, &signal).atol(1e-5).call()?);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// The errors of [`stft`](fn@stft); an unknown `pad_mode`.
        ///
        /// PyTorch: `torch.stft`.
        stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None,
            bool center=True, str pad_mode="reflect", bool normalized=False, bool? onesided=None,
            bool? return_complex=None, bool? align_to_window=None) -> Tensor;

        /// The inverse of [`stft.center`](fn@stft_center): the signal, as far as the windows cover it.
        ///
        /// # Errors
        /// A real dtype, sizes that are not those of a transform, a window that does not fit, samples that no window
        /// covers, an empty signal.
        ///
        /// PyTorch: `torch.istft`.
        istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None,
            bool center=True, bool normalized=False, bool? onesided=None, int? length=None,
            bool return_complex=False) -> Tensor;
    }
}
