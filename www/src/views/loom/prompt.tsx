import type { BufferAssembly, DialogueAssembly } from "ctxweave/loom";
import { SmallButton } from "../../ui/button.js";
import { useFirstOf } from "../../ui/first-of.js";
import { plural, tokens } from "../../ui/format.js";
import { FATES, PARTS, REASONS } from "../../ui/words.js";
import { PartView } from "./parts.js";
import type { Segment } from "./message-spans.js";
import { cursor, hovered, index, nodeWith, pending, rows, toggleExcluded } from "./state.js";
import { bufferTimeline, dialogueTimeline, type Gap, type MessageEntry } from "./timeline.js";
import { nodeName, snippet } from "./tree-index.js";
import { authorClass } from "./authors.js";

/** The messages, with removed nodes at their position. */
export function DialoguePrompt({ assembly }: { assembly: DialogueAssembly }) {
  const entries = dialogueTimeline(assembly);
  return (
    <ol class="stack prompt dialogue">
      {assembly.system === undefined ? null : <SystemContext text={assembly.system} />}
      {entries.map((entry) =>
        entry.kind === "message" ? (
          <MessageView key={`m${entry.index}`} entry={entry} />
        ) : (
          <li key={`g${entry.rows[0]?.nodeId}`} class="gap-item">
            <GapView gap={entry} />
          </li>
        ),
      )}
      {entries.length === 0 ? <li class="empty">No messages.</li> : null}
    </ol>
  );
}

function SystemContext({ text }: { text: string }) {
  return (
    <li class="message role-system">
      <h3 class="role">system</h3>
      <div class="message-body">
        <p class="text">{text}</p>
      </div>
    </li>
  );
}

function MessageView({ entry }: { entry: MessageEntry }) {
  const { message, items } = entry;
  const merged = items.filter((item) => item.kind === "node").length;
  return (
    <li class={`message role-${message.role}`} data-message={entry.index}>
      <h3 class="role">
        {message.role}
        {merged > 1 ? <span class="merged">{merged} merged</span> : null}
      </h3>
      <div class="message-body">
        {items.map((item, i) =>
          item.kind === "gap" ? <GapView key={i} gap={item} /> : <SegmentView key={i} segment={item} />,
        )}
      </div>
    </li>
  );
}

/** Additions to messages other than nodes. */
const BLOCK_TAGS: Partial<Record<Segment["kind"], string>> = {
  marker: "marker",
  memory: "operational memory",
  loom: "loom block",
};

function SegmentView({ segment }: { segment: Segment }) {
  const tag = BLOCK_TAGS[segment.kind];
  const parts = segment.parts.map((part, i) => <PartView key={i} part={part} />);
  if (tag !== undefined) {
    return (
      <div class={`segment ${segment.kind}`} data-block={segment.kind}>
        <span class="tag">{tag}</span>
        {parts}
      </div>
    );
  }
  const id = segment.nodeIds[0];
  const row = segment.nodeIds
    .map((nodeId) => rows.value.get(nodeId))
    .find((found) => found && (found.fate === "changed" || found.as !== "path"));
  return (
    <div
      class={`segment${row?.fate === "changed" ? " shortened" : ""}${id !== undefined && id === pending.value?.node.id ? " pending" : ""}`}
      data-segment={segment.nodeIds.join(" ")}
      onPointerEnter={() => (hovered.value = id)}
      onPointerLeave={() => (hovered.value = undefined)}
    >
      {segment.nodeIds.length > 0 ? (
        <p class="row segment-head">
          {segment.nodeIds.map((nodeId) => (
            <NodeChip key={nodeId} id={nodeId} />
          ))}
          {row && row.as !== "path" ? <span class="tag">{PARTS[row.as]}</span> : null}
          {row?.fate === "changed" ? <span class="tag cut">{REASONS[row.reason ?? "shortened"]}</span> : null}
        </p>
      ) : null}
      {segment.header === undefined ? null : <p class="text node-header">{segment.header}</p>}
      {parts}
    </div>
  );
}

/** A node's name, as a button that shows the node in the tree. A message that is not sent is not in the tree. */
export function NodeChip({ id }: { id: string }) {
  const tree = index.value;
  if (!tree) return null;
  if (id === pending.value?.node.id) return <span class="tag pending">not sent</span>;
  return (
    <button
      type="button"
      class={`chip ${authorClass(tree, id)}`}
      aria-label={`Show ${nodeName(tree.node.get(id), id)} in the tree`}
      onClick={() => (cursor.value = id)}
    >
      {nodeName(tree.node.get(id), id)}
    </button>
  );
}

/** Maximum number of shown nodes in a gap: of a long path most are missing. */
const MAX_SHOWN_MISSING = 200;

/** Missing nodes: their number, the reason, and the cost of each. */
function GapView({ gap }: { gap: Gap }) {
  const fates = (["cut", "excluded", "skipped"] as const).flatMap((fate) => {
    const of = gap.rows.filter((row) => row.fate === fate);
    return of.length > 0 ? [{ fate, count: of.length, tokens: of.reduce((sum, row) => sum + row.tokens, 0) }] : [];
  });
  const { shown, more } = useFirstOf(gap.rows, MAX_SHOWN_MISSING);
  return (
    <details class={`gap gap-${fates[0]?.fate ?? "skipped"}`} open={gap.rows.length <= 2}>
      <summary>
        {fates.map(({ fate, count, tokens: cost }) => (
          <span key={fate} class={`fate-word fate-${fate}`}>
            {plural(count, "node")} {FATES[fate].toLowerCase()} <span class="cost">{tokens(cost)}</span>
          </span>
        ))}
      </summary>
      <ul>
        {shown.map((row) => (
          <li key={row.nodeId} data-missing={row.nodeId} data-fate={row.fate}>
            <NodeChip id={row.nodeId} />
            <span class="truncate missing-text">{snippet(nodeWith(row.nodeId), 110)}</span>
            <span class="missing-why">
              {row.reason ? REASONS[row.reason] : FATES[row.fate]} · {tokens(row.tokens)}
            </span>
            {row.reason === "excluded" ? (
              <SmallButton onClick={() => toggleExcluded(row.nodeId)}>Include</SmallButton>
            ) : null}
          </li>
        ))}
        {more ? <li class="more">{more}</li> : null}
      </ul>
    </details>
  );
}

/** The document, with the stretch of each node marked, and removed nodes at their position. */
export function BufferPrompt({ assembly }: { assembly: BufferAssembly }) {
  const tree = index.value;
  if (!tree) return null;
  const entries = bufferTimeline(assembly);
  return (
    <div class="stack prompt buffer">
      {assembly.system === undefined ? null : (
        <ol class="dialogue">
          <SystemContext text={assembly.system} />
        </ol>
      )}
      <div class="document" role="region" aria-label="Document" tabIndex={0}>
        {entries.length === 0 ? <p class="empty">The document is empty.</p> : null}
        {entries.map((entry, i) => {
          switch (entry.kind) {
            case "gap":
              return <GapView key={i} gap={entry} />;
            case "node": {
              const id = entry.nodeId ?? "";
              const short = rows.value.get(id)?.fate === "changed";
              return (
                <span
                  key={i}
                  class={`stretch ${authorClass(tree, id)}${short ? " shortened" : ""}`}
                  data-segment={id}
                  onPointerEnter={() => (hovered.value = id)}
                  onPointerLeave={() => (hovered.value = undefined)}
                >
                  {leading(entry.text)}
                  <NodeChip id={id} />
                  {entry.text.slice(leading(entry.text).length)}
                </span>
              );
            }
            default: {
              const Text = entry.kind === "marker" ? "mark" : "span";
              return (
                <Text key={i} class={`stretch ${entry.kind}`}>
                  {entry.kind === "working" ? <span class="tag">working buffer</span> : null}
                  {entry.text}
                </Text>
              );
            }
          }
        })}
      </div>
    </div>
  );
}

/** The white space at the start of a stretch, so that a node's name is placed at its first word. */
function leading(text: string): string {
  return /^\s*/u.exec(text)?.[0] ?? "";
}
