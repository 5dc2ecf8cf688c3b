//! Fourier transforms, the frequencies of their results, windows, and transforms of parts of signals.

use torch_library::torch_library;

torch_library! {
    /// Fourier transforms, on top of what was declared before.
    #[methods(FourierMethods)]
    #[kernels_in(torch_library_fourier)]
    pub mod aten extends super::alias::aten {
        /// The transform of complex numbers along dimensions that are counted from the front: what the others are
        /// made of.
        ///
        /// `normalization` is 0 for sums, 1 for sums divided by the root of how many numbers they are of, 2 for means.
        ///
        /// # Errors
        /// Real numbers, a dimension that is not there or is given twice, another normalization.
        ///
        /// PyTorch: `aten::_fft_c2c`.
        _fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor;

        /// As [`_fft_c2c`](fn@_fft_c2c), of real numbers; `onesided` gives a half along the last of these dimensions.
        ///
        /// # Errors
        /// As [`_fft_c2c`](fn@_fft_c2c); complex numbers, no dimension.
        ///
        /// PyTorch: `aten::_fft_r2c`.
        _fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor;

        /// As [`_fft_c2c`](fn@_fft_c2c) backward, from a half along the last of these dimensions to so many real
        /// numbers.
        ///
        /// # Errors
        /// As [`_fft_c2c`](fn@_fft_c2c); no dimension, a size that is no half.
        ///
        /// PyTorch: `aten::_fft_c2r`.
        _fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor;

        /// The Fourier transform along a dimension, of `n` numbers if that is given: of fewer than there are, or
        /// with zeros behind them.
        ///
        /// `norm` says what is divided by `n`: `"backward"` (unless given) the inverse transform, `"forward"` this
        /// one, and with `"ortho"` both by its root.
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
        /// A dimension out of range, no number to transform, an unknown `norm`, `float16` or `bfloat16`.
        ///
        /// PyTorch: `torch.fft.fft`.
        fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor;

        /// The inverse of [`fft_fft`](fn@fft_fft).
        ///
        /// # Errors
        /// As [`fft_fft`](fn@fft_fft).
        ///
        /// PyTorch: `torch.fft.ifft`.
        fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor;

        /// As [`fft_fft`](fn@fft_fft), of real numbers: `n / 2 + 1` numbers, as the others are their conjugates.
        ///
        /// # Errors
        /// As [`fft_fft`](fn@fft_fft); complex numbers.
        ///
        /// PyTorch: `torch.fft.rfft`.
        fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor;

        /// The inverse of [`fft_rfft`](fn@fft_rfft): `n` real numbers, an even number of them unless `n` is given.
        ///
        /// # Errors
        /// As [`fft_fft`](fn@fft_fft).
        ///
        /// PyTorch: `torch.fft.irfft`.
        fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor;

        /// As [`fft_fft`](fn@fft_fft), of numbers of which the second half is the conjugate of the first, and not
        /// given: `n` real numbers.
        ///
        /// # Errors
        /// As [`fft_fft`](fn@fft_fft).
        ///
        /// PyTorch: `torch.fft.hfft`.
        fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor;

        /// The inverse of [`fft_hfft`](fn@fft_hfft): of `n` real numbers the first `n / 2 + 1`.
        ///
        /// # Errors
        /// As [`fft_fft`](fn@fft_fft); complex numbers.
        ///
        /// PyTorch: `torch.fft.ihfft`.
        fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor;

        /// The Fourier transform along several dimensions, all of them unless `s` or `dim` is given.
        ///
        /// `s` has a size for each of them, -1 for that of the tensor; without `dim` these are the last ones.
        ///
        /// # Errors
        /// A dimension out of range or given twice, sizes and dimensions of different number, no number to
        /// transform, an unknown `norm`, `float16` or `bfloat16`.
        ///
        /// PyTorch: `torch.fft.fftn`.
        fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor;

        /// The inverse of [`fft_fftn`](fn@fft_fftn).
        ///
        /// # Errors
        /// As [`fft_fftn`](fn@fft_fftn).
        ///
        /// PyTorch: `torch.fft.ifftn`.
        fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor;

        /// As [`fft_fftn`](fn@fft_fftn), of real numbers: along the last of these dimensions a half.
        ///
        /// # Errors
        /// As [`fft_fftn`](fn@fft_fftn); complex numbers, no dimension.
        ///
        /// PyTorch: `torch.fft.rfftn`.
        fft_rfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor;

        /// The inverse of [`fft_rfftn`](fn@fft_rfftn).
        ///
        /// # Errors
        /// As [`fft_fftn`](fn@fft_fftn); no dimension.
        ///
        /// PyTorch: `torch.fft.irfftn`.
        fft_irfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor;

        /// As [`fft_fftn`](fn@fft_fftn), of numbers of which one half is given along the last of these dimensions,
        /// to real ones.
        ///
        /// # Errors
        /// As [`fft_fftn`](fn@fft_fftn); no dimension.
        ///
        /// PyTorch: `torch.fft.hfftn`.
        fft_hfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor;

        /// The inverse of [`fft_hfftn`](fn@fft_hfftn).
        ///
        /// # Errors
        /// As [`fft_fftn`](fn@fft_fftn); complex numbers, no dimension.
        ///
        /// PyTorch: `torch.fft.ihfftn`.
        fft_ihfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor;

        /// [`fft_fftn`](fn@fft_fftn) along the last two dimensions.
        ///
        /// # Errors
        /// As [`fft_fftn`](fn@fft_fftn).
        ///
        /// PyTorch: `torch.fft.fft2`.
        fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor;

        /// [`fft_ifftn`](fn@fft_ifftn) along the last two dimensions.
        ///
        /// # Errors
        /// As [`fft_fftn`](fn@fft_fftn).
        ///
        /// PyTorch: `torch.fft.ifft2`.
        fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor;

        /// [`fft_rfftn`](fn@fft_rfftn) along the last two dimensions.
        ///
        /// # Errors
        /// As [`fft_fftn`](fn@fft_fftn); complex numbers, no dimension.
        ///
        /// PyTorch: `torch.fft.rfft2`.
        fft_rfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor;

        /// [`fft_irfftn`](fn@fft_irfftn) along the last two dimensions.
        ///
        /// # Errors
        /// As [`fft_fftn`](fn@fft_fftn); no dimension.
        ///
        /// PyTorch: `torch.fft.irfft2`.
        fft_irfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor;

        /// [`fft_hfftn`](fn@fft_hfftn) along the last two dimensions.
        ///
        /// # Errors
        /// As [`fft_fftn`](fn@fft_fftn); no dimension.
        ///
        /// PyTorch: `torch.fft.hfft2`.
        fft_hfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor;

        /// [`fft_ihfftn`](fn@fft_ihfftn) along the last two dimensions.
        ///
        /// # Errors
        /// As [`fft_fftn`](fn@fft_fftn); complex numbers, no dimension.
        ///
        /// PyTorch: `torch.fft.ihfft2`.
        fft_ihfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor;

        /// The frequency of each number of a transform of `n` that lie `d` apart: from zero up, then the negative ones.
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
        /// A negative number of them, a type that is not of floating point.
        ///
        /// PyTorch: `torch.fft.fftfreq`.
        fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// As [`fft_fftfreq`](fn@fft_fftfreq), of transforms that are halves: none is negative.
        ///
        /// # Errors
        /// As [`fft_fftfreq`](fn@fft_fftfreq).
        ///
        /// PyTorch: `torch.fft.rfftfreq`.
        fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// A transform with its frequencies in ascending order, along all dimensions unless some are given.
        ///
        /// # Errors
        /// No dimension, one out of range.
        ///
        /// PyTorch: `torch.fft.fftshift`.
        fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor;

        /// What [`fft_fftshift`](fn@fft_fftshift) was made of.
        ///
        /// # Errors
        /// As [`fft_fftshift`](fn@fft_fftshift).
        ///
        /// PyTorch: `torch.fft.ifftshift`.
        fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor;

        /// Half a turn of the cosine up and half a turn down, from zero: the square of a sine.
        ///
        /// It is periodic, as transforms want it: the point after the last would be the first one again.
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
        /// A negative length, a type that is not of floating point.
        ///
        /// PyTorch: `torch.hann_window`.
        hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// As [`hann_window`](fn@hann_window), symmetric unless it is to be periodic.
        ///
        /// # Errors
        /// As [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.hann_window`.
        hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// As [`hann_window`](fn@hann_window), from 0.08: `alpha` less `beta` times the cosine.
        ///
        /// # Errors
        /// As [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.hamming_window`.
        hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// As [`hamming_window`](fn@hamming_window), symmetric unless it is to be periodic.
        ///
        /// # Errors
        /// As [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.hamming_window`.
        hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// As [`hamming_window`](fn@hamming_window), around another number.
        ///
        /// # Errors
        /// As [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.hamming_window`.
        hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// As [`hamming_window`](fn@hamming_window), around another number and as high as another.
        ///
        /// # Errors
        /// As [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.hamming_window`.
        hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *,
            ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// As [`hann_window`](fn@hann_window), narrower: of two turns of a cosine.
        ///
        /// # Errors
        /// As [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.blackman_window`.
        blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// As [`blackman_window`](fn@blackman_window), symmetric unless it is to be periodic.
        ///
        /// # Errors
        /// As [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.blackman_window`.
        blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A triangle from zero to one and down.
        ///
        /// # Errors
        /// As [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.bartlett_window`.
        bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// As [`bartlett_window`](fn@bartlett_window), symmetric unless it is to be periodic.
        ///
        /// # Errors
        /// As [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.bartlett_window`.
        bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// A Bessel function of a half circle, narrower with a larger `beta`.
        ///
        /// # Errors
        /// As [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.kaiser_window`.
        kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// As [`kaiser_window`](fn@kaiser_window), symmetric unless it is to be periodic.
        ///
        /// # Errors
        /// As [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.kaiser_window`.
        kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// As [`kaiser_window`](fn@kaiser_window), as narrow as asked for.
        ///
        /// # Errors
        /// As [`hann_window`](fn@hann_window).
        ///
        /// PyTorch: `torch.kaiser_window`.
        kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? dtype=None,
            Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor;

        /// The transforms of the parts of a signal: `[batch, numbers, parts]`.
        ///
        /// Parts of `n_fft` numbers lie `hop_length` apart, a quarter of that unless given, and are multiplied with
        /// a window.
        ///
        /// # Errors
        /// Parts longer than the signal, a window that does not fit, real numbers without `return_complex`, halves
        /// of the transforms of complex numbers.
        ///
        /// PyTorch: `torch.stft` with `center=False`.
        stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None,
            bool normalized=False, bool? onesided=None, bool? return_complex=None,
            bool? align_to_window=None) -> Tensor;

        /// As [`stft`](fn@stft), with parts that lie around their places: the signal goes on at both ends, by
        /// `pad_mode`.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let signal = aten::sin(&aten::to_dtype(&aten::arange(64.into())?, DType::Float32)?)?;
        /// let window = aten::hann_window(16)?;
        /// let parts = aten::stft_center::with(&signal, 16).window(Some(&window)).return_complex(true).call()?;
        /// assert_eq!(parts.sizes(), [9, 17]);
        /// let back = aten::istft::with(&parts, 16).window(Some(&window)).call()?;
        /// assert!(aten::allclose::with(&back, &signal).atol(1e-5).call()?);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// As [`stft`](fn@stft); an unknown `pad_mode`.
        ///
        /// PyTorch: `torch.stft`.
        stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None,
            bool center=True, str pad_mode="reflect", bool normalized=False, bool? onesided=None,
            bool? return_complex=None, bool? align_to_window=None) -> Tensor;

        /// The signal of which [`stft.center`](fn@stft_center) made these parts, as far as windows saw it.
        ///
        /// # Errors
        /// Sizes that are no transforms, a window that does not fit, numbers of the signal that no window sees, a
        /// signal without numbers.
        ///
        /// PyTorch: `torch.istft`.
        istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None,
            bool center=True, bool normalized=False, bool? onesided=None, int? length=None,
            bool return_complex=False) -> Tensor;
    }
}
