//! Limits on the images and the size of a request (docs/chats.md).

use super::edits::images_in;
use super::fit::{Cut, Fit};
use super::options::Phase;
use super::report::Fate;
use crate::assembly::budget;
use crate::assembly::shorten::IMAGE;
use crate::content::Role;
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Severity};
use crate::json;
use crate::vendors::anthropic::images::{MANY_IMAGES, many_large_images};
use crate::vendors::chats::user_message;
use crate::vendors::pieces::message::{At, Change, Kind, Message, Piece, Reason};

impl Fit<'_> {
    /// Replaces the oldest images if there are too many. In a series it goes to a lower target, so that the prefix is
    /// stable for the next turns.
    pub(super) fn limit_images(&mut self) {
        let Some(max) = self.options.max_images.map(|max| usize::try_from(max).unwrap_or(usize::MAX)) else { return };
        let images = images_in(&self.messages);
        if images.len() <= max {
            return;
        }
        let target = usize::try_from(self.part_for_step(max as u64)).unwrap_or(max);
        let (needed, free) = self.needed_last(images);
        let free_left = target.saturating_sub(needed.len());
        let needed_left = max.min(needed.len());
        let mut gone: Vec<At> = free.iter().copied().take(free.len().saturating_sub(free_left)).collect();
        gone.extend(needed.iter().copied().take(needed.len().saturating_sub(needed_left)));
        for at in gone {
            self.replace_image(at);
        }
    }

    /// Replaces the oldest images if the messages are too large.
    pub(super) fn limit_bytes(&mut self) {
        let (Some(max), Some(reserved)) = (self.options.max_bytes, self.course.reserved_bytes) else { return };
        let max = max.saturating_sub(reserved);
        let mut bytes = self.bytes(&Cut::default());
        if bytes <= max {
            return;
        }
        let target = self.part_for_step(max);
        let (needed, free) = self.needed_last(images_in(&self.messages));
        for (images, most) in [(free, target), (needed, max)] {
            for at in images {
                if bytes <= most {
                    break;
                }
                if let Some(saved) = self.saved_by(at)
                    && self.replace_image(at) > 0
                {
                    bytes = bytes.saturating_sub(saved);
                }
            }
        }
    }

    /// Images that are removed last (those of the last user message, of unread results and of pinned messages), and all
    /// others; oldest first.
    fn needed_last(&self, images: Vec<At>) -> (Vec<At>, Vec<At>) {
        let is_models = |message: &Message<'_>| message.role == Role::Assistant && message.removed.is_none();
        let read_to = self.messages.iter().rposition(is_models).unwrap_or(0);
        let last_user = self.messages.iter().rposition(Message::has_user_content).unwrap_or(0);
        let is_needed = |&(message, _): &At| message > read_to || message == last_user || self.is_pinned(message);
        images.into_iter().partition(is_needed)
    }

    fn is_pinned(&self, message: usize) -> bool {
        self.options.pinned.contains(&message)
    }

    fn replace_image(&mut self, at: At) -> u64 {
        let tokens = self.prices.text(IMAGE);
        let piece = self.messages.piece_mut(at);
        piece.map_or(0, |piece| piece.replace_image(IMAGE, tokens, Reason::ImageRemoved))
    }

    /// Bytes saved by replacing the next image of a piece with a text, if any.
    fn saved_by(&self, (message, place): At) -> Option<u64> {
        let piece = self.messages.get(message)?.pieces.get(place)?;
        let (path, shape) = match piece.kind {
            Kind::Image => piece.body.as_ref().map(|(path, shape)| (path, Some(*shape)))?,
            _ => piece.images.last().map(|image| (&image.path, image.shape))?,
        };
        let size = self.facts.sizes.get(message)?;
        let change = match shape {
            Some(shape) => Change::Set(path.clone(), shape.write(IMAGE)),
            None => Change::Remove([path.clone()]),
        };
        size.whole.checked_sub(size.with(&[change])).filter(|&saved| saved > 0)
    }

    /// Whether a removable image is left.
    pub(super) fn has_images(&self) -> bool {
        images_in(&self.messages).into_iter().any(|at| self.saved_by(at).is_some())
    }

    /// Reports images that Anthropic rejects because there are many.
    pub(super) fn report_large_images(&mut self, cut: &Cut) {
        if !self.rules.limits_images {
            return;
        }
        let mut slices = cut.slices.iter().peekable();
        let (mut count, mut first) = (0, None);
        for (at, message) in self.messages.iter().enumerate() {
            let mut gone = Vec::new();
            while let Some(slice) = slices.next_if(|slice| slice.message == at) {
                gone.push(slice.from..slice.to);
            }
            let is_gone = |place: usize| gone.iter().any(|range| range.contains(&place));
            let pieces = message.pieces.iter().enumerate().filter(|_| message.removed.is_none());
            for (_, piece) in pieces.filter(|(place, piece)| piece.is_there() && !is_gone(*place)) {
                let is_image = piece.kind == Kind::Image && piece.changed.is_none();
                count += usize::from(is_image) + piece.images.len();
                if is_image && piece.is_large_image || piece.images.iter().any(|image| image.is_large) {
                    first = first.or(Some(at));
                }
            }
        }
        if let Some(at) = first.filter(|_| count > MANY_IMAGES) {
            let message = many_large_images(count);
            let found = Diagnostic::new(DiagnosticCode::ManyLargeImages, Severity::Warning, message);
            self.diagnostics.push(found.at_path(format!("messages[{at}]")));
        }
    }

    /// The number of bytes of the result over `maxBytes`.
    pub(super) fn bytes_over(&self, cut: &Cut) -> u64 {
        match self.options.max_bytes {
            // The text of the summary is unknown.
            Some(max) if self.phase != Phase::Plan => self.bytes(cut).saturating_sub(max),
            _ => 0,
        }
    }

    /// The error for messages that exceed `maxBytes` by `over` bytes.
    pub(super) fn too_large(&self, over: u64) -> Error {
        let limit = self.options.max_bytes.unwrap_or(0);
        let required = limit.saturating_add(over);
        let message = format!(
            "the messages take {required} bytes even without their images, over `maxBytes` of {limit}; remove files or raise it"
        );
        budget::over(Code::RequestTooLarge, message, limit, required)
    }

    /// Bytes of the messages with this cut, as JSON in UTF-8.
    fn bytes(&self, cut: &Cut) -> u64 {
        let mut slices = cut.slices.iter().peekable();
        let added = cut.added.as_ref().map(|(_, text)| json::text(&user_message(self.format, text)).len() as u64);
        let (mut count, mut bytes) = (u64::from(added.is_some()), added.unwrap_or(0));
        for (at, (message, size)) in self.messages.iter().zip(self.facts.sizes).enumerate() {
            let mut gone = Vec::new();
            while let Some(slice) = slices.next_if(|slice| slice.message == at) {
                gone.push(slice.from..slice.to);
            }
            let is_gone = |place: usize| gone.iter().any(|range| range.contains(&place));
            let is_left =
                |(place, piece): (usize, &Piece<'_>)| !is_gone(place) && piece.is_there() && !piece.is_silent();
            let is_whole = !gone.is_empty() && !message.pieces.iter().enumerate().any(is_left);
            if message.removed.is_some() || is_whole {
                continue;
            }
            count += 1;
            let (changes, _) = self.changes(message, is_gone, (Fate::Cut, None));
            bytes = bytes.saturating_add(if changes.is_empty() { size.whole } else { size.with(&changes) });
        }
        // The brackets and the commas.
        bytes.saturating_add(2 + count.saturating_sub(1))
    }
}
