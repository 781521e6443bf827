//! What the reader of a format is given: the options, and where it notes what it finds.

use super::findings::Findings;
use super::zone::Zone;
use crate::error::{Code, Error, Result};
use crate::limits::Limits;

/// One tree of a file that holds several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// By its place in the file, from 0.
    At(u32),
    /// By its id or its title.
    Name(String),
}

/// How a file is read.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// What the file is of, where its shape shall not decide.
    pub format: Option<super::FileFormat>,
    /// Which of its trees are wanted; all of them where nothing is said.
    pub select: Option<Vec<Selector>>,
    /// What is added to times without a zone: `Z`, or an offset such as `+02:00`.
    pub utc_offset: Option<String>,
    /// Whose place is the tip, in files with several cursors.
    pub cursor: Option<String>,
    /// Bounds on the file.
    pub limits: Limits,
}

/// What is at hand while a file is read.
#[derive(Debug)]
pub(super) struct Context<'o> {
    pub options: &'o ImportOptions,
    pub zone: Zone,
    pub findings: Findings,
    /// Which of the selectors named a tree.
    used: Vec<bool>,
    /// How many trees were offered.
    offered: u32,
    names: Vec<String>,
}

/// The most names that an error lists.
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

    /// Whether the next tree of the file, with this id and this title, is wanted.
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

    /// Fails where a selector named no tree.
    pub(super) fn check_selection(&self) -> Result<()> {
        let unused = self.options.select.iter().flatten().zip(&self.used).find(|(_, used)| !**used);
        let Some((selector, _)) = unused else { return Ok(()) };
        let what = match selector {
            Selector::At(at) => format!("place {at}"),
            Selector::Name(name) => format!("`{name}`"),
        };
        let message = format!("`select` names {what}, which the file does not have; it holds {} trees", self.offered);
        Err(Error::new(Code::InvalidInput, message).with("path", "options.select").with("expected", self.names.clone()))
    }
}
