//! The cached costs of nodes, invalidated by edits.

use std::rc::Rc;

use crate::content::Media;
use crate::loom::request::Options;
use crate::loom::tree::NodeIx;
use crate::maps::SortedMap;
use crate::prompt::ImageRule;
use crate::tokens::memory::CounterId;

/// The cached costs of all nodes. An edit invalidates the costs that it changes.
#[derive(Debug, Default)]
pub(super) struct NodeCosts {
    key: Option<CostKey>,
    /// Tokens of each node, by slot.
    pub(super) tokens: Vec<u32>,
    pub(super) sums: Option<Sums>,
}

/// Sums by slot. Excluded and pruned nodes add nothing.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// Over the path to each node.
    pub(super) paths: Vec<f64>,
    /// Over each node and its descendants.
    pub(super) subtrees: Vec<f64>,
}

/// The inputs that counts depend on.
#[derive(Debug)]
struct CostKey {
    counter: CounterId,
    image: ImageRule,
    audio_second: u64,
    media: Rc<SortedMap<String, Media<'static>>>,
}

/// A count that is not computed.
pub(super) const UNKNOWN: u32 = u32::MAX;

impl NodeCosts {
    /// Invalidates costs after edits at these slots.
    pub(super) fn touch(&mut self, places: &[NodeIx]) {
        if places.is_empty() {
            return;
        }
        self.sums = None;
        for &place in places {
            if let Some(tokens) = self.tokens.get_mut(place as usize) {
                *tokens = UNKNOWN;
            }
        }
    }

    /// Discards costs of another counter or other media costs.
    pub(super) fn set_key(&mut self, options: &Options, counter: CounterId) {
        let is_same = self.key.as_ref().is_some_and(|key| {
            let same_media = Rc::ptr_eq(&key.media, &options.media) || key.media == options.media;
            key.counter == counter
                && key.image == options.image
                && key.audio_second == options.audio_second
                && same_media
        });
        if !is_same {
            let Options { image, audio_second, .. } = *options;
            let media = Rc::clone(&options.media);
            *self = Self { key: Some(CostKey { counter, image, audio_second, media }), ..Self::default() };
        }
    }
}
