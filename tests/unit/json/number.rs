//! Unit tests of private items in `src/json/number.rs`.

use super::*;

fn check(text: &str) {
    let expected = text.parse::<f64>().ok();
    assert_eq!(float(text).map(f64::to_bits), expected.map(f64::to_bits), "{text}: {expected:?}");
}

/// The decimal number in the middle of two others with as many digits after the point.
fn middle(one: &str, other: &str) -> String {
    let mut carry = 0;
    let mut middle = String::new();
    for (one, other) in one.bytes().zip(other.bytes()) {
        if one == b'.' {
            middle.push('.');
            continue;
        }
        let sum = carry * 10 + u32::from(one - b'0') + u32::from(other - b'0');
        middle += &(sum / 2).to_string();
        carry = sum % 2;
    }
    middle + if carry == 1 { "5" } else { "" }
}

#[test]
fn floats_are_as_std_reads_them() {
    let numbers = "0 -0 0e99 1 -1.5 +7 .5 5. 1e3 1E+3 1e-3 0.1 1e22 1e23 1e-23 9007199254740993 1e999999999999 1e309 \
        1.7976931348623157e308 1.7976931348623158e308 1.7976931348623159e308 -1e400 5e-324 2.4703282292062327e-324 \
        2.4703282292062328e-324 1e-400 1e-99999999999999999999 2.2250738585072011e-308 2.2250738585072014e-308 \
        0.000e-99999999999999999999 123456789012345678901234567890 - + . e5 1e 1e+ 1.2.3 1-2 --1 0x1 1_0 1e5.5 é";
    numbers.split(' ').chain(["", " 1", "1 "]).for_each(check);
    check(&format!("0.{}1e1005", "0".repeat(1004)));
    let mut next = crate::sorted_index::random_numbers();
    for at in 0..50_000 {
        let mut part = || next(1 << 16) as u64;
        let bits = part() << 48 | part() << 32 | part() << 16 | part();
        let float = f64::from_bits(bits);
        if float.is_finite() {
            check(&format!("{float:e}"));
            check(&format!("{float:.17e}"));
        }
        check(&format!("{}.{bits}e{}", bits % 1000, part() as i64 % 330 - 340 + at % 20));
        check(&format!("0.{:017}", bits % 100_000_000_000_000_000));
        check(&(bits >> (at % 60)).to_string());
    }
    // The middles between neighbours have the most digits.
    for bits in [0, 1, 2, 1 << 52, (1 << 52) - 1, (1 << 52) + 1, 0x3FF << 52, (0x3FF << 52) - 1, 0x4330_0000_0000_0001]
    {
        let [one, other] = [bits, bits + 1].map(|bits| format!("{:.1100}", f64::from_bits(bits)));
        let middle = middle(&one, &other);
        [&one, &other, &middle, &format!("{middle}1"), &format!("{middle}01")].into_iter().for_each(|it| check(it));
        check(middle.split_at(400).0);
    }
}
