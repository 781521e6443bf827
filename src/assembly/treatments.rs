//! The recorded treatments of the messages of a conversation, for the next fit.

use serde_json::Value as Json;

use crate::assembly::state_values::number_at;
use crate::json::Value;

/// The treatment of a message.
pub(crate) trait RecordedTreatment: Clone + PartialEq {
    /// The text form. Texts of any length are returned separately.
    fn to_text(&self) -> (String, Vec<&str>);

    /// Reads the output of [`to_text`](Self::to_text).
    fn parse(text: &str, texts: Vec<String>) -> Option<Self>;

    /// Whether both leave a message the same.
    fn leaves_same(&self, other: &Self) -> bool;
}

/// Treatments that a state may list; longer state is rejected as foreign.
const MAX_TREATMENTS: usize = 1 << 20;

/// Runs of messages with the same treatment, as JSON.
pub(crate) fn runs<T: RecordedTreatment>(treatments: &[(usize, T)]) -> Json {
    let mut runs = Vec::new();
    let mut rest = treatments.iter().peekable();
    while let Some((from, treatment)) = rest.next() {
        let mut count = 1;
        while rest.next_if(|(at, next)| *at == from + count && next == treatment).is_some() {
            count += 1;
        }
        let (text, markers) = treatment.to_text();
        let mut run: Vec<Json> = vec![(*from).into(), count.into(), text.into()];
        run.extend(markers.into_iter().map(Json::from));
        runs.push(Json::Array(run));
    }
    Json::Array(runs)
}

/// Reads the runs of `count` messages.
pub(crate) fn read_runs<T: RecordedTreatment>(runs: Value<'_>, count: usize) -> Option<Vec<(usize, T)>> {
    let mut treatments: Vec<(usize, T)> = Vec::new();
    for run in runs.as_list()? {
        let run: Vec<Value<'_>> = run.as_list()?.collect();
        let (from, length) = (number_at(&run, 0)?, number_at(&run, 1)?);
        let marker = |marker: &Value<'_>| Some(marker.as_text()?.into_owned());
        let markers = run.iter().skip(3).map(marker).collect::<Option<Vec<String>>>()?;
        let treatment = T::parse(&run.get(2)?.as_text()?, markers)?;
        let is_ordered = treatments.last().is_none_or(|(last, _)| *last < from);
        let end = from.checked_add(length).filter(|end| *end <= count && is_ordered)?;
        if treatments.len().saturating_add(length) > MAX_TREATMENTS {
            return None;
        }
        treatments.extend((from..end).map(|at| (at, treatment.clone())));
    }
    Some(treatments)
}

/// The first message that two fits treated differently.
pub(crate) fn first_difference<T: RecordedTreatment>(one: &[(usize, T)], other: &[(usize, T)]) -> Option<usize> {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    loop {
        return match (one.peek(), other.peek()) {
            (Some((at, known)), Some((now_at, now))) if at == now_at && known.leaves_same(now) => {
                one.next();
                other.next();
                continue;
            }
            (Some((known, _)), Some((now, _))) => Some(*known.min(now)),
            (Some((at, _)), None) | (None, Some((at, _))) => Some(*at),
            (None, None) => None,
        };
    }
}
