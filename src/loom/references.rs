//! A dialogue for a caller who has the tree: its messages name nodes instead of repeating their texts, so that these need not
//! cross a second time.

use serde::Serialize;

use super::dialogue::DialogueAssembly;
use super::report::Report;
use super::tree::{NodeIx, Tree};
use crate::content::{self, Block};
use crate::prompt::{Message, MessageSpan, Role};

/// A dialogue whose messages may refer to the nodes of the request's tree.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReferringAssembly<'r, 'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<&'r str>,
    messages: Vec<ReferringMessage<'r, 'a>>,
    report: &'r Report<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReferringMessage<'r, 'a> {
    role: Role,
    content: ReferringContent<'r, 'a>,
    node_ids: &'r [&'a str],
    spans: &'r [MessageSpan<'a>],
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ReferringContent<'r, 'a> {
    /// As it is.
    #[serde(serialize_with = "content::serialize")]
    Whole(&'r [Block<'a>]),
    /// Texts one after the other.
    Pieces(Vec<Piece<'r>>),
}

/// A piece of a text.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Piece<'r> {
    /// The text of the node at this index of the request's `nodes`, which has no other content.
    Node(NodeIx),
    /// This text.
    Text(&'r str),
}

impl<'r, 'a> ReferringAssembly<'r, 'a> {
    /// The tree's nodes have to be in the order in which they came.
    pub(super) fn new(tree: &Tree<'_>, assembly: &'r DialogueAssembly<'a>) -> Self {
        let message = |message: &'r Message<'a>| ReferringMessage {
            role: message.role,
            content: pieces(tree, message).map_or(ReferringContent::Whole(&message.content), ReferringContent::Pieces),
            node_ids: &message.node_ids,
            spans: &message.spans,
        };
        Self {
            system: assembly.system.as_deref(),
            messages: assembly.messages.iter().map(message).collect(),
            report: &assembly.report,
        }
    }
}

/// The text of a message as texts of nodes and what is between them; nothing where one of them is not there as it is.
fn pieces<'r>(tree: &Tree<'_>, message: &'r Message<'_>) -> Option<Vec<Piece<'r>>> {
    let [Block::Text(text)] = message.content.as_slice() else { return None };
    let mut rest: &'r str = text;
    let mut pieces = Vec::with_capacity(message.spans.len() * 2);
    for span in &message.spans {
        let place = tree.find_opt(span.node_id)?;
        let [Block::Text(node)] = tree.at(place).content.as_slice() else { return None };
        // Where it was trimmed or cut, or stands behind a header, it is sent.
        let joined = rest.strip_prefix("\n\n").filter(|_| !pieces.is_empty());
        if let Some(after) = joined {
            pieces.push(Piece::Text("\n\n"));
            rest = after;
        }
        rest = rest.strip_prefix(node.as_ref() as &str)?;
        pieces.push(Piece::Node(place));
    }
    (rest.is_empty() && !pieces.is_empty()).then_some(pieces)
}
