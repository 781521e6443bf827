//! A chat with the fields of a request outside its messages, read and ready for a fit or a count.

use std::cell::RefCell;

use super::billing::Billing;
use super::chat_input::ChatInput;
use super::course::Course;
use super::fit::Fit;
use super::known_costs;
use super::measure::{Measurement, measured};
use super::messages::{Messages, Sum};
use super::options::{Budget, FitOptions, Phase, RequestFields};
use super::outcome::FitDecisions;
use super::pairs::find_pairs;
use super::request_overhead::{RequestOverhead, overhead_of_request, prices, system_tokens};
use super::rules::{Marks, Rules};
use super::series::{ChatFacts, OutsideFacts};
use super::sizes::MessageSize;
use crate::error::{Diagnostic, Result};
use crate::json::{Object, Value};
use crate::prompt::Format;
use crate::vendors::chats;
use crate::vendors::message_hash::MessageHash;
use crate::vendors::pieces::message::Message;

/// A chat, read in the given or detected format.
#[derive(Debug)]
pub(super) struct ChatRequest<'t> {
    format: Format,
    list: Vec<Value<'t>>,
    outside: OutsideFacts,
    messages: Vec<Message<'t>>,
    overhead: RequestOverhead,
    rules: Rules,
    fields: RequestFields,
    /// Whether these come from the container of the messages.
    is_container: bool,
}

impl<'t> ChatRequest<'t> {
    /// Reads messages, or a container of them, with the `system` and `tools` of an options object.
    ///
    /// # Errors
    /// [`crate::Code::InvalidInput`] at the first message in an unknown format, or in another format than earlier ones.
    pub(super) fn read(
        messages: Value<'t>,
        options_json: Object<'_>,
        options: &FitOptions,
        budget: &Budget,
    ) -> Result<Self> {
        let given = ChatInput::read(messages)?;
        let (format, formats) = given.format(options.format)?;
        let prices = prices(format, options, budget);
        let mut overhead = overhead_of_request(options_json, given.tools, format, formats, &prices)?;
        if let Some(system) = given.system {
            overhead.system = overhead.system.saturating_add(system_tokens(system, &prices)?);
        }
        let outside = OutsideFacts::read(options_json, Some(&given))?;
        let mut messages = match &options.costs {
            Some(costs) => known_costs::read(format, &given.list, prices, costs)?,
            None => chats::read(format, &given.list, prices)?,
        };
        let mut marks = Marks::default();
        marks.add(&messages);
        let request = RequestFields::of_chat(&given)?.over(&options.request);
        let is_container = given.container.is_some();
        if options.costs.is_none() {
            Billing::new(format, options, &request).apply(&mut messages);
        }
        let rules = Rules::new(format, options, &request, marks);
        let list = given.list;
        Ok(Self { format, list, outside, messages, overhead, rules, fields: request, is_container })
    }

    /// Fits the chat. `diagnostics` are those of the request.
    ///
    /// # Errors
    /// Those for a limit that is too small.
    pub(super) fn fit(
        &self,
        options: &FitOptions,
        budget: &Budget,
        phase: Phase,
        diagnostics: Vec<Diagnostic>,
    ) -> Result<FitDecisions> {
        if phase != Phase::Plan {
            return self.fit_in(options, budget, phase, diagnostics);
        }
        let planned = self.fit_in(options, budget, phase, diagnostics.clone())?;
        if planned.summarize.is_some() {
            return Ok(planned);
        }
        // Nothing is summarized, so the plan is the fit itself.
        self.fit_in(options, budget, Phase::Fit, diagnostics)
    }

    fn fit_in(
        &self,
        options: &FitOptions,
        budget: &Budget,
        phase: Phase,
        diagnostics: Vec<Diagnostic>,
    ) -> Result<FitDecisions> {
        let pairs = find_pairs(&self.messages);
        let mut sums = Vec::new();
        Sum::extend(&mut sums, &self.messages);
        let read = self.list.iter().zip(&self.messages);
        let hashes: Vec<MessageHash> = read.map(|(&message, read)| MessageHash::of_read(message, read)).collect();
        let values = self.messages.iter().zip(&self.list).filter(|_| options.max_bytes.is_some());
        let sizes: Vec<MessageSize> = values.map(|(message, &value)| MessageSize::of(message, value)).collect();
        let mut fit = Fit {
            facts: ChatFacts { hashes: &hashes, sizes: &sizes, outside: self.outside },
            previous: &options.previous,
            series: None,
            options,
            edits: options.edits(),
            limit: budget.limit,
            phase,
            format: self.format,
            messages: Messages::new(&self.messages, &sums),
            pairs: &pairs,
            earlier: None,
            prices: prices(self.format, options, budget),
            request_overhead: self.overhead,
            layout: &RefCell::default(),
            can_reuse_layout: false,
            rules: self.rules,
            fields: &self.fields,
            fields_at: if self.is_container { "" } else { "target." },
            course: Course::default(),
            moved: Vec::new(),
            summary_limit: 0,
            diagnostics,
        };
        let (cut, edits) = fit.run()?;
        Ok(fit.fitted(&cut, edits).each(&self.messages))
    }

    /// Tokens of the unfitted request: the total that a fit reports if it changes nothing.
    pub(super) fn tokens(&self) -> u64 {
        self.messages.iter().map(Message::now).fold(self.overhead.tokens(), u64::saturating_add)
    }

    /// The costs of the unfitted request by message and part.
    pub(super) fn measured(&self) -> Measurement {
        measured(self.format, &self.messages, self.overhead)
    }
}
