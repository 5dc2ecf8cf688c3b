//! Fixed-point weights, for weighted means of bytes when images are resized.

/// Weights multiplied by a power of two, and the exponent.
pub(crate) struct FixedPoint {
    pub(crate) weights: Vec<i32>,
    pub(crate) precision: u32,
}

impl FixedPoint {
    /// The most bits of precision: a weighted sum of bytes then fits into 32 bits.
    const MOST: u32 = 22;

    /// Weights with as many fractional bits as let the largest one fit into 16 bits, which vector instructions multiply
    /// fastest.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let fits = |precision: u32| 0.5 + largest * f64::from(1u32 << precision) < 32768.0;
        let precision = (1..=Self::MOST).take_while(|precision| fits(*precision)).count() as u32;
        let scale = f64::from(1u32 << precision);
        let weights = weights.iter().map(|weight| (weight * scale).round() as i32).collect();
        FixedPoint { weights, precision }
    }

    /// The number that is added to a sum so that a shift rounds it.
    pub(crate) fn half(&self) -> i32 {
        (1 << self.precision) >> 1
    }
}

#[cfg(test)]
mod tests {
    use super::FixedPoint;

    #[test]
    fn the_largest_weight_has_sixteen_bits() {
        let FixedPoint { weights, precision } = FixedPoint::new(&[0.25, 0.75, -0.1]);
        assert_eq!((weights, precision), (vec![8192, 24576, -3277], 15));
        assert_eq!(FixedPoint::new(&[1.0]).precision, 14);
        assert_eq!(FixedPoint::new(&[1e-9]).precision, 22);
    }

    #[test]
    fn half_is_half_of_one() {
        assert_eq!(FixedPoint::new(&[1.0]).half(), 1 << 13);
        assert_eq!(FixedPoint::new(&[40000.0]).half(), 0);
    }
}
