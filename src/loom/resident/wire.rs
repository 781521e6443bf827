//! A tree that stays, as it is spoken to over the wire (SPEC §7 `class LoomTree`).
//!
//! [`Handle`] is the class that JavaScript sees, but for JavaScript: what comes is a shape that serde reads, from an
//! object or from JSON text, and what goes is data.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::de::{Deserialize, Deserializer};
use serde::{Deserialize as DeserializeDerive, Serialize};

#[cfg(target_arch = "wasm32")]
use super::DialogueDelta;
use super::{DialogueSummary, LoomTree, Measure, Removal, ReportSummary, TreeSize};
use crate::error::{Diagnostic, Result};
use crate::json;
use crate::limits::{LimitOverrides, Limits};
use crate::loom::report::Cut;
#[cfg(target_arch = "wasm32")]
use crate::loom::report::Report;
use crate::loom::request::Media;
use crate::loom::tree::{Edge, Node, TreeMode, TreeSettings};
use crate::loom::wire::{Asked, EdgeIn, MediaIn, NodeIn, PreferencesIn, RequestIn, TreeIn, known, lacks, media};
use crate::loom::{BufferAssembly, DialogueAssembly, content};
use crate::tokens::memory::{CachingCounter, CounterId, Memory};
use crate::tokens::{Counter, Tokenizers};

/// A tree that stays, and the settings that it was given beside.
#[derive(Debug)]
pub struct Handle {
    tree: LoomTree,
    limits: Limits,
    media: Rc<BTreeMap<String, Media>>,
}

/// Nodes and edges to be put into a tree.
#[derive(Debug, Default, DeserializeDerive)]
#[serde(default, expecting = "nodes and edges, an object")]
pub(crate) struct UpsertIn<'t> {
    #[serde(borrow)]
    nodes: Option<Vec<NodeIn<'t>>>,
    #[serde(borrow)]
    edges: Option<Vec<EdgeIn<'t>>>,
}

impl UpsertIn<'_> {
    /// Whether a text of the nodes holds this character.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn holds(&self, ch: char) -> bool {
        self.nodes.iter().flatten().any(|node| node.holds(ch))
    }
}

/// Ids of what is to be removed.
#[derive(Debug, Default, DeserializeDerive)]
#[serde(default, expecting = "ids of nodes and edges, an object")]
pub(crate) struct RemoveIn {
    nodes: Option<Vec<String>>,
    edges: Option<Vec<String>>,
}

/// Settings of a tree. What is absent stays as it is; null is the default again.
#[derive(Debug, Default, DeserializeDerive)]
#[serde(rename_all = "camelCase", default, expecting = "settings, an object")]
pub(crate) struct SettingsIn {
    #[serde(deserialize_with = "given")]
    title: Given<String>,
    #[serde(deserialize_with = "given")]
    mode: Given<String>,
    #[serde(deserialize_with = "given")]
    system_context: Given<String>,
    #[serde(deserialize_with = "given")]
    buffer_mode_system_context: Given<bool>,
    #[serde(deserialize_with = "given")]
    preferences: Given<PreferencesIn>,
    #[serde(deserialize_with = "given")]
    limits: Given<LimitOverrides>,
    #[serde(deserialize_with = "given")]
    media: Given<BTreeMap<String, MediaIn>>,
}

/// Nothing where nothing was said; nothing in it where null was.
type Given<T> = Option<Option<T>>;

fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Given<T>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// What an edit did, beside what it was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Edited {
    /// What had to be repaired in what came.
    pub diagnostics: Vec<Diagnostic>,
}

/// What is asked of a tree that stays.
#[derive(Debug)]
pub struct Question {
    pub(crate) asked: Asked,
    id: CounterId,
}

impl Question {
    /// Whether a text of the options holds this character.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn holds(&self, ch: char) -> bool {
        self.asked.options.holds(ch)
    }

    fn counter<'q>(&'q self, memory: &Memory) -> CachingCounter<'q> {
        memory.remember_as(self.id, self.asked.counter.as_ref())
    }
}

impl Handle {
    pub(crate) fn new(tree: TreeIn<'_>, memory: &Memory) -> Result<Self> {
        let limits = Limits::default();
        let tree = LoomTree::new(tree.finish(&limits)?, memory);
        Ok(Self { tree, limits, media: Rc::default() })
    }

    /// A tree from its JSON text, and what had to be repaired in it.
    ///
    /// # Errors
    /// Those of [`Tree::new`](crate::loom::Tree::new), and [`InvalidInput`](crate::Code::InvalidInput).
    pub fn from_json(text: &[u8], memory: &Memory) -> Result<(Self, Vec<Diagnostic>)> {
        let (text, diagnostics) = json::repair_surrogates(text);
        Ok((Self::new(json::read(&text)?, memory)?, diagnostics))
    }

    /// The tree.
    pub fn tree(&self) -> &LoomTree {
        &self.tree
    }

    pub(crate) fn upsert(&mut self, input: UpsertIn<'_>) -> Result<()> {
        let mut budget = content::Budget::new(&self.limits);
        let nodes: Vec<Node<'_>> =
            input.nodes.into_iter().flatten().map(|node| node.finish(&mut budget)).collect::<Result<_>>()?;
        let edges: Vec<Edge<'_>> = input.edges.into_iter().flatten().map(EdgeIn::finish).collect::<Result<_>>()?;
        self.tree.upsert(nodes, edges, &self.limits)
    }

    pub(crate) fn remove(&mut self, input: &RemoveIn) -> Result<Removal> {
        self.tree.remove(input.nodes.as_deref().unwrap_or_default(), input.edges.as_deref().unwrap_or_default())
    }

    /// Changes settings; all of them or, on an error, none.
    pub(crate) fn configure(&mut self, input: SettingsIn) -> Result<()> {
        let mut settings: TreeSettings = self.tree.tree().settings().clone();
        let modes = [("dialogue", TreeMode::Dialogue), ("buffer", TreeMode::Buffer)];
        let (mut limits, mut new_media) = (self.limits, None);
        if let Some(title) = input.title {
            settings.title = title;
        }
        if let Some(mode) = input.mode {
            settings.mode = known("mode", mode.as_deref(), &modes)?.unwrap_or_default();
        }
        if let Some(system_context) = input.system_context {
            settings.system_context = system_context;
        }
        if let Some(included) = input.buffer_mode_system_context {
            settings.buffer_mode_system_context = included.unwrap_or(false);
        }
        if let Some(preferences) = input.preferences {
            settings.preferences = preferences.unwrap_or_default().finish()?;
        }
        if let Some(overrides) = input.limits {
            limits = overrides.unwrap_or_default().resolve()?;
        }
        if let Some(given) = input.media {
            new_media = Some(Rc::new(media(given.unwrap_or_default())?));
        }
        self.tree.configure(settings);
        self.limits = limits;
        self.media = new_media.unwrap_or_else(|| self.media.clone());
        Ok(())
    }

    /// Whether options are such that they can be the defaults of what is asked.
    pub(crate) fn check_defaults(
        &self,
        defaults: RequestIn,
        tokenizers: &Tokenizers,
        own: Option<Rc<dyn Counter>>,
    ) -> Result<()> {
        let id = self.tree.memory().counter("");
        match self.question(defaults.at(None), tokenizers, own.map(|own| (own, id))) {
            // It can be loaded until something is counted.
            Err(error) if error.code() != crate::Code::VocabularyNotLoaded => Err(error),
            _ => Ok(()),
        }
    }

    /// What is asked. `own` is the caller's own counter, where it brings one, with the id that is its alone.
    pub(crate) fn question(
        &self,
        mut request: RequestIn,
        tokenizers: &Tokenizers,
        own: Option<(Rc<dyn Counter>, CounterId)>,
    ) -> Result<Question> {
        let limits = match request.limits.take() {
            Some(overrides) => overrides.resolve()?,
            None => self.limits,
        };
        let no_media = !request.has_media();
        let own_id = own.as_ref().map(|&(_, id)| id);
        let mut asked = request.asked(limits, tokenizers, own.map(|(counter, _)| counter))?;
        if no_media {
            asked.options.media = Rc::clone(&self.media);
        }
        let id = own_id.unwrap_or_else(|| self.tree.memory().counter(asked.counter.name()));
        Ok(Question { asked, id })
    }

    /// What is asked, from JSON text.
    ///
    /// # Errors
    /// Those of the options; see [`Request::from_json`](crate::loom::wire::Request::from_json).
    pub fn question_from_json(&self, text: &[u8], tokenizers: &Tokenizers) -> Result<(Question, Vec<Diagnostic>)> {
        let (text, diagnostics) = json::repair_surrogates(text);
        Ok((self.question(json::read(&text)?, tokenizers, None)?, diagnostics))
    }

    pub(crate) fn path(&self, question: &Question) -> Result<Vec<&str>> {
        self.tree.path(&question.asked.options)
    }

    pub(crate) fn dialogue<R>(
        &mut self,
        question: &Question,
        show: impl FnOnce(DialogueAssembly<'_>) -> R,
    ) -> Result<R> {
        let counter = question.counter(self.tree.memory());
        self.tree.assemble_dialogue(&question.asked.options, &counter).map(show)
    }

    pub(crate) fn dialogue_summary<R>(
        &mut self,
        question: &Question,
        show: impl FnOnce(DialogueSummary<'_>) -> R,
    ) -> Result<R> {
        let counter = question.counter(self.tree.memory());
        self.tree.summarize_dialogue(&question.asked.options, &counter).map(show)
    }

    /// The same for somebody who has the messages of an earlier delta; see [`LoomTree::dialogue_delta`].
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn delta<R>(
        &mut self,
        question: &Question,
        have: u32,
        show: impl FnOnce(DialogueDelta<'_>) -> R,
    ) -> Result<R> {
        let counter = question.counter(self.tree.memory());
        self.tree.dialogue_delta(&question.asked.options, &counter, have).map(show)
    }

    /// The same with the whole account.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn assembly_delta<R>(
        &mut self,
        question: &Question,
        have: u32,
        show: impl FnOnce(DialogueDelta<'_, Report<'_>>) -> R,
    ) -> Result<R> {
        let counter = question.counter(self.tree.memory());
        self.tree.assembly_delta(&question.asked.options, &counter, have).map(show)
    }

    pub(crate) fn buffer<R>(&self, question: &Question, show: impl FnOnce(BufferAssembly<'_>) -> R) -> Result<R> {
        let counter = question.counter(self.tree.memory());
        self.tree.assemble_buffer(&question.asked.options, &counter).map(show)
    }

    pub(crate) fn body<R>(&mut self, question: &Question, show: impl FnOnce(&[u8], ReportSummary) -> R) -> Result<R> {
        let target = question.asked.target.as_ref().ok_or_else(|| lacks("the request", "target"))?;
        let counter = question.counter(self.tree.memory());
        self.tree.show_body(&question.asked.options, target, &counter, show)
    }

    pub(crate) fn tokens_of(&self, ids: &[String], question: &Question) -> Result<Vec<u64>> {
        self.tree.tokens_of(ids, &question.asked.options, &question.counter(self.tree.memory()))
    }

    pub(crate) fn measure(&mut self, question: &Question) -> Result<Measure> {
        let counter = question.counter(self.tree.memory());
        self.tree.measure_path(&question.asked.options, &counter)
    }

    pub(crate) fn would_cut<R>(&mut self, question: &Question, show: impl FnOnce(Option<Cut<'_>>) -> R) -> Result<R> {
        let counter = question.counter(self.tree.memory());
        self.tree.would_cut(&question.asked.options, &counter).map(show)
    }

    pub(crate) fn size(&self) -> TreeSize {
        self.tree.size()
    }

    /// Calls a method by the name that it has in JavaScript, with arguments and an answer of JSON.
    ///
    /// # Errors
    /// Those of the method.
    pub fn call(
        &mut self,
        method: &str,
        args: &[serde_json::Value],
        tokenizers: &Tokenizers,
    ) -> Result<serde_json::Value> {
        let text = |at: usize| json::write(args.get(at).unwrap_or(&serde_json::Value::Null));
        let texts = [text(0)?, text(1)?];
        let read = |at: usize| -> Result<RequestIn<'_>> {
            let text = texts.get(at).map_or(b"null".as_slice(), Vec::as_slice);
            Ok(json::read::<Option<RequestIn<'_>>>(text)?.unwrap_or_default())
        };
        let value = |shown: Result<Vec<u8>>| -> Result<serde_json::Value> { json::read(&shown?) };
        match method {
            "upsert" => {
                let text = text(0)?;
                let (text, diagnostics) = json::repair_surrogates(&text);
                self.upsert(json::read(&text)?)?;
                value(json::write(&Edited { diagnostics }))
            }
            "remove" => value(json::write(&self.remove(&json::read(&text(0)?)?)?)),
            "configure" => {
                self.check_defaults(read(0)?, tokenizers, None)?;
                self.configure(json::read(&text(0)?)?).map(|()| serde_json::Value::Null)
            }
            "size" => value(json::write(&self.size())),
            "path" => {
                let request = read(1)?.at(json::read(&text(0)?)?);
                let question = self.question(request, tokenizers, None)?;
                value(json::write(&self.path(&question)?))
            }
            "tokensOf" => {
                let ids: Vec<String> = json::read(&text(0)?)?;
                let question = self.question(read(1)?.at(None), tokenizers, None)?;
                value(json::write(&self.tokens_of(&ids, &question)?))
            }
            _ => {
                let question = self.question(read(0)?, tokenizers, None)?;
                match method {
                    "summarizeDialogue" => value(self.dialogue_summary(&question, |it| json::write(&it))?),
                    "assembleDialogue" => value(self.dialogue(&question, |it| json::write(&it))?),
                    "assembleBuffer" => value(self.buffer(&question, |it| json::write(&it))?),
                    "measurePath" => value(json::write(&self.measure(&question)?)),
                    "wouldCut" => value(self.would_cut(&question, |it| json::write(&it))?),
                    "requestBody" => {
                        let text = self.body(&question, |bytes, _| String::from_utf8_lossy(bytes).into_owned())?;
                        Ok(serde_json::json!({ "$text": text }))
                    }
                    other => Err(crate::Error::new(crate::Code::InvalidInput, format!("there is no method `{other}`"))),
                }
            }
        }
    }
}
