//! Functions of a real number.

use torch_library_aten::cpu::special::real::Real;

#[test]
fn polygamma_meets_known_values() {
    let near = |x: f64, want: f64| assert!((x - want).abs() < 1e-13 * want.abs(), "{x}, expected {want}");
    near(1f64.polygamma(1), 1.644_934_067_638_337_5); // of PyTorch's ten digits
    near((-0.5f64).polygamma(1), 8.934_802_200_117_687);
    near(0.5f64.polygamma(2), -16.828_796_644_234_32);
    near(20f64.polygamma(3), 2.693_742_213_396_39e-4);
    // PyTorch's numbers at poles.
    for (x, want) in [(-8f32, 2.017_765_1e13), (-4f32, 8.071_061e13)] {
        assert!((x.polygamma(1) / want - 1.0).abs() < 1e-5, "{}", x.polygamma(1));
    }
    assert_eq!([0f64.polygamma(1), (-2f64).polygamma(2)], [f64::INFINITY, -f64::INFINITY]);
    assert_eq!(f64::INFINITY.polygamma(1), 0.0);
    assert!(8f32.polygamma(100).is_nan()); // an infinite factor times zero
}
