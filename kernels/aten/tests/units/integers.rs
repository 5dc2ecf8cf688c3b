//! Random integers.

use torch_library_aten::cpu::random::integers::remainder;

#[test]
fn remainders_are_those_of_division() {
    for divisor in [1, 2, 3, 7, 100, 65_537, (1 << 28) - 1, u32::MAX] {
        let rest = remainder(divisor);
        for word in [0, 1, 99, 100, 65_536, 1 << 31, u32::MAX - 1, u32::MAX] {
            assert_eq!(rest(word), word % divisor, "{word} % {divisor}");
        }
    }
}
