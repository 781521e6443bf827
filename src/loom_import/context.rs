//! The context of a format's reader: the options, and the findings.

use super::findings::Findings;
use super::zone::Zone;
use crate::error::{Code, Error, Result};
use crate::limits::Limits;

/// Selects one tree of a file with several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// By index in the file, from 0.
    At(u32),
    /// By id or title.
    Name(String),
}

/// The options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The format, if it is not to be detected.
    pub format: Option<super::FileFormat>,
    /// The selected trees; all if unset.
    pub select: Option<Vec<Selector>>,
    /// The zone for times without one: `Z`, or an offset such as `+02:00`.
    pub utc_offset: Option<String>,
    /// The cursor whose position is the tip, in files with several cursors.
    pub cursor: Option<String>,
    /// Limits on the file.
    pub limits: Limits,
}

/// The state while a file is read.
#[derive(Debug)]
pub(super) struct Context<'o> {
    pub options: &'o ImportOptions,
    pub zone: Zone,
    pub findings: Findings,
    /// Which selectors matched a tree.
    used: Vec<bool>,
    /// The number of trees in the file so far.
    offered: u32,
    names: Vec<String>,
}

/// Names listed in an error.
const MAX_LISTED_NAMES: usize = 20;

impl<'o> Context<'o> {
    pub(super) fn new(options: &'o ImportOptions) -> Result<Self> {
        Ok(Self {
            options,
            zone: Zone::new(options.utc_offset.as_deref())?,
            findings: Findings::default(),
            used: vec![false; options.select.as_ref().map_or(0, Vec::len)],
            offered: 0,
            names: Vec::new(),
        })
    }

    /// Whether the next tree of the file, with this id and title, is selected.
    pub(super) fn wants(&mut self, id: Option<&str>, title: Option<&str>) -> bool {
        let at = self.offered;
        self.offered = self.offered.saturating_add(1);
        let Some(select) = &self.options.select else { return true };
        if self.names.len() < MAX_LISTED_NAMES {
            self.names.extend(title.or(id).map(str::to_owned));
        }
        let mut wanted = false;
        for (selector, used) in select.iter().zip(&mut self.used) {
            let is_it = match selector {
                Selector::At(place) => *place == at,
                Selector::Name(name) => id == Some(name) || title == Some(name),
            };
            *used |= is_it;
            wanted |= is_it;
        }
        wanted
    }

    /// Fails if a selector matched no tree.
    pub(super) fn check_selection(&self) -> Result<()> {
        let unused = self.options.select.iter().flatten().zip(&self.used).find(|(_, used)| !**used);
        let Some((selector, _)) = unused else { return Ok(()) };
        let what = match selector {
            Selector::At(at) => format!("place {at}"),
            Selector::Name(name) => format!("`{name}`"),
        };
        let message = format!("`select` names {what}, which is missing in the file; it holds {} trees", self.offered);
        Err(Error::new(Code::InvalidInput, message).with("path", "options.select").with("expected", self.names.clone()))
    }
}
