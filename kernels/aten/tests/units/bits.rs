//! Shifts of bits.

use torch_library_aten::cpu::bits::words::Shifted;

#[test]
fn bits_may_move_too_far() {
    assert_eq!([1i8.shifted_left(7), 1i8.shifted_left(8), 1i8.shifted_left(-1)], [i8::MIN, 0, 0]);
    assert_eq!([(-4i32).shifted_right(1), (-4i32).shifted_right(40), 4i32.shifted_right(-1)], [-2, -1, 0]);
}
