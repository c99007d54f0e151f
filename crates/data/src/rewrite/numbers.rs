//! Numbers as terms, and arithmetic on them.
//!
//! A number is the same term whatever its sort: sorts are static, so `Pos`, `Nat`, `Int` and `Real` can share values,
//! and conversions upwards cost nothing. A natural number is a machine word, or the bytes of a larger one, least
//! significant first; a negative integer is `@neg` of a natural number; a fraction in lowest terms is `@fraction` of an
//! integer and a denominator above 1. So equal numbers are equal terms.

use dashu_int::ops::{BitTest, DivEuclid, Gcd, RemEuclid, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};
use trefoil_terms::{Pool, Section, Symbol, Term};

use crate::signature::Operator;

/// The symbols that numbers are made with.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    negative: Symbol,
    fraction: Symbol,
}

/// A number out of its term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// An integer.
    Integer(IBig),
    /// Numerator and denominator, in lowest terms, the denominator above 1.
    Fraction(IBig, UBig),
}

/// Bits of the largest numbers, so that a number fits a leaf of a term,
/// which takes twice as many. An operation with a larger result has no value.
pub(super) const MOST_BITS: usize = 1 << 22;

impl Number {
    /// 0.
    pub(super) const ZERO: Number = Number::Integer(IBig::ZERO);
}

impl Numbers {
    /// The symbols in a pool.
    pub fn new(pool: &Pool) -> Numbers {
        Numbers { negative: pool.symbol("@neg", 1), fraction: pool.symbol("@fraction", 2) }
    }

    /// Whether a symbol is of a term that is a number.
    pub fn is_number(&self, symbol: Symbol) -> bool {
        symbol == Symbol::WORD || symbol == Symbol::BYTES || symbol == self.negative || symbol == self.fraction
    }

    fn natural(section: &Section<'_>, value: &UBig) -> Term {
        match u64::try_from(value) {
            Ok(word) => section.word(word),
            Err(_) => section.bytes(&value.to_le_bytes()),
        }
    }

    fn integer(&self, section: &Section<'_>, value: &IBig) -> Term {
        let natural = Numbers::natural(section, &value.clone().unsigned_abs());
        if value.sign() == Sign::Negative { section.create(self.negative, &[natural]) } else { natural }
    }

    /// The term of a number.
    pub fn term(&self, section: &Section<'_>, number: &Number) -> Term {
        match number {
            Number::Integer(value) => self.integer(section, value),
            Number::Fraction(numerator, denominator) => {
                let numerator = self.integer(section, numerator);
                let denominator = Numbers::natural(section, denominator);
                section.create(self.fraction, &[numerator, denominator])
            }
        }
    }

    /// The term of a number in digits.
    pub fn from_digits(&self, section: &Section<'_>, digits: &str) -> Term {
        match digits.parse::<u64>() {
            Ok(word) => section.word(word),
            Err(_) => match UBig::from_str_radix(digits, 10) {
                Ok(value) => Numbers::natural(section, &value),
                Err(_) => unreachable!("the lexer lets only digits through"),
            },
        }
    }

    fn read_natural(section: &Section<'_>, term: Term) -> Option<UBig> {
        if let Some(word) = section.word_of(term) {
            return Some(UBig::from(word));
        }
        section.bytes_of(term).map(|bytes| UBig::from_le_bytes(&bytes))
    }

    fn read_integer(&self, section: &Section<'_>, term: Term) -> Option<IBig> {
        if section.head(term) == self.negative {
            return Some(-IBig::from(Numbers::read_natural(section, section.argument(term, 0))?));
        }
        Numbers::read_natural(section, term).map(IBig::from)
    }

    /// The number that a term is, if it is one.
    pub fn read(&self, section: &Section<'_>, term: Term) -> Option<Number> {
        if section.head(term) == self.fraction {
            let numerator = self.read_integer(section, section.argument(term, 0))?;
            let denominator = Numbers::read_natural(section, section.argument(term, 1))?;
            return Some(Number::Fraction(numerator, denominator));
        }
        self.read_integer(section, term).map(Number::Integer)
    }

    /// An operation of one argument, when it is a number that the operation is defined for.
    pub(super) fn unary(&self, section: &Section<'_>, operator: Operator, argument: Term) -> Option<Term> {
        if let Some(word) = section.word_of(argument) {
            match operator {
                Operator::Succ if word < u64::MAX => return Some(section.word(word + 1)),
                Operator::Pred if word > 0 => return Some(section.word(word - 1)),
                Operator::Nat2Pos | Operator::Int2Pos | Operator::Real2Pos => return (word > 0).then_some(argument),
                Operator::Int2Nat | Operator::Real2Nat | Operator::Real2Int | Operator::Abs => return Some(argument),
                Operator::Floor | Operator::Ceil | Operator::Round => return Some(argument),
                Operator::Sqrt => return Some(section.word(word.isqrt())),
                _ => {}
            }
        }
        let number = self.read(section, argument)?;
        let result = match operator {
            Operator::Pos2Nat
            | Operator::Pos2Int
            | Operator::Pos2Real
            | Operator::Nat2Int
            | Operator::Nat2Real
            | Operator::Int2Real => return Some(argument),
            Operator::Nat2Pos | Operator::Int2Pos | Operator::Real2Pos => {
                return matches!(&number, Number::Integer(value) if *value > IBig::ZERO).then_some(argument);
            }
            Operator::Int2Nat | Operator::Real2Nat => {
                return matches!(&number, Number::Integer(value) if *value >= IBig::ZERO).then_some(argument);
            }
            Operator::Real2Int => return matches!(number, Number::Integer(_)).then_some(argument),
            Operator::Succ => add(&number, &Number::Integer(IBig::ONE)),
            Operator::Pred => add(&number, &Number::Integer(-IBig::ONE)),
            Operator::Negate => negate(number),
            Operator::Abs => match number {
                Number::Integer(value) => Number::Integer(IBig::from(value.unsigned_abs())),
                Number::Fraction(value, denominator) => Number::Fraction(IBig::from(value.unsigned_abs()), denominator),
            },
            Operator::Floor => Number::Integer(floor(&number)),
            Operator::Ceil => Number::Integer(-floor(&negate(number))),
            Operator::Round => {
                let half = Number::Fraction(IBig::ONE, UBig::from(2u8));
                Number::Integer(floor(&add(&number, &half)))
            }
            Operator::Sqrt => match number {
                Number::Integer(value) if value >= IBig::ZERO => {
                    Number::Integer(IBig::from(value.unsigned_abs().sqrt()))
                }
                _ => return None,
            },
            _ => return None,
        };
        fits(&result).then(|| self.term(section, &result))
    }

    /// An operation of two arguments, when both are numbers that the operation is defined for.
    pub(super) fn binary(&self, section: &Section<'_>, operator: Operator, left: Term, right: Term) -> Option<Term> {
        if let (Some(one), Some(other)) = (section.word_of(left), section.word_of(right)) {
            let word = match operator {
                Operator::Add => one.checked_add(other),
                Operator::Subtract => one.checked_sub(other),
                Operator::Multiply => one.checked_mul(other),
                Operator::Div => one.checked_div(other),
                Operator::Mod => one.checked_rem(other),
                Operator::Max => Some(one.max(other)),
                Operator::Min => Some(one.min(other)),
                Operator::Exp => u32::try_from(other).ok().and_then(|other| one.checked_pow(other)),
                Operator::Divide if other != 0 && one.is_multiple_of(other) => Some(one / other),
                _ => None,
            };
            if let Some(word) = word {
                return Some(section.word(word));
            }
        }
        let (one, other) = (self.read(section, left)?, self.read(section, right)?);
        let result = match operator {
            Operator::Add => add(&one, &other),
            Operator::Subtract => add(&one, &negate(other)),
            Operator::Multiply => multiply(&one, &other),
            Operator::Divide => multiply(&one, &inverse(&other)?),
            Operator::Div | Operator::Mod => {
                let (Number::Integer(one), Number::Integer(other)) = (one, other) else { return None };
                if other <= IBig::ZERO {
                    return None;
                }
                if operator == Operator::Div {
                    Number::Integer(one.div_euclid(&other))
                } else {
                    Number::Integer(IBig::from(one.rem_euclid(&other)))
                }
            }
            Operator::Max => {
                if less(&one, &other) {
                    other
                } else {
                    one
                }
            }
            Operator::Min => {
                if less(&one, &other) {
                    one
                } else {
                    other
                }
            }
            Operator::Exp => power(&one, &other)?,
            _ => return None,
        };
        fits(&result).then(|| self.term(section, &result))
    }

    /// Whether the first number is less, when both are numbers.
    pub(super) fn less(&self, section: &Section<'_>, left: Term, right: Term) -> Option<bool> {
        if let (Some(one), Some(other)) = (section.word_of(left), section.word_of(right)) {
            return Some(one < other);
        }
        Some(less(&self.read(section, left)?, &self.read(section, right)?))
    }
}

/// Whether a number is small enough to be a term.
fn fits(number: &Number) -> bool {
    match number {
        Number::Integer(value) => value.bit_len() <= MOST_BITS,
        Number::Fraction(numerator, denominator) => numerator.bit_len().max(denominator.bit_len()) <= MOST_BITS,
    }
}

fn parts(number: &Number) -> (IBig, UBig) {
    match number {
        Number::Integer(value) => (value.clone(), UBig::ONE),
        Number::Fraction(numerator, denominator) => (numerator.clone(), denominator.clone()),
    }
}

/// A fraction in lowest terms.
fn reduced(numerator: IBig, denominator: UBig) -> Number {
    let common = (&numerator).gcd(&denominator);
    let (numerator, denominator) = (numerator / IBig::from(common.clone()), denominator / common);
    if denominator == UBig::ONE { Number::Integer(numerator) } else { Number::Fraction(numerator, denominator) }
}

fn add(one: &Number, other: &Number) -> Number {
    if let (Number::Integer(one), Number::Integer(other)) = (one, other) {
        return Number::Integer(one + other);
    }
    let ((a, b), (c, d)) = (parts(one), parts(other));
    reduced(a * IBig::from(d.clone()) + c * IBig::from(b.clone()), b * d)
}

fn multiply(one: &Number, other: &Number) -> Number {
    if let (Number::Integer(one), Number::Integer(other)) = (one, other) {
        return Number::Integer(one * other);
    }
    let ((a, b), (c, d)) = (parts(one), parts(other));
    reduced(a * c, b * d)
}

fn negate(number: Number) -> Number {
    match number {
        Number::Integer(value) => Number::Integer(-value),
        Number::Fraction(numerator, denominator) => Number::Fraction(-numerator, denominator),
    }
}

/// One over a number; nothing for 0.
fn inverse(number: &Number) -> Option<Number> {
    let (numerator, denominator) = parts(number);
    let sign = numerator.sign();
    let magnitude = numerator.unsigned_abs();
    if magnitude == UBig::ZERO {
        return None;
    }
    let turned = if sign == Sign::Negative { -IBig::from(denominator) } else { IBig::from(denominator) };
    Some(reduced(turned, magnitude))
}

fn floor(number: &Number) -> IBig {
    match number {
        Number::Integer(value) => value.clone(),
        Number::Fraction(numerator, denominator) => numerator.div_euclid(&IBig::from(denominator.clone())),
    }
}

fn less(one: &Number, other: &Number) -> bool {
    let ((a, b), (c, d)) = (parts(one), parts(other));
    a * IBig::from(d) < c * IBig::from(b)
}

/// A power with an integer exponent; nothing for a negative power of 0 and for powers that have too many bits.
fn power(base: &Number, exponent: &Number) -> Option<Number> {
    let Number::Integer(exponent) = exponent else { return None };
    let negative = exponent.sign() == Sign::Negative;
    let exponent = usize::try_from(exponent.clone().unsigned_abs()).ok()?;
    let (numerator, denominator) = parts(base);
    let bits = numerator.clone().unsigned_abs().bit_len().max(denominator.bit_len());
    // The power has at least so many bits, and at most twice as many.
    if bits > 1 && exponent.checked_mul(bits - 1)? > MOST_BITS {
        return None;
    }
    let power = reduced(numerator.pow(exponent), denominator.pow(exponent));
    if negative { inverse(&power) } else { Some(power) }
}

/// A number as mCRL2 writes it.
pub(super) fn text(number: &Number) -> String {
    match number {
        Number::Integer(value) => value.to_string(),
        Number::Fraction(numerator, denominator) => format!("{numerator} / {denominator}"),
    }
}
