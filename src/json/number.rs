//! Numbers as in JavaScript.

use std::cmp::Ordering;

use serde_json::Number;

/// A number as `JSON.stringify` writes it: whole ones without a fraction, `null` for values that JSON cannot represent.
pub(crate) fn number(value: f64) -> serde_json::Value {
    const SAFE: f64 = 9_007_199_254_740_991.0;
    if value.fract() == 0.0 && value.abs() <= SAFE {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
        return serde_json::Value::Number(Number::from(value as i64));
    }
    Number::from_f64(value).map_or(serde_json::Value::Null, serde_json::Value::Number)
}

/// A decimal number that is not negative: its leading digits, as many as fit, times a power of ten.
struct Decimal<'t> {
    head: u64,
    power: i64,
    /// The remaining digits: their number, with or without a point among them, and whether all are zeros.
    rest: &'t [u8],
    decimals: usize,
    is_all: bool,
}

/// The nearest float to a decimal number, ties to even, as in JavaScript and `str::parse`, whose tables would be 10 KB.
/// `None` if the text is not a number.
pub(crate) fn float(text: &str) -> Option<f64> {
    let decimal = Decimal::read(text)?;
    let float = decimal.simple().unwrap_or_else(|| decimal.nearest());
    Some(if text.starts_with('-') { -float } else { float })
}

/// A whole number from 0 to 2^53 - 1; `None` for any other, and for one with very many digits.
pub(crate) fn whole(text: &str) -> Option<u64> {
    let number =
        Decimal::read(text)?.simple().filter(|number| number.fract() == 0.0 && *number < MAX_EXACT_INTEGER as f64)?;
    (number == 0.0 || !text.starts_with('-')).then_some(number as u64)
}

/// The bound below which all whole numbers are floats.
const MAX_EXACT_INTEGER: u64 = 1 << 53;

impl<'t> Decimal<'t> {
    fn read(text: &'t str) -> Option<Self> {
        let unsigned = match text.as_bytes() {
            [b'-' | b'+', unsigned @ ..] | unsigned => unsigned,
        };
        let (mut head, mut count, mut decimals, mut is_all) = (0, 0_usize, 0_usize, true);
        let (mut point, mut tail, mut end) = (None, unsigned.len(), unsigned.len());
        for (at, &byte) in unsigned.iter().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    count += 1;
                    if head < MAX_EXACT_INTEGER * 100 {
                        head = head * 10 + u64::from(byte - b'0');
                    } else {
                        tail = tail.min(at);
                        decimals += 1;
                        is_all &= byte == b'0';
                    }
                }
                b'.' if point.is_none() => point = Some(count),
                b'e' | b'E' => {
                    end = at;
                    break;
                }
                _ => return None,
            }
        }
        let (mantissa, exponent) = unsigned.split_at_checked(end)?;
        let (digits, is_negative) = match exponent {
            [] => (&b"0"[..], false),
            [_, b'-', digits @ ..] => (digits, true),
            [_, b'+', digits @ ..] | [_, digits @ ..] => (digits, false),
        };
        if count == 0 || digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        // With a larger exponent the number is infinite for any digits.
        let power = digits.iter().fold(0, |power: i64, digit| (power * 10 + i64::from(digit - b'0')).min(1 << 40));
        let power = if is_negative { -power } else { power } + decimals as i64;
        let power = power - point.map_or(0, |point| count - point) as i64;
        Some(Self { head, power, rest: mantissa.get(tail..).unwrap_or_default(), decimals, is_all })
    }

    /// The number if it is the product or quotient of two exact floats: its rounding is the nearest float.
    fn simple(&self) -> Option<f64> {
        let (mut head, mut power) = (self.head, self.power);
        while head > MAX_EXACT_INTEGER && head % 10 == 0 {
            head /= 10;
            power += 1;
        }
        let is_simple = self.is_all && (head == 0 || head <= MAX_EXACT_INTEGER && power.abs() <= 22);
        is_simple.then(|| scaled(head as f64, power.clamp(-22, 22)))
    }

    fn nearest(&self) -> f64 {
        if self.power.abs() > 400 {
            return if self.power < 0 { 0.0 } else { f64::INFINITY };
        }
        // A few digits and a small power are compared in 128 bits.
        let small = self.is_all && (-18..0).contains(&self.power);
        let (ours, unit, power) =
            if small { (Natural(Vec::new()), Natural(Vec::new()), self.power) } else { self.exactly() };
        let mut float = scaled(self.head as f64, self.power).min(f64::MAX);
        while float.is_finite() {
            let bits = float.to_bits();
            let exponent = (bits >> 52) as i64;
            let mantissa = bits % (1 << 52) + if exponent > 0 { 1 << 52 } else { 0 };
            // How the number compares with a place near this float, in quarters of the distance between floats.
            let compare = |quarters: u64| {
                let shift = power - (exponent.max(1) - 1077);
                let order = if small {
                    let (ours, theirs) = (u128::from(self.head), u128::from(quarters) * 5_u128.pow(-power as u32));
                    (ours << shift.max(0)).cmp(&(theirs << (-shift).max(0)))
                } else {
                    let (mut ours, mut theirs) = (ours.clone(), unit.clone());
                    theirs.times(quarters, 0);
                    if shift < 0 { &mut theirs } else { &mut ours }.shift(shift.unsigned_abs());
                    ours.0.len().cmp(&theirs.0.len()).then(ours.0.iter().rev().cmp(theirs.0.iter().rev()))
                };
                // Half-way between two floats, the even one is chosen.
                if order.is_eq() && mantissa % 2 == 0 { None } else { Some(order) }
            };
            // Below a power of two the distance is halved.
            let below = if mantissa == 1 << 52 && exponent > 1 { 1 } else { 2 };
            if compare(4 * mantissa + 2).is_some_and(Ordering::is_ge) {
                float = f64::from_bits(bits + 1);
            } else if mantissa > 0 && compare(4 * mantissa - below).is_some_and(Ordering::is_le) {
                float = f64::from_bits(bits - 1);
            } else {
                break;
            }
        }
        float
    }

    /// The exact number: one whole number over another, times a power of two.
    fn exactly(&self) -> (Natural, Natural, i64) {
        // No place between two floats has more digits than this: of further digits only their presence matters.
        const MAX_DIGITS: usize = 800;
        let mut rest = self.rest.iter().filter(|digit| digit.is_ascii_digit());
        let mut ours = Natural::new(self.head);
        for digit in rest.by_ref().take(MAX_DIGITS) {
            ours.times(10, u64::from(digit - b'0'));
        }
        ours.times(10, u64::from(rest.any(|&digit| digit != b'0')));
        let power = self.power - self.decimals.min(MAX_DIGITS) as i64 - 1;
        let mut unit = Natural::new(1);
        if power < 0 { &mut unit } else { &mut ours }.times_five(power.unsigned_abs());
        (ours, unit, power)
    }
}

/// A number times a power of ten; the nearest float if both are floats.
fn scaled(mut number: f64, power: i64) -> f64 {
    let mut left = power.unsigned_abs();
    while left > 0 {
        let step = left.min(22);
        let factor = (0..step).fold(1.0, |factor, _| factor * 10.0);
        number = if power < 0 { number / factor } else { number * factor };
        left -= step;
    }
    number
}

/// A whole number of any size, lowest digits first, without leading zeros.
#[derive(Clone)]
struct Natural(Vec<u32>);

impl Natural {
    fn new(number: u64) -> Self {
        let mut natural = Self(Vec::new());
        natural.times(1, number);
        natural
    }

    fn times(&mut self, factor: u64, plus: u64) {
        let mut carry = u128::from(plus);
        for digit in &mut self.0 {
            carry += u128::from(*digit) * u128::from(factor);
            *digit = carry as u32;
            carry >>= 32;
        }
        while carry > 0 {
            self.0.push(carry as u32);
            carry >>= 32;
        }
    }

    fn times_five(&mut self, power: u64) {
        for _ in 0..power / 27 {
            self.times(5_u64.pow(27), 0);
        }
        self.times(5_u64.pow((power % 27) as u32), 0);
    }

    /// Multiplies by a power of two.
    fn shift(&mut self, power: u64) {
        self.times(1 << (power % 32), 0);
        let mut digits = vec![0; power as usize / 32];
        digits.append(&mut self.0);
        self.0 = digits;
    }
}

#[cfg(test)]
#[path = "../../tests/unit/json/number.rs"]
mod tests;
