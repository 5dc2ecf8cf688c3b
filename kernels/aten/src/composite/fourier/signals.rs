//! Short-time Fourier transforms of a signal, and their inverse.

use torch_library::fake::is_fake;
use torch_library::prelude::*;
use torch_library::warning::warn;

use super::promoted;
use crate::aten;

/// How a signal is split into frames: `n_fft` samples each, `hop` apart, with a window of `win` samples.
struct Cut {
    operator: &'static str,
    n_fft: i64,
    hop: i64,
    win: i64,
}

impl Cut {
    /// # Errors
    /// Frames without samples, a window longer than a frame, a hop that is not positive.
    fn new(operator: &'static str, n_fft: i64, hop: Option<i64>, win: Option<i64>) -> Result<Self> {
        let cut = Cut { operator, n_fft, hop: hop.unwrap_or(n_fft / 4), win: win.unwrap_or(n_fft) };
        ensure!(n_fft > 0, Argument, "{operator}: n_fft is {n_fft}, expected at least 1");
        ensure!(cut.hop > 0, Argument, "{operator}: hop_length is {}, expected at least 1", cut.hop);
        ensure!(
            (1..=n_fft).contains(&cut.win),
            Argument,
            "{operator}: win_length is {}, expected 1 to n_fft={n_fft}",
            cut.win
        );
        Ok(cut)
    }

    fn check_window(&self, window: &Tensor) -> Result<()> {
        ensure!(
            window.sizes() == [self.win],
            Shape,
            "{}: a window of sizes {:?}, expected [{}]",
            self.operator,
            window.sizes(),
            self.win
        );
        Ok(())
    }

    /// A window, padded with zeros on both sides to the length of a frame.
    fn centred(&self, window: &Tensor) -> Result<Tensor> {
        let left = (self.n_fft - self.win) / 2;
        match self.n_fft - self.win {
            0 => Ok(window.clone()),
            rest => aten::constant_pad_nd(window, &[left, rest - left]),
        }
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn stft(
        this: &Tensor,
        n_fft: i64,
        hop_length: Option<i64>,
        win_length: Option<i64>,
        window: Option<&Tensor>,
        normalized: bool,
        onesided: Option<bool>,
        return_complex: Option<bool>,
        align_to_window: Option<bool>,
    ) -> Result<Tensor> {
        let cut = Cut::new(aten::stft::NAME, n_fft, hop_length, win_length)?;
        let form = Form { normalized, onesided, return_complex };
        parts(&cut, this, window, None, align_to_window.map(|is_aligned| (is_aligned, "constant")), form)
    }

    fn stft_center(
        this: &Tensor,
        n_fft: i64,
        hop_length: Option<i64>,
        win_length: Option<i64>,
        window: Option<&Tensor>,
        center: bool,
        pad_mode: &str,
        normalized: bool,
        onesided: Option<bool>,
        return_complex: Option<bool>,
        align_to_window: Option<bool>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::stft_center::NAME;
        let cut = Cut::new(OPERATOR, n_fft, hop_length, win_length)?;
        ensure!(
            !center || align_to_window.is_none(),
            Argument,
            "{OPERATOR}: align_to_window is only for center=False"
        );
        let form = Form { normalized, onesided, return_complex };
        let centre = center.then_some(pad_mode);
        parts(&cut, this, window, centre, align_to_window.map(|is_aligned| (is_aligned, pad_mode)), form)
    }

    fn istft(
        this: &Tensor,
        n_fft: i64,
        hop_length: Option<i64>,
        win_length: Option<i64>,
        window: Option<&Tensor>,
        center: bool,
        normalized: bool,
        onesided: Option<bool>,
        length: Option<i64>,
        return_complex: bool,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::istft::NAME;
        let cut = Cut::new(OPERATOR, n_fft, hop_length, win_length)?;
        ensure!(
            cut.hop <= cut.win,
            Argument,
            "{OPERATOR}: windows of win_length {} with hop_length {} leave gaps",
            cut.win,
            cut.hop
        );
        let spectra = spectra(&cut, this, window, onesided, return_complex)?;
        let window = match window {
            Some(window) => window.clone(),
            None => {
                let (dtype, device) = (Some(this.dtype().to_real()), Some(this.device()));
                aten::ones::call(&[cut.win], dtype, None, device, None)?
            }
        };
        let window = cut.centred(&window)?;
        let mode = i64::from(!normalized) + 1;
        let lines = if return_complex {
            aten::_fft_c2c(&spectra, &[2], mode, false)?
        } else {
            let half = aten::slice_Tensor::call(&spectra, 2, Some(0), Some(n_fft / 2 + 1), 1)?;
            aten::_fft_c2r(&half, &[2], mode, n_fft)?
        };
        let weighted = aten::mul_Tensor(&lines, &aten::view(&window, &[1, 1, n_fft])?)?;
        let squares = aten::mul_Tensor(&window, &window)?;
        let squares = aten::expand(&squares, &[1, lines.sizes()[1], n_fft])?;
        joined(&cut, &weighted, &squares, center, length, this.dim() == 2)
    }
}

/// The format of the transform of frames.
struct Form {
    normalized: bool,
    onesided: Option<bool>,
    return_complex: Option<bool>,
}

/// Transforms the frames of signals. If frames are centred at their positions, `centre` is the padding mode. `aligned`
/// tells whether the first window, instead of the first frame, starts with the signal, and the padding mode for that.
fn parts(
    cut: &Cut,
    this: &Tensor,
    window: Option<&Tensor>,
    centre: Option<&str>,
    aligned: Option<(bool, &str)>,
    form: Form,
) -> Result<Tensor> {
    let (operator, n_fft) = (cut.operator, cut.n_fft);
    let is_complex = |tensor: &Tensor| tensor.dtype().is_complex();
    let with_complex = is_complex(this) || window.is_some_and(is_complex);
    let Some(return_complex) = form.return_complex.or(with_complex.then_some(true)) else {
        bail!(Argument, "{operator}: return_complex must be given for real signals")
    };
    ensure!(
        this.dtype().is_differentiable(),
        DType,
        "{operator}: a signal of {}, expected floating-point or complex numbers",
        this.dtype()
    );
    let mut x = match this.dim() {
        1 => aten::unsqueeze(this, 0)?,
        2 => this.clone(),
        _ => bail!(Shape, "{operator}: sizes {:?}, expected those of one signal or of several", this.sizes()),
    };
    if let Some(mode) = centre {
        x = padded(&x, n_fft / 2, mode)?;
    }
    if let Some(window) = window {
        cut.check_window(window)?;
    }
    let len = x.sizes()[1];
    ensure!(n_fft <= len, Shape, "{operator}: n_fft is {n_fft}, more than the length of the signal, {len}");
    let mut count = (len - n_fft) / cut.hop + 1;
    if let (None, Some((true, mode))) = (centre, aligned) {
        count = (len - cut.win) / cut.hop + 1;
        let beside = (n_fft - cut.win) / 2;
        x = aten::pad::with(&x, &[beside, beside]).mode(mode).call()?;
    }
    x = aten::unfold(&x, 1, n_fft, cut.hop)?;
    ensure!(count <= x.sizes()[1], Shape, "{operator}: {count} frames of a signal of {len} numbers");
    x = aten::narrow(&x, 1, 0, count)?;
    if let Some(window) = whole_window(cut, &x, window)? {
        x = aten::mul_Tensor(&x, &window)?;
    }
    let onesided = form.onesided.unwrap_or(!is_complex(&x));
    ensure!(
        !onesided || !is_complex(&x),
        Argument,
        "{operator}: onesided is only for real signals, this one is complex"
    );
    let mode = i64::from(form.normalized);
    let mut found = match is_complex(&x) {
        true => aten::_fft_c2c(&x, &[2], mode, true)?,
        false => aten::_fft_r2c(&x, &[2], mode, onesided)?,
    };
    aten::transpose_(&mut found, 1, 2)?; // in place, so that the autograd nodes have PyTorch's names
    if this.dim() == 1 {
        aten::squeeze__dim(&mut found, 0)?;
    }
    if return_complex { Ok(found) } else { aten::view_as_real(&found) }
}

/// The weights of a frame, unless all are one.
fn whole_window(cut: &Cut, x: &Tensor, window: Option<&Tensor>) -> Result<Option<Tensor>> {
    let window = match window {
        Some(window) => window.clone(),
        None if cut.win == cut.n_fft => return Ok(None),
        None => aten::ones::call(&[cut.win], Some(x.dtype()), None, Some(x.device()), None)?,
    };
    cut.centred(&window).map(Some)
}

/// Signals padded at both ends.
fn padded(x: &Tensor, count: i64, mode: &str) -> Result<Tensor> {
    let padded = aten::pad::with(&aten::unsqueeze(x, 0)?, &[count, count]).mode(mode).call()?;
    aten::squeeze_dim(&padded, 0)
}

/// The input of `istft`, as `[batch, frames, frequencies]`.
fn spectra(
    cut: &Cut,
    this: &Tensor,
    window: Option<&Tensor>,
    onesided: Option<bool>,
    return_complex: bool,
) -> Result<Tensor> {
    let (operator, n_fft) = (cut.operator, cut.n_fft);
    ensure!(
        this.dtype().is_complex(),
        DType,
        "{operator}: a tensor of {}, expected a complex one",
        this.dtype()
    );
    let mut x = promoted(operator, this, true)?;
    ensure!(
        matches!(x.dim(), 2 | 3) && x.numel() > 0,
        Shape,
        "{operator}: sizes {:?}, expected those of the spectrogram of one signal or of several",
        x.sizes()
    );
    if x.dim() == 2 {
        x = aten::unsqueeze(&x, 0)?;
    }
    let numbers = x.sizes()[1];
    let onesided = onesided.unwrap_or(numbers != n_fft);
    let want = if onesided { n_fft / 2 + 1 } else { n_fft };
    ensure!(numbers == want, Shape, "{operator}: {numbers} frequencies in each frame, expected {want}");
    ensure!(
        !onesided || !return_complex,
        Argument,
        "{operator}: onesided is only for real signals, not with return_complex"
    );
    if let Some(window) = window {
        cut.check_window(window)?;
        ensure!(
            return_complex || !window.dtype().is_complex(),
            DType,
            "{operator}: a complex window gives a complex signal, set return_complex"
        );
    }
    aten::transpose_int(&x, 1, 2)
}

/// The signals of these frames: at each sample, the sum of all frames divided by the sum of the squared windows.
fn joined(
    cut: &Cut,
    parts: &Tensor,
    squares: &Tensor,
    center: bool,
    length: Option<i64>,
    is_one: bool,
) -> Result<Tensor> {
    let operator = cut.operator;
    let (start, half) = if center { (cut.n_fft / 2, cut.n_fft / 2) } else { (0, 0) };
    let (sums, weights) = (overlapped(cut, parts)?, overlapped(cut, squares)?);
    let len = sums.sizes()[1];
    let end = length.map_or(len - half, |length| start.saturating_add(length));
    ensure!(start < end, Shape, "{operator}: nothing is left of a signal of {len} numbers");
    let seen = |x: &Tensor| aten::slice_Tensor::call(x, 1, Some(start), Some(end), 1);
    let (sums, weights) = (seen(&sums)?, seen(&weights)?);
    ensure!(weights.numel() > 0, Shape, "{operator}: nothing is left of a signal of {len} numbers");
    // Nothing is known of a batch or of a functionalised tensor here, nor of what has no elements.
    if weights.device() != Device::META && !weights.is_wrapper() && !is_fake(&weights) {
        let least = aten::min(&aten::abs(&weights)?)?.item()?.cast::<f64>();
        ensure!(
            least.is_nan() || least >= 1e-11,
            Argument,
            "{operator}: the windows do not cover the whole signal, their squares add up to as little as {least}"
        );
    }
    let mut found = aten::div_Tensor(&sums, &weights)?;
    if is_one {
        found = aten::squeeze_dim(&found, 0)?;
    }
    if end <= len {
        return Ok(found);
    }
    warn(format_args!("{operator}: a signal of {len} numbers is padded with zeros up to {end}"));
    aten::constant_pad_nd(&found, &[0, end - len])
}

/// Adds overlapping frames at their positions.
fn overlapped(cut: &Cut, parts: &Tensor) -> Result<Tensor> {
    if parts.dtype().is_complex() {
        let [real, imag] = [aten::real(parts)?, aten::imag(parts)?];
        return aten::complex(&overlapped(cut, &real)?, &overlapped(cut, &imag)?);
    }
    let steps = (parts.sizes()[1] - 1).saturating_mul(cut.hop);
    let len = steps.saturating_add(cut.n_fft);
    let columns = aten::transpose_int(parts, 1, 2)?;
    let image = aten::col2im(&columns, &[1, len], &[1, cut.n_fft], &[1, 1], &[0, 0], &[1, cut.hop])?;
    aten::view(&image, &[parts.sizes()[0], len])
}
