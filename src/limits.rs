//! Limits on the input, with their defaults (docs/limits.md).

use crate::error::{Code, Error, Result};

/// Declares the limits once: field, wire name, default, meaning.
macro_rules! limits {
    ($($field:ident, $wire:literal, $default:expr, $doc:literal;)+) => {
        /// Limits on the input. Each can be overridden; input over one is the error [`Code::LimitExceeded`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Limits { $(#[doc = $doc] pub $field: u32,)+ }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl Limits {
            pub(crate) fn named(&mut self, name: &str) -> Option<&mut u32> {
                match name {
                    $($wire => Some(&mut self.$field),)+
                    _ => None,
                }
            }
        }

        /// The wire names.
        pub(crate) const NAMES: &[&str] = &[$($wire,)+];

        /// Wire name, default and meaning of every limit, in the order of the docs table.
        pub const TABLE: &[(&str, u32, &str)] = &[$(($wire, $default, $doc),)+];
    };
}

limits! {
    input_bytes, "inputBytes", 256 * 1024 * 1024, "Bytes of text in one request, as UTF-8.";
    nodes, "nodes", 1_000_000, "Nodes in one tree.";
    edges, "edges", 2_000_000, "Edges in one tree.";
    path_nodes, "pathNodes", 200_000, "Nodes on one path, sources and annotations included.";
    edge_sources, "edgeSources", 1_000, "Sources of one edge.";
    content_blocks, "contentBlocks", 10_000, "Blocks in the content of one node, nested ones included.";
    cbor_depth, "cborDepth", 64, "Depth of a CBOR item of a blob.";
    json_depth, "jsonDepth", 64, "Depth of the JSON of a node's content, tool arguments included; at most 100.";
    file_depth, "fileDepth", 20_000, "Depth of lists and objects in an imported file: some looms nest children.";
    commits, "commits", 1_000_000, "Commits in one graph.";
    chain_depth, "chainDepth", 1_000_000, "Commits from one to its root.";
    blob_bytes, "blobBytes", 256 * 1024 * 1024, "Bytes of one blob.";
    materialized_bytes, "materializedBytes", 1024 * 1024 * 1024, "Bytes of a materialized conversation.";
    context_files, "contextFiles", 100_000, "Context files in one request.";
    folder_depth, "folderDepth", 256, "Folders in one path.";
    front_matter_bytes, "frontMatterBytes", 65_536, "Bytes of the front matter of one file, and of one watch; more yields a diagnostic.";
    watch_alternatives, "watchAlternatives", 256, "Alternatives that the braces of one watch expand to; more yield a diagnostic.";
    watches_per_file, "watchesPerFile", 1_000, "Watches of one file; more are left out with a diagnostic.";
    xml_bytes, "xmlBytes", 16 * 1024 * 1024, "Bytes of one task template in XML, as UTF-8.";
    xml_depth, "xmlDepth", 64, "Depth of elements in a task template; at most 100.";
    xml_elements, "xmlElements", 1_000_000, "Elements in one task template.";
    xml_attributes, "xmlAttributes", 256, "Attributes of one element in a task template.";
}

/// The highest value of `jsonDepth`. It keeps recursion far from the end of the stack.
pub const JSON_DEPTH_MAX: u32 = 100;

/// The highest value of `xmlDepth`. A task is as deep in JSON as in its template.
pub const XML_DEPTH_MAX: u32 = 100;

const _: () = assert!(XML_DEPTH_MAX <= JSON_DEPTH_MAX);

/// Fails with [`Code::LimitExceeded`] if `value` is above `max`.
pub(crate) fn check(name: &str, value: usize, max: u32) -> Result<()> {
    if value <= max as usize {
        return Ok(());
    }
    Err(exceeded(name, value, max))
}

pub(crate) fn exceeded(name: &str, value: usize, max: u32) -> Error {
    let message =
        format!("{value} is over the limit `{name}` of {max}; make the input smaller or raise `limits.{name}`");
    Error::new(Code::LimitExceeded, message).with("limit", name).with("value", value).with("max", max)
}
