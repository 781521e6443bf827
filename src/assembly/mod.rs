//! Fits a conversation or a document under a budget, and reports every item (docs/loom.md).
//!
//! This layer knows items, units and costs, but no trees or requests. A [`Plan`](plan::Plan) takes
//! [`Items`](item::Items) with their units and the sums of their costs, chooses the kept items, renders them and
//! reports the rest. A [`DocumentPlan`](document::DocumentPlan) does the same for one continuous text.

pub(crate) mod body;
pub(crate) mod budget;
pub(crate) mod choice;
mod choose;
mod choose_protected;
mod content_tokens;
mod continuing;
pub(crate) mod costs;
pub(crate) mod document;
mod fill;
pub(crate) mod input_hash;
pub(crate) mod item;
pub(crate) mod item_series;
pub(crate) mod item_treatment;
pub(crate) mod kept_ends;
pub(crate) mod message_index;
mod paragraphs;
pub(crate) mod plan;
pub(crate) mod preserved;
pub(crate) mod protection;
pub(crate) mod render;
pub(crate) mod report;
pub(crate) mod result_hash;
pub(crate) mod series;
pub(crate) mod settings;
pub(crate) mod shorten;
pub(crate) mod size_bound;
pub(crate) mod state_values;
pub(crate) mod strategies;
pub(crate) mod treated_items;
pub(crate) mod treatments;
