//! Repeats a fit until its result is legal: it begins with a user turn if the vendor requires one, and has no invalid
//! thinking (docs/chats.md).

use super::course::Course;
use super::course::StepPlace;
use super::fit::{Cut, Fit};
use super::pairs::drop_links;
use super::report::{AddedKind, EditEffect};
use crate::assembly::costs::marker_text;
use crate::assembly::settings::CHAT_MARKER;
use crate::content::Role;
use crate::error::{Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::text::is_blank;
use crate::vendors::pieces::message::{Message, Reason};

/// The state before an attempt.
#[derive(Debug)]
struct Start {
    diagnostics: Vec<Diagnostic>,
    can_reuse_layout: bool,
}

/// The maximal number of attempts.
const MAX_ATTEMPTS: usize = 8;

impl Fit<'_> {
    /// Repairs, edits and cuts the chat as far as required; returns the cut and the effect of each edit.
    pub(super) fn run(&mut self) -> Result<(Cut, Vec<EditEffect>)> {
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        diagnostics.extend(self.begin());
        let start = Start { diagnostics, can_reuse_layout: self.can_reuse_layout };
        // Edits and cuts may suffice without removing images.
        let mut reserved_bytes = None;
        let mut least_over = u64::MAX;
        for attempt in 1..=MAX_ATTEMPTS {
            let done = self.run_with_reserve(&start, reserved_bytes)?;
            let over = self.bytes_over(&done.0);
            least_over = least_over.min(over);
            match over {
                0 => {
                    self.report_large_images(&done.0);
                    self.report_refused(&done.0);
                    return Ok(done);
                }
                _ if !self.has_images() => break,
                // The marker was added afterwards.
                _ if attempt + 1 < MAX_ATTEMPTS => {
                    reserved_bytes = Some(reserved_bytes.map_or(0, |reserved: u64| reserved.saturating_add(over)));
                }
                _ => reserved_bytes = Some(u64::MAX),
            }
        }
        Err(self.too_large(least_over))
    }

    /// Runs with images reduced to `reserved_bytes` below `maxBytes`; with all images if `None`.
    fn run_with_reserve(&mut self, start: &Start, reserved_bytes: Option<u64>) -> Result<(Cut, Vec<EditEffect>)> {
        self.course = Course { limit: self.limit, reserved_bytes, ..Course::default() };
        let first = self.legal(start)?;
        let from = if self.strips() { self.invalid_from(&first.0) } else { None };
        let mut done = first;
        if let Some(from) = from {
            let freed = self.strip(from, &done.0);
            let is_needed = !done.0.slices.is_empty() || !done.1.is_empty() && !self.edits.always;
            if is_needed && !self.makes_steps() && (freed > 0 || self.has_stripped()) {
                done = self.refit(start, from, done);
            }
        }
        self.report_thinking(&done.0);
        Ok(done)
    }

    /// Runs again without the thinking that became invalid, so that more of the conversation fits. If nothing changes
    /// as early as before, the first attempt is kept.
    fn refit(&mut self, start: &Start, from: StepPlace, first: (Cut, Vec<EditEffect>)) -> (Cut, Vec<EditEffect>) {
        let fresh = self.messages.fresh();
        let messages = std::mem::replace(&mut self.messages, fresh);
        let diagnostics = self.diagnostics.clone();
        let (course, summary_limit) = (self.course, self.summary_limit);
        self.course = Course { limit: self.limit, stripped_from: Some(from), ..course };
        if let Ok(second) = self.legal(start)
            && let Some(place) = self.first_change(&second.0)
            && place <= from
        {
            self.strip(place, &second.0);
            return second;
        }
        (self.messages, self.diagnostics) = (messages, diagnostics);
        (self.course, self.summary_limit) = (course, summary_limit);
        self.can_reuse_layout = false;
        first
    }

    /// Whether thinking was removed because it is invalid.
    fn has_stripped(&self) -> bool {
        let changed = self.messages.changed();
        let mut pieces = changed.iter().filter_map(|&at| self.messages.get(at)).flat_map(|message| &message.pieces);
        pieces.any(|piece| piece.removed == Some(Reason::ReasoningPrefixChanged))
    }

    /// Repeats attempts until the vendor accepts the first turn.
    fn legal(&mut self, start: &Start) -> Result<(Cut, Vec<EditEffect>)> {
        let mut attempts = 0;
        loop {
            self.restart(start);
            let (mut cut, edits) = match self.attempt() {
                Ok(attempt) => attempt,
                Err(error) if self.course.first_marker.is_some() => return self.without_first_marker(start, error),
                Err(error) => return Err(error),
            };
            if cut.is_recorded {
                return Ok((cut, edits));
            }
            attempts += 1;
            let again = self.put_first(&mut cut).or_else(|| self.course_for_first_turn(&cut));
            match again {
                Some(course) if attempts < MAX_ATTEMPTS => self.course = course,
                _ => return Ok((cut, edits)),
            }
        }
    }

    fn restart(&mut self, start: &Start) {
        self.messages = self.messages.fresh();
        self.diagnostics.clone_from(&start.diagnostics);
        self.can_reuse_layout = start.can_reuse_layout;
    }

    /// Runs again if the marker before the first turn does not fit: turns are removed until the first is the user's.
    ///
    /// # Errors
    /// The given error if there is no such turn.
    fn without_first_marker(&mut self, start: &Start, error: Error) -> Result<(Cut, Vec<EditEffect>)> {
        let mut from = 0;
        for _ in 0..MAX_ATTEMPTS {
            let Some(begins_at) = self.greeting_end(from).filter(|&end| !self.has_pinned(from, end)) else { break };
            self.course = Course { begins_at, drops_greeting: false, first_marker: None, ..self.course };
            self.restart(start);
            let Ok((cut, edits)) = self.attempt() else { break };
            let is_wrong = |&first: &usize| {
                self.messages.get(first).is_some_and(|message| message.role == Role::Assistant)
                    && !self.is_compaction(first)
                    && !self.is_marked_before(first, &cut)
            };
            match self.first_turn(&cut).filter(is_wrong) {
                Some(first) => from = first,
                None => return Ok((cut, edits)),
            }
        }
        Err(error)
    }

    /// Puts the marker before the first turn, if it belongs there; returns the next course if it costs more than
    /// reserved.
    fn put_first(&mut self, cut: &mut Cut) -> Option<Course> {
        let kept = self.course.first_marker?;
        cut.is_first = true;
        if cut.added.is_some() {
            return None;
        }
        let is_models = |at| self.messages.get(at).is_some_and(|message| message.role == Role::Assistant);
        if is_blank(&self.options.truncation_marker) && !self.first_turn(cut).is_some_and(is_models) {
            // With fewer tokens the conversation begins with a legal turn.
            cut.is_first = false;
            return None;
        }
        cut.counted = cut.omitted.saturating_add(self.count_removed(cut));
        let text = self.first_marker(cut.counted);
        let tokens = self.message_overhead().saturating_add(self.prices.text(&text));
        if tokens > kept {
            return Some(Course { first_marker: Some(tokens), ..self.course });
        }
        cut.added = Some((AddedKind::Marker, text));
        if is_blank(&self.options.truncation_marker) {
            let message = "`truncationMarker` is empty, but the conversation must not begin with the model; the default marker was inserted";
            let ignored = Diagnostic::new(DiagnosticCode::OptionIgnored, Severity::Warning, message);
            self.diagnostics.push(ignored.at_path("options.truncationMarker"));
        }
        None
    }

    /// The marker at the front, for this many messages.
    fn first_marker(&self, count: usize) -> String {
        let template = &self.options.truncation_marker;
        let template = if is_blank(template) { CHAT_MARKER } else { template };
        marker_text(template, count).unwrap_or_default()
    }

    /// The number of removed messages, and of removed steps of runs.
    fn count_removed(&self, cut: &Cut) -> usize {
        let changed = self.messages.changed();
        let is_counted =
            |reason| !matches!(reason, Reason::Replaced | Reason::Compacted | Reason::ReasoningPrefixChanged);
        // Messages removed by an earlier fit are in the count of its marker.
        let is_new =
            |&&at: &&usize| self.messages.before(at).is_none_or(|before| before.removed != Some(Reason::OverLimit));
        let removed = changed.iter().filter(is_new).filter_map(|&at| self.messages.get(at)?.removed);
        let messages = removed.filter(|&why| is_counted(why));
        cut.slices.len().saturating_add(messages.count())
    }

    /// The course if the conversation would begin with a turn of the model.
    fn course_for_first_turn(&self, cut: &Cut) -> Option<Course> {
        if !self.rules.user_first || cut.is_first || !self.differs(cut) {
            return None;
        }
        let first = self.first_turn(cut)?;
        let also_removed = self.count_removed(cut) - cut.slices.len();
        let is_marker = matches!(cut.added, Some((AddedKind::Marker, _)));
        if is_marker && also_removed != self.course.also_removed && self.is_marked_before(first, cut) {
            return Some(Course { also_removed, ..self.course });
        }
        let summarizes = matches!(cut.added, Some((AddedKind::Summary, _)));
        let is_models = self.messages.get(first).is_some_and(|message| message.role == Role::Assistant);
        let course = self.course;
        let marker = Course { first_marker: Some(self.reserve_first(cut.omitted)), ..course };
        if !is_models {
            // The turns removed before it are counted by the same marker.
            let is_silent = summarizes || is_blank(&self.options.truncation_marker);
            return (course.drops_greeting && !is_silent).then_some(marker);
        }
        if self.is_compaction(first) || self.is_marked_before(first, cut) {
            return None;
        }
        let went_before = self.messages.range(0, first).any(|message| message.role != Role::System);
        if course.drops_greeting || went_before && !summarizes {
            return Some(marker);
        }
        match self.greeting_end(first) {
            Some(end) if self.compaction().is_some_and(|(at, _)| at < end) => {
                Some(Course { compacts: true, ..course }).filter(|_| !course.compacts)
            }
            Some(end) if !self.has_pinned(first, end) => Some(Course { drops_greeting: true, ..course }),
            _ => Some(marker),
        }
    }

    /// The token allowance of a marker before the first turn.
    fn reserve_first(&self, omitted: usize) -> u64 {
        let text = self.first_marker(self.messages.len().saturating_add(omitted));
        self.message_overhead().saturating_add(self.prices.text(&text))
    }

    /// Whether the result differs from the input.
    fn differs(&self, cut: &Cut) -> bool {
        let changed = self.messages.changed();
        let is_changed = |message: &Message<'_>| {
            let mut pieces = message.pieces.iter();
            message.removed.is_some() || pieces.any(|piece| piece.removed.is_some() || piece.changed.is_some())
        };
        !cut.slices.is_empty() || changed.iter().filter_map(|&at| self.messages.get(at)).any(is_changed)
    }

    /// The first remaining message that is not an instruction.
    fn first_turn(&self, cut: &Cut) -> Option<usize> {
        let mut slices = cut.slices.iter().peekable();
        self.messages.iter().enumerate().find_map(|(at, message)| {
            let mut gone = Vec::new();
            while let Some(slice) = slices.next_if(|slice| slice.message <= at) {
                gone.push(slice);
            }
            let is_gone = |place: usize| gone.iter().any(|slice| (slice.from..slice.to).contains(&place));
            let mut pieces = message.pieces.iter().enumerate();
            let is_left = gone.is_empty()
                || pieces.any(|(place, piece)| !is_gone(place) && piece.is_there() && !piece.is_silent());
            (is_left && message.removed.is_none() && message.role != Role::System).then_some(at)
        })
    }

    /// Whether the marker or the summary directly precedes a message.
    fn is_marked_before(&self, message: usize, cut: &Cut) -> bool {
        let before = |slice: &super::pairs::MessageSlice| (slice.message, slice.from) <= (message, 0);
        let is_after_earlier = cut.stands_before.is_some_and(|before| before <= message);
        cut.added.is_some() && (is_after_earlier || cut.slices.first().is_some_and(before))
    }

    /// The first user message with content, from `from` on.
    fn greeting_end(&self, from: usize) -> Option<usize> {
        Some(from + self.messages.range(from, self.messages.len()).position(Message::has_user_content)?)
    }

    /// Whether any of these messages is always kept.
    fn has_pinned(&self, from: usize, to: usize) -> bool {
        let first = self.lead().saturating_add(usize::try_from(self.options.keep_first).unwrap_or(usize::MAX));
        from < first && self.options.keep_first > 0 || self.options.pinned.iter().any(|at| (from..to).contains(at))
    }

    /// Removes the turns before the first user turn.
    pub(super) fn drop_greeting(&mut self) {
        let greeting_end = self.greeting_end(0).filter(|_| self.course.drops_greeting).unwrap_or(0);
        let end = self.course.begins_at.max(greeting_end);
        if end == 0 {
            return;
        }
        for at in 0..end {
            if self.messages.get(at).is_some_and(|it| it.removed.is_none() && it.role != Role::System) {
                self.remove(at, Some(Reason::FirstTurn));
            }
        }
        let pairs = self.pairs;
        for &(call, result) in &pairs.answered {
            if call.0 < end && result.0 >= end {
                self.messages.piece_mut(result).map(|piece| piece.remove(Reason::FirstTurn));
            }
        }
        drop_links(&mut self.messages);
    }
}
