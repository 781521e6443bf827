//! Moments in time, passed by callers as RFC 3339 with offsets. The crate reads no clock.

use std::borrow::Cow;
use std::fmt;

use crate::error::Result;
use crate::json::Value;

/// A moment, without the offset it was written with. A leap second is stored as nanoseconds from 1,000,000,000 up in
/// the second before it, so that it sorts after 23:59:59 and before the next day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    seconds: i64,
    nanos: u32,
}

impl Timestamp {
    /// Reads an RFC 3339 date and time: `2026-03-01T09:30:00Z`, `2026-03-01T10:30:00.25+01:00`.
    ///
    /// As RFC 3339 allows, `T` and `Z` may be lower case, and a space may replace the `T`. Digits of a fraction beyond
    /// the ninth are dropped. `None` for everything else: a month 13, a 29 February of a common year, a date without a
    /// time, a time without an offset, and a second 60 that is not the last of a month in UTC.
    ///
    /// ```
    /// use ctxweave::time::Timestamp;
    /// let utc = Timestamp::parse("2026-03-01T09:30:00Z").unwrap();
    /// assert_eq!(Timestamp::parse("2026-03-01T10:30:00+01:00"), Some(utc));
    /// assert_eq!(utc.unix_millis(), 1_772_357_400_000);
    /// assert_eq!(Timestamp::parse("2026-13-01T09:30:00Z"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { rest: text.as_bytes() };
        let year = reader.digits(4)?;
        reader.one_of(b"-")?;
        let month = reader.digits(2)?;
        reader.one_of(b"-")?;
        let day = reader.digits(2)?;
        reader.one_of(b"Tt ")?;
        let hour = reader.digits(2).filter(|&hour| hour < 24)?;
        reader.one_of(b":")?;
        let minute = reader.digits(2).filter(|&minute| minute < 60)?;
        reader.one_of(b":")?;
        let second = reader.digits(2).filter(|&second| second <= 60)?;
        let nanos = reader.fraction()?;
        let offset = reader.offset()?;
        if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) || !reader.rest.is_empty() {
            return None;
        }
        let leap = second == 60;
        let day_start = days_before(year, month, day) * DAY;
        let seconds = day_start + i64::from(hour * 3600 + minute * 60 + second - u32::from(leap)) - offset;
        if leap && !begins_month(seconds + 1, year, month) {
            return None;
        }
        Some(Self { seconds, nanos: if leap { nanos + NANOS } else { nanos } })
    }

    /// The moment `millis` milliseconds after 1970-01-01T00:00:00Z, as returned by `Date.getTime`.
    pub fn from_unix_millis(millis: i64) -> Self {
        let nanos = u32::try_from(millis.rem_euclid(1000)).unwrap_or(0) * 1_000_000;
        Self { seconds: millis.div_euclid(1000), nanos }
    }

    /// Reads a time of a request: RFC 3339, or milliseconds since 1970 as returned by `Date.now()`, in the years of RFC
    /// 3339.
    pub(crate) fn read(value: Value<'_>) -> Result<Self> {
        let from_millis = |millis: f64| {
            #[expect(clippy::cast_possible_truncation, reason = "the range is that of RFC 3339; a fraction is dropped")]
            YEARS.contains(&millis).then(|| Self::from_unix_millis(millis.floor() as i64))
        };
        let time = match value.as_text() {
            Some(text) => Self::parse(&text),
            None => value.as_number().and_then(from_millis),
        };
        time.ok_or_else(|| {
            value.mismatch("an RFC 3339 date and time, such as `2026-03-01T09:30:00Z`, or milliseconds since 1970")
        })
    }

    /// A time of a request as text: unchanged if it is text, otherwise RFC 3339.
    pub(crate) fn text(value: Value<'_>) -> Result<Cow<'_, str>> {
        value.as_text().map_or_else(|| Ok(Self::read(value)?.to_string().into()), Ok)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z, rounded down, as returned by `Date.getTime`.
    pub fn unix_millis(self) -> i64 {
        self.seconds * 1000 + i64::from(self.nanos / 1_000_000)
    }

    /// 22 digits that sort in descending order of time: in a list that can only be read upwards, the latest moment at
    /// or before another is the first from its key on.
    pub(crate) fn descending_key(self) -> String {
        // Offsets can move a day out of the years of RFC 3339.
        const LAST: i64 = 253_402_300_800 + DAY;
        format!("{:012}{:010}", LAST - self.seconds, 2 * NANOS - 1 - self.nanos)
    }
}

/// RFC 3339 in UTC; with a fraction of a second if it is not 0.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The calendar repeats every 400 years, and years that begin in March have their leap day at the end.
        let days = self.seconds.div_euclid(DAY) + 719_468;
        let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, year) = if month < 10 { (month + 3, year) } else { (month - 9, year + 1) };
        let second = self.seconds.rem_euclid(DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60 + i64::from(self.nanos / NANOS));
        write!(f, "{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}", year + era * 400)?;
        match self.nanos % NANOS {
            0 => f.write_str("Z"),
            nanos if nanos % 1_000_000 == 0 => write!(f, ".{:03}Z", nanos / 1_000_000),
            nanos => write!(f, ".{nanos:09}Z"),
        }
    }
}

/// The years 0 to 9999 in milliseconds since 1970.
const YEARS: std::ops::Range<f64> = -62_167_219_200_000.0..253_402_300_800_000.0;

const DAY: i64 = 86_400;
const NANOS: u32 = 1_000_000_000;

struct Reader<'t> {
    rest: &'t [u8],
}

impl Reader<'_> {
    fn one_of(&mut self, bytes: &[u8]) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        bytes.contains(&first).then(|| {
            self.rest = rest;
            first
        })
    }

    /// A number of exactly `count` digits.
    fn digits(&mut self, count: usize) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        digits.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0')))
    }

    /// Nanoseconds; 0 without a fraction, `None` for a point without digits.
    fn fraction(&mut self) -> Option<u32> {
        if self.one_of(b".").is_none() {
            return Some(0);
        }
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at_checked(count).filter(|_| count > 0)?;
        self.rest = rest;
        let nine = digits.iter().copied().chain(std::iter::repeat(b'0')).take(9);
        Some(nine.fold(0, |number, byte| number * 10 + u32::from(byte - b'0')))
    }

    /// Seconds that local time is ahead of UTC.
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.one_of(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Some(0),
        };
        let hours = self.digits(2).filter(|&hours| hours < 24)?;
        self.one_of(b":")?;
        let minutes = self.digits(2).filter(|&minutes| minutes < 60)?;
        Some(sign * i64::from(hours * 3600 + minutes * 60))
    }
}

fn is_leap_year(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap_year(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date in the Gregorian calendar.
fn days_before(year: u32, month: u32, day: u32) -> i64 {
    let leap_days = match year.checked_sub(1) {
        // The year 0 is a leap year itself.
        Some(past) => past / 4 - past / 100 + past / 400 + 1,
        None => 0,
    };
    let months: u32 = (1..month).map(|month| days_in(year, month)).sum();
    i64::from(year * 365 + leap_days + months + day) - DAYS_TO_EPOCH
}

/// The sum in [`days_before`] for 1970-01-01.
const DAYS_TO_EPOCH: i64 = 719_529;

/// Whether the day that begins `seconds` after 1970 is the first of this or the next month: no offset reaches further.
fn begins_month(seconds: i64, year: u32, month: u32) -> bool {
    let first = days_before(year, month, 1);
    [first, first + i64::from(days_in(year, month))].iter().any(|days| days * DAY == seconds)
}

#[cfg(test)]
#[path = "../tests/unit/time.rs"]
mod tests;
