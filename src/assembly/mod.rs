//! What of a conversation or a document fits under a budget, and the account of it (SPEC §1 "Units", "Budget",
//! "Strategies").
//!
//! This layer knows items, units and costs, and neither trees nor requests. A caller has [`Items`](item::Items) with
//! their units and the sums of their costs; a [`Plan`](plan::Plan) puts them under a budget, chooses what is kept, renders
//! it and accounts for it. [`Document`](document::Document) does the same for one continuous text.

pub(crate) mod body;
pub(crate) mod budget;
pub(crate) mod costs;
pub(crate) mod document;
pub(crate) mod item;
pub(crate) mod message_index;
mod paragraphs;
pub(crate) mod plan;
pub(crate) mod render;
pub(crate) mod report;
pub(crate) mod search;
pub(crate) mod settings;
pub(crate) mod shorten;
pub(crate) mod size_bound;
pub(crate) mod strategies;
