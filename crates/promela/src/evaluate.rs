//! Arithmetic as C does it on 32 bits.

use crate::syntax::tree::Binary;

/// The value of an operator with two operands; none for a division by zero. Both operands are evaluated before.
#[inline]
pub(crate) fn binary(operator: Binary, left: i32, right: i32) -> Option<i32> {
    Some(match operator {
        Binary::Or => i32::from(left != 0 || right != 0),
        Binary::And => i32::from(left != 0 && right != 0),
        Binary::BitOr => left | right,
        Binary::BitXor => left ^ right,
        Binary::BitAnd => left & right,
        Binary::Equal => i32::from(left == right),
        Binary::Different => i32::from(left != right),
        Binary::Less => i32::from(left < right),
        Binary::Greater => i32::from(left > right),
        Binary::AtMost => i32::from(left <= right),
        Binary::AtLeast => i32::from(left >= right),
        Binary::ShiftLeft => left.wrapping_shl(right as u32),
        Binary::ShiftRight => left.wrapping_shr(right as u32),
        Binary::Plus => left.wrapping_add(right),
        Binary::Minus => left.wrapping_sub(right),
        Binary::Times => left.wrapping_mul(right),
        Binary::Divide if right == 0 => return None,
        Binary::Modulo if right == 0 => return None,
        Binary::Divide => left.wrapping_div(right),
        Binary::Modulo => left.wrapping_rem(right),
    })
}
