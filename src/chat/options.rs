//! The options of a fit (docs/chats.md).

use std::rc::Rc;

use serde_json::Value as Json;

use super::state::Previous;
use crate::assembly::budget;
use crate::assembly::preserved::PreservedThinking;
use crate::assembly::series::part_of_limit;
use crate::assembly::settings::{CHAT_MARKER, Fill, Protect, Strategy, not_whole};
use crate::assembly::shorten::CLEARED_RESULT;
use crate::content::Role;
use crate::error::{Code, Diagnostic, DiagnosticCode, Error, Result, Severity};
use crate::json::refuse_unknown;
use crate::prompt::Format;
use crate::text::is_blank;
use crate::tokens::bpe::Encoding;
use crate::tokens::models::Model;
use crate::tokens::{Counter, Tokenizers, families, models};

/// The options of a fit, a count or a measurement. Counting and measuring use `format`, `counter`, `tokenizers`,
/// `model`, `tools` and `system`.
///
/// The limit is `max_tokens`, or `context_window` less `token_buffer`, or the limit of `model`.
#[derive(Clone, Debug)]
pub struct FitOptions {
    /// Format of the messages; detected by their shape if unset.
    pub format: Option<Format>,
    /// The limit in tokens. No buffer is subtracted.
    pub max_tokens: Option<u64>,
    /// The context window of the model in tokens, including its answer.
    pub context_window: Option<u64>,
    /// Tokens kept free for the answer. Defaults to the output limit of `model`, otherwise to 1024.
    pub token_buffer: Option<u64>,
    /// The context window if `model` is unknown and no other option sets the limit.
    pub default_window: Option<u64>,
    /// The maximal number of images in the request. The oldest are replaced by a text; those of the last user message
    /// and of unread results last.
    pub max_images: Option<u64>,
    /// The maximal size of the messages as JSON in UTF-8, with binary data as base64. Images are replaced as by
    /// `max_images`.
    pub max_bytes: Option<u64>,
    /// Name of the model: determines the limit, the tokenizer, the cost of images and the vendor's rules. Without
    /// another limit the name must be known.
    pub model: Option<String>,
    /// The counter. Defaults to the model's among `tokenizers`, without a model to the estimator. If the model's is not
    /// loaded, a fit estimates and reports `tokens_estimated`; a count fails.
    pub counter: Option<Rc<dyn Counter>>,
    /// The loaded tokenizers.
    pub tokenizers: Tokenizers,
    /// The tool definitions, as the provider receives them: a list, or for the AI SDK an object. They cost tokens.
    pub tools: Option<Json>,
    /// The system context outside the messages: a text, a list of parts, or an object with `text`, `parts` or `content`.
    pub system: Option<Json>,
    /// Tokens of each message, if known. They replace counting; only shortened texts are counted. Not for a
    /// [`Chat`](super::Chat).
    pub costs: Option<Vec<u32>>,
    /// Indices of messages that are always kept.
    pub pinned: Vec<usize>,
    /// Whether calls without results, and results without calls, are removed. Defaults to `true`.
    pub repair: bool,
    /// Messages after the leading system messages that are always kept. Defaults to 0.
    pub keep_first: u64,
    /// Messages at the end that [`Strategy::TruncateMiddle`] protects. Defaults to 4.
    pub keep_last: u64,
    /// Roles with which a window may begin; any if empty.
    pub start_on: Vec<Role>,
    /// Roles with which the conversation may end; any if empty.
    pub end_on: Vec<Role>,
    /// The strategy if the chat is over the limit.
    pub truncation_strategy: Strategy,
    /// Text of the message that replaces removed messages; `{count}` becomes their number. If empty no such message is
    /// added, unless a turn of the model would be first.
    pub truncation_marker: String,
    /// Removals are rounded up to a multiple of this many tokens, unless it is 0.
    pub cut_step: u64,
    /// Messages that are shortened rather than removed. Defaults to the first and the last user message for
    /// [`Strategy::TruncateMiddle`], to the last for [`Strategy::RollingWindow`], to the first for [`Strategy::KeepStart`].
    pub protect: Option<Vec<Protect>>,
    /// Tools whose latest call is kept with its result, shortened. Defaults to the plan tools of known agents for
    /// [`Strategy::TruncateMiddle`], to none for the others.
    pub protect_tools: Option<Vec<String>>,
    /// Texts that are shortened at the edges of the gap, to use the rest of the limit.
    pub fill: Fill,
    /// Edits to messages, made before whole messages are removed. Defaults to clearing all tool results except the last
    /// three, with [`Strategy::StopAtLimit`] to no edits.
    pub edits: Option<Edits>,
    /// Tokens of a summary, including its prefix. Defaults to a quarter of the limit. See
    /// [`plan_fit`](super::plan_fit).
    pub summary_tokens: Option<u64>,
    /// The treatment of signed thinking that a change makes invalid. With [`PreservedThinking::DropBlock`],
    /// [`Report::body`](super::Report::body) has the fields by which the provider drops it.
    pub preserved_thinking: PreservedThinking,
    /// The fit that this one continues. Its treatment is applied again, so that the result begins with the last one,
    /// until the limit is exceeded; then a step cuts down to `cut_to`.
    pub previous: Previous,
    /// The fraction of the limit that a step cuts to, above 0 and at most 1. Defaults to 0.75 in a series; a single fit
    /// uses the whole limit.
    pub cut_to: Option<f64>,
    /// Fields of the request outside the chat. A `model` there only selects the vendor's rules.
    pub request: RequestFields,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            format: None,
            max_tokens: None,
            context_window: None,
            token_buffer: None,
            default_window: None,
            max_images: None,
            max_bytes: None,
            model: None,
            counter: None,
            tokenizers: Tokenizers::default(),
            tools: None,
            system: None,
            costs: None,
            pinned: Vec::new(),
            repair: true,
            keep_first: 0,
            keep_last: 4,
            start_on: Vec::new(),
            end_on: Vec::new(),
            truncation_strategy: Strategy::default(),
            truncation_marker: CHAT_MARKER.to_owned(),
            cut_step: 0,
            protect: None,
            protect_tools: None,
            fill: Fill::default(),
            edits: None,
            summary_tokens: None,
            preserved_thinking: PreservedThinking::default(),
            previous: Previous::None,
            cut_to: None,
            request: RequestFields::default(),
        }
    }
}

/// Fields of a request, outside the messages, that the rules depend on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestFields {
    /// The field `model`.
    pub model: Option<String>,
    /// The field `thinking` of Anthropic's requests.
    pub thinking: Option<Json>,
    /// The field `reasoning` of OpenAI's requests.
    pub reasoning: Option<Json>,
    /// The field `tool_choice`.
    pub tool_choice: Option<Json>,
    /// The field `temperature`.
    pub temperature: Option<Json>,
    /// The field `top_p`.
    pub top_p: Option<Json>,
    /// The field `top_k`.
    pub top_k: Option<Json>,
    /// Whether the provider stores the beginning of the conversation, so that results without calls are legal.
    pub continues: bool,
}

impl RequestFields {
    /// These fields, with missing ones taken from `below`.
    pub(super) fn over(self, below: &Self) -> Self {
        let Self { model, thinking, reasoning, tool_choice, temperature, top_p, top_k, continues } = self;
        let or = |field: Option<Json>, below: &Option<Json>| field.or_else(|| below.clone());
        Self {
            model: model.or_else(|| below.model.clone()),
            thinking: or(thinking, &below.thinking),
            reasoning: or(reasoning, &below.reasoning),
            tool_choice: or(tool_choice, &below.tool_choice),
            temperature: or(temperature, &below.temperature),
            top_p: or(top_p, &below.top_p),
            top_k: or(top_k, &below.top_k),
            continues: continues || below.continues,
        }
    }

    /// A field that the vendor may reject.
    pub(super) fn refusable(&self, name: &str) -> Option<&Json> {
        let field = match name {
            "tool_choice" => &self.tool_choice,
            "temperature" => &self.temperature,
            "top_p" => &self.top_p,
            "top_k" => &self.top_k,
            _ => &None,
        };
        field.as_ref()
    }

    /// Whether thinking is manual, which only older models support.
    pub(super) fn is_manual(&self) -> bool {
        self.thinking.as_ref().is_some_and(|thinking| thinking.get("type").is_some_and(|kind| kind == "enabled"))
    }
}

/// The edits before whole messages are removed, each oldest first and only as far as needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Tokens of the request above which edits are made. Defaults to the limit.
    pub trigger: Option<u64>,
    /// Whether all edits are made even if not needed.
    pub always: bool,
    /// The minimal tokens that an edit has to free; otherwise it is not made.
    pub min_tokens_freed: u64,
    /// The tokens freed by edits are rounded up to a multiple of this, unless it is 0: then edits are made in steps,
    /// not for each new message.
    pub step: u64,
    /// Replaces results by a placeholder, or shortens them.
    pub tool_results: Option<ResultEdit>,
    /// Clears the arguments of calls.
    pub tool_inputs: Option<CallEdit>,
    /// Removes calls with their results.
    pub tool_calls: Option<CallEdit>,
    /// Removes reasoning.
    pub reasoning: Option<RemovedReasoning>,
    /// Replaces images by a text, except the last ones.
    pub images: Option<u64>,
}

impl Edits {
    /// Whether edits are made of a request with `total` tokens.
    pub(super) fn is_due(&self, total: u64, target: u64) -> bool {
        let is_any = self.tool_results.is_some()
            || self.tool_inputs.is_some()
            || self.tool_calls.is_some()
            || self.reasoning.is_some()
            || self.images.is_some();
        is_any && (self.always || total > target)
    }
}

/// Selects the results that are replaced by a placeholder or shortened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultEdit {
    /// The number of last results that are unchanged.
    pub keep_last: u64,
    /// The last results are unchanged while their sum is at most this many tokens.
    pub keep_tokens: u64,
    /// Tokens to which a result is shortened; if unset, the placeholder replaces it.
    pub max_tokens: Option<u64>,
    /// The text that replaces a removed result.
    pub placeholder: String,
    /// The tools whose results are selected.
    pub tools: ToolFilter,
    /// Whether only the newest result of equal calls is kept, regardless of other settings.
    pub duplicates: bool,
}

/// The tools that an edit applies to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Names of the tools; all if unset.
    pub only: Option<Vec<String>>,
    /// Names of tools that the edit ignores.
    pub exclude: Vec<String>,
}

impl ToolFilter {
    pub(super) fn include(&self, tool: &str) -> bool {
        let is_in = |tools: &Vec<String>| tools.iter().any(|name| name == tool);
        self.only.as_ref().is_none_or(is_in) && !is_in(&self.exclude)
    }
}

impl ResultEdit {
    /// An edit that replaces all results but the last ones by the default placeholder.
    pub fn new(keep_last: u64) -> Self {
        Self {
            keep_last,
            keep_tokens: 0,
            max_tokens: None,
            placeholder: CLEARED_RESULT.to_owned(),
            tools: ToolFilter::default(),
            duplicates: false,
        }
    }
}

/// Results that are kept if the options set no edits.
const DEFAULT_KEPT_RESULTS: u64 = 3;

/// Selects the calls that are removed with their results, or lose their arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEdit {
    /// The number of last calls that are kept.
    pub keep_last: u64,
    /// The tools whose calls are selected.
    pub tools: ToolFilter,
}

/// The reasoning that an edit removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovedReasoning {
    /// All reasoning, except that of Anthropic's current turn.
    All,
    /// Reasoning before the last message of the user.
    BeforeLastUser,
}

/// The kind of call: a whole fit, or one of the two halves around a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Fit,
    Plan,
    /// With the summary; `None` if it failed, and messages are cut instead.
    Finish(Option<String>),
}

impl Phase {
    /// Fails for an empty summary.
    pub(super) fn check(&self) -> Result<()> {
        match self {
            Self::Finish(Some(summary)) if is_blank(summary) => Err(Error::new(
                Code::InvalidInput,
                "the summary is empty; pass a text, or `{ error }` to continue without one",
            )
            .with("path", "summary")),
            _ => Ok(()),
        }
    }
}

/// Whether `roles` contains a role. Developers count as system.
pub(super) fn holds(roles: &[Role], role: Role) -> bool {
    roles.iter().any(|&known| known == role || known.is_system() && role.is_system())
}

/// The limit and the counter of a fit.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    /// The limit of the request, in tokens.
    pub limit: u64,
    pub counter: Rc<dyn Counter>,
}

/// Tokens kept free for the answer if neither an option nor the model states a number.
const DEFAULT_TOKEN_BUFFER: u64 = 1024;

impl FitOptions {
    /// The effective value of `protect`.
    pub(super) fn protected(&self) -> &[Protect] {
        self.protect.as_deref().unwrap_or(default_protect(self.truncation_strategy))
    }

    /// The effective edits.
    pub(super) fn edits(&self) -> Edits {
        let is_error = self.truncation_strategy == Strategy::StopAtLimit;
        let tool_results = (!is_error).then(|| ResultEdit::new(DEFAULT_KEPT_RESULTS));
        self.edits.clone().unwrap_or_else(|| Edits { tool_results, ..Edits::default() })
    }

    /// Whether the latest call of a tool is protected.
    pub(super) fn protects_tool(&self, name: &str) -> bool {
        match &self.protect_tools {
            Some(tools) => tools.iter().any(|tool| tool == name),
            None => self.truncation_strategy == Strategy::TruncateMiddle && PLAN_TOOLS.contains(&name),
        }
    }

    /// The limit and the counter; options without an effect become diagnostics.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] without a limit, [`Code::InvalidBudget`] for one that leaves no tokens,
    /// [`Code::UnknownValue`] for an unknown model without another limit.
    pub(super) fn budget(&self, diagnostics: &mut Vec<Diagnostic>) -> Result<Budget> {
        self.cut_to.map_or(Ok(0.0), part_of_limit)?;
        let model = self.known_model()?;
        let counter = self.counter_of(model.as_ref(), Some(&mut *diagnostics))?;
        if let (Some(name), Some(known)) = (&self.model, model.and_then(|model| model.counts_as)) {
            let message = format!("`{name}` is an unknown model; it counts as `{known}`, the newest known of its line");
            let assumed = Diagnostic::new(DiagnosticCode::ModelAssumed, Severity::Info, message);
            diagnostics.push(assumed.at_path("options.model"));
        }
        Ok(Budget { limit: self.limit(model.as_ref(), diagnostics)?, counter })
    }

    /// These options, with those that describe the chat, not the fit, taken from `chat`.
    pub(super) fn of_chat(&self, chat: &Self) -> Self {
        Self {
            format: chat.format,
            model: chat.model.clone(),
            counter: chat.counter.clone(),
            tokenizers: chat.tokenizers.clone(),
            tools: None,
            system: None,
            request: chat.request.clone(),
            ..self.clone()
        }
    }

    /// Fails if `costs` is set: a resident chat counts its messages when they are appended.
    pub(super) fn without_costs(&self) -> Result<()> {
        if self.costs.is_none() {
            return Ok(());
        }
        let message = "`options.costs` is not an option of a chat; pass it to `fit`";
        Err(Error::new(Code::InvalidInput, message).with("path", "options.costs"))
    }

    /// The counter, without a limit.
    ///
    /// # Errors
    /// [`Code::UnknownValue`] for an unknown model, [`Code::VocabularyNotLoaded`] if its tokenizer is not loaded.
    pub(super) fn budget_to_count(&self) -> Result<Budget> {
        let counter = self.counter_of(self.known_model()?.as_ref(), None)?;
        Ok(Budget { limit: u64::MAX, counter })
    }

    /// The model's properties. With another limit the model may be unknown.
    fn known_model(&self) -> Result<Option<Model>> {
        let Some(name) = &self.model else { return Ok(None) };
        let has_limit = self.max_tokens.or(self.context_window).or(self.default_window).is_some();
        match models::model(name) {
            None if !has_limit => Err(models::unknown(name, "options.model", "contextWindow")),
            model => Ok(model),
        }
    }

    /// The counter, or the model's. If `found` is set, an estimate replaces one that is not loaded.
    fn counter_of(&self, model: Option<&Model>, found: Option<&mut Vec<Diagnostic>>) -> Result<Rc<dyn Counter>> {
        let estimate = || self.tokenizers.get("heuristic");
        let estimate_for = |tokenizer: &str| match Encoding::from_name(tokenizer) {
            Some(Encoding::Cl100kBase) => self.tokenizers.get(families::CL100K),
            _ => estimate(),
        };
        let name = match (&self.counter, &self.model) {
            (Some(counter), _) => return Ok(Rc::clone(counter)),
            (None, None) => return estimate(),
            (None, Some(name)) => name,
        };
        let tokenizer = match (model, models::family(name)) {
            (Some(model), _) => model.tokenizer,
            // New models count like the newest known one.
            (None, Some(family @ ("claude" | "gemini"))) => family,
            (None, _) => "",
        };
        match (self.tokenizers.get(tokenizer), found) {
            (Err(_), Some(found)) => {
                let message = if tokenizer.is_empty() {
                    format!("the tokenizer of `{name}` is unknown; the counts are estimates")
                } else {
                    format!("`{name}` is counted by `{tokenizer}`, which is not loaded; the counts are estimates")
                };
                let estimated = Diagnostic::new(DiagnosticCode::TokensEstimated, Severity::Info, message);
                found.push(estimated.at_path("options.model"));
                estimate_for(tokenizer)
            }
            (counter, _) => counter,
        }
    }

    /// The limit: `max_tokens`, or the context window less the buffer, or that of the model.
    fn limit(&self, model: Option<&Model>, diagnostics: &mut Vec<Diagnostic>) -> Result<u64> {
        if let Some(limit) = self.max_tokens {
            if limit == 0 {
                return Err(not_whole("maxTokens", 0.0, 1));
            }
            if self.context_window.is_some() {
                let message = "`maxTokens` and `contextWindow` exclude each other; pass one of them";
                return Err(Error::new(Code::InvalidInput, message).with("path", "options.contextWindow"));
            }
            if self.token_buffer.is_some() {
                let message = "`tokenBuffer` was ignored because `maxTokens` is the whole limit; use `contextWindow`";
                let diagnostic = Diagnostic::new(DiagnosticCode::OptionIgnored, Severity::Warning, message);
                diagnostics.push(diagnostic.at_path("options.tokenBuffer"));
            }
            return Ok(limit);
        }
        if let Some(window) = self.context_window {
            return budget::limit(window, self.token_buffer.unwrap_or(DEFAULT_TOKEN_BUFFER));
        }
        if let (None, Some(_), Some(window)) = (model, &self.model, self.default_window) {
            return budget::limit(window, self.token_buffer.unwrap_or(DEFAULT_TOKEN_BUFFER));
        }
        let Some(model) = model else {
            // An unknown option may be a misspelled limit.
            refuse_unknown(diagnostics)?;
            let message = "`options` has no limit; pass `maxTokens`, `contextWindow` or `model`";
            return Err(Error::new(Code::InvalidInput, message).with("path", "options"));
        };
        // An output limit as long as the window cannot be kept free.
        let longest = model.output_limit.filter(|&longest| longest < model.context_window);
        let buffer = self.token_buffer.unwrap_or(longest.map_or(DEFAULT_TOKEN_BUFFER, u64::from));
        let limit = budget::limit(model.context_window.into(), buffer)?;
        Ok(model.input_limit.map_or(limit, |most| limit.min(u64::from(most))))
    }
}

/// Tools in which known agents keep a plan or a list of tasks.
const PLAN_TOOLS: &[&str] = &[
    "TodoWrite",
    "todo_write",
    "todowrite",
    "update_plan",
    "write_todos",
    "manage_todo_list",
    "update_todo_list",
    "SetTodoList",
    "task_tracker",
];

/// The default of `protect`.
fn default_protect(strategy: Strategy) -> &'static [Protect] {
    match strategy {
        Strategy::TruncateMiddle => &[Protect::FirstUser, Protect::LastUser],
        Strategy::KeepStart => &[Protect::FirstUser],
        Strategy::RollingWindow => &[Protect::LastUser],
        Strategy::StopAtLimit => &[],
    }
}
