//! The geometry of a window that slides over images, one spatial dimension at a time: its places (one for each output
//! pixel), and how many pixels it covers.

use torch_library::prelude::*;

/// The parameters of a window in one spatial dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) kernel: i64,
    pub(super) stride: i64,
    pub(super) padding: i64,
    pub(super) dilation: i64,
}

/// The number for one of `count` spatial dimensions, from a list with one number for all of them or one for each.
pub(super) fn of_direction(
    operator: &str,
    name: &str,
    values: &[i64],
    direction: usize,
    count: usize,
) -> Result<i64> {
    match values {
        [all] => Ok(*all),
        each if each.len() == count => Ok(each[direction]),
        _ => bail!(Argument, "{operator}: {name} is {values:?}, expected one number or {count}"),
    }
}

/// The numbers for all spatial dimensions.
pub(super) fn per_direction(operator: &str, name: &str, values: &[i64], count: usize) -> Result<Vec<i64>> {
    (0..count).map(|direction| of_direction(operator, name, values, direction, count)).collect()
}

impl Axis {
    /// The window of a missing spatial dimension.
    pub(super) const NONE: Axis = Axis { kernel: 1, stride: 1, padding: 0, dilation: 1 };

    pub(super) fn checked(self, operator: &str) -> Result<Self> {
        let Axis { kernel, stride, padding, dilation } = self;
        ensure!(
            kernel > 0 && stride > 0 && dilation > 0 && padding >= 0,
            Argument,
            "{operator}: kernel {kernel}, stride {stride} and dilation {dilation} must be positive, padding {padding} not negative"
        );
        let largest = [kernel, stride, padding, dilation].into_iter().max().unwrap_or(0);
        let limit = i64::from(i32::MAX); // products and sums of two stay in range
        ensure!(
            largest <= limit,
            Argument,
            "{operator}: a window reaches at most {limit} pixels, not {largest}"
        );
        Ok(self)
    }

    /// The number of pixels from the first to the last tap of the window, the gaps of dilation included.
    pub(super) fn extent(self) -> i64 {
        self.dilation * (self.kernel - 1) + 1
    }

    /// The number of places that the window has in `size` pixels.
    pub(super) fn places(self, size: i64) -> i64 {
        (size.saturating_add(2 * self.padding) - self.extent()).div_euclid(self.stride) + 1
    }

    /// The number of pixels that the windows at `places` places cover, without those of the padding.
    pub(super) fn spread(self, places: i64) -> i64 {
        let last = (places - 1).saturating_mul(self.stride);
        (last - 2 * self.padding).saturating_add(self.extent())
    }

    /// Like [`places`](Self::places), with a last window that extends over the edge, if it starts inside (`ceil_mode`).
    pub(super) fn places_over_edge(self, size: i64) -> i64 {
        let field = size.saturating_add(2 * self.padding) - self.extent();
        let places = field.saturating_add(self.stride - 1).div_euclid(self.stride) + 1;
        let starts_outside = (places - 1).saturating_mul(self.stride) >= size.saturating_add(self.padding);
        places - i64::from(starts_outside)
    }
}
