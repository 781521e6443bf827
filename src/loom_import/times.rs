//! Times of other programs, as RFC 3339.

use serde_json::{Map, Value as Json};

use super::context::Context;
use super::verbatim::Lenient;
use crate::error::{DiagnosticCode, Severity};
use crate::json::{Kind, Object, Value};
use crate::time::Timestamp;

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Milliseconds,
}

impl Context<'_> {
    /// A time as RFC 3339; a number is in `unit` since 1970. An unreadable one is reported.
    pub(super) fn time(&mut self, value: Option<Value<'_>>, unit: Unit, node: &str) -> Option<String> {
        let value = value.filter(|value| !value.is_null())?;
        let time = match value.kind() {
            Kind::Number => value.as_number().and_then(|number| since_1970(number, unit)),
            Kind::String => self.time_text(&value.as_text().unwrap_or_default(), unit),
            _ => None,
        };
        if time.is_none() {
            let what = "a time that cannot be read; it counts as absent, and stays under `imported`";
            self.findings.count(DiagnosticCode::ImportTimeUnreadable, Severity::Warning, what, Some(node));
        }
        time
    }

    /// A field with the creation time of a node; an unreadable one is preserved.
    pub(super) fn created(
        &mut self,
        object: Object<'_>,
        field: &str,
        unit: Unit,
        node: &str,
        imported: &mut Map<String, Json>,
    ) -> Option<String> {
        let value = object.field(field)?;
        let time = self.time(Some(value), unit, node);
        if time.is_none()
            && let Some(kept) = self.kept(field, value)
        {
            imported.insert(field.to_owned(), kept);
        }
        time
    }

    fn time_text(&mut self, text: &str, unit: Unit) -> Option<String> {
        let text = text.trim();
        if Timestamp::parse(text).is_some() {
            return Some(text.to_owned());
        }
        if let Some(number) = text.parse::<u64>().ok().filter(|_| text.len() > 8) {
            return since_1970(number as f64, unit);
        }
        let written = format!("{}{}", local(text)?, self.zone.0);
        Timestamp::parse(&written)?;
        let what = format!("a time without a zone, taken as `{}`", self.zone.0);
        self.findings.count(DiagnosticCode::ImportTimeZoneAssumed, Severity::Info, &what, None);
        Some(written)
    }
}

/// A number of seconds or milliseconds since 1970, to the millisecond.
fn since_1970(number: f64, unit: Unit) -> Option<String> {
    let millis = if unit == Unit::Seconds { (number * 1000.0).round() } else { number.floor() };
    // From the year 0 to the end of 9999.
    let is_time = (-62_167_219_200_000.0..253_402_300_800_000.0).contains(&millis);
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    is_time.then(|| Timestamp::from_unix_millis(millis as i64).to_string())
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A local time as RFC 3339 without an offset: `2023-06-19-14.20.05`, `2023-06-19 14:20:05.123`, `June 19, 2023 2:20pm` or
/// `2023-6-19 @14h 20m 5s 123ms`.
fn local(text: &str) -> Option<String> {
    if text.len() > 60 {
        return None;
    }
    let mut numbers: Vec<u32> = Vec::new();
    let (mut month, mut afternoon) = (None, None);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let is_letter = first.is_ascii_alphabetic();
        let same = |ch: char| if is_digit { ch.is_ascii_digit() } else { is_letter && ch.is_ascii_alphabetic() };
        let end = rest.find(|ch| !same(ch)).unwrap_or(rest.len()).max(first.len_utf8());
        let (word, after) = rest.split_at_checked(end)?;
        rest = after;
        if is_digit {
            numbers.push(word.parse().ok()?);
        } else if is_letter {
            let word = word.to_ascii_lowercase();
            match word.as_str() {
                "am" => afternoon = Some(false),
                "pm" => afternoon = Some(true),
                "t" | "h" | "m" | "s" | "ms" | "at" => {}
                _ if word.len() >= 3 && numbers.is_empty() => {
                    month = Some(MONTHS.iter().position(|month| word.starts_with(month))? as u32 + 1);
                }
                _ => return None,
            }
        }
    }
    let (year, month, day, clock) = match (month, numbers.as_slice()) {
        (Some(month), [day, year, clock @ ..]) => (*year, month, *day, clock),
        (None, [year, month, day, clock @ ..]) if *year > 31 => (*year, *month, *day, clock),
        _ => return None,
    };
    let (hour, minute, second, millis) = match *clock {
        [] => (0, 0, 0, None),
        [hour, minute] => (hour, minute, 0, None),
        [hour, minute, second] => (hour, minute, second, None),
        [hour, minute, second, millis] => (hour, minute, second, Some(millis)),
        _ => return None,
    };
    let hour = match afternoon {
        Some(is_afternoon) => hour % 12 + if is_afternoon { 12 } else { 0 },
        None => hour,
    };
    let millis = millis.map_or_else(String::new, |millis| format!(".{millis:03}"));
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{millis}"))
}
