import type { BufferAssembly, DialogueAssembly } from "ctxweave/loom";
import { SmallButton } from "../../ui/button.js";
import { useFirstOf } from "../../ui/first-of.js";
import { plural, tokens } from "../../ui/format.js";
import { FATES, PARTS, REASONS } from "../../ui/words.js";
import { authorClass } from "./authors.js";
import type { Segment } from "./message-spans.js";
import { PartView } from "./parts.js";
import { cursor, hovered, index, nodeWith, pending, rows, toggleExcluded } from "./state.js";
import { bufferTimeline, dialogueTimeline, type Gap, type MessageEntry, type Stretch } from "./timeline.js";
import { nodeName, snippet } from "./tree-index.js";

/** The messages, with removed nodes at their position. */
export function DialoguePrompt({ assembly }: { assembly: DialogueAssembly }) {
  const entries = dialogueTimeline(assembly);
  return (
    <ol class="stack">
      {assembly.system === undefined ? null : <SystemContext text={assembly.system} />}
      {entries.map((entry) =>
        entry.kind === "message" ? (
          <MessageView key={`m${entry.index}`} entry={entry} />
        ) : (
          <li key={`g${entry.rows[0]?.nodeId}`} class="ps-24 max-two:ps-0">
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

const PENDING = "pending bg-accent-soft shadow-[inset_3px_0_var(--color-accent)]";

function SegmentView({ segment: { kind, nodeId, header, parts } }: { segment: Segment }) {
  const content = parts.map((part, i) => <PartView key={i} part={part} />);
  const tag = BLOCK_TAGS[kind];
  if (tag !== undefined) {
    return (
      <div class={`segment ${kind === "marker" ? "marker" : "bg-sunken"}`} data-block={kind}>
        <span class="tag">{tag}</span>
        {content}
      </div>
    );
  }
  const row = rows.value.get(nodeId ?? "");
  const isChanged = row?.fate === "changed";
  const isPending = nodeId !== undefined && nodeId === pending.value?.node.id;
  const edge = isPending ? PENDING : isChanged ? "shadow-[inset_3px_0_var(--color-cut)]" : "";
  return (
    <div class={`segment hover:bg-accent/5 ${edge}`} data-segment={nodeId ?? ""} {...hovering(nodeId)}>
      {nodeId === undefined ? null : (
        <p class="row segment-head">
          <NodeChip id={nodeId} />
          {row && row.as !== "path" ? <span class="tag">{PARTS[row.as]}</span> : null}
          {isChanged ? <span class="tag cut">{REASONS[row.reason ?? "shortened"]}</span> : null}
        </p>
      )}
      {header === undefined ? null : <p class="text node-header text-s text-ink-3">{header}</p>}
      {content}
    </div>
  );
}

/** Highlights a node in the tree while the pointer is on its text. */
const hovering = (id: string | undefined) => ({
  onPointerEnter: () => (hovered.value = id),
  onPointerLeave: () => (hovered.value = undefined),
});

/** A node's name, as a button that shows the node in the tree. A message that is not sent is not in the tree. */
export function NodeChip({ id }: { id: string }) {
  const tree = index.value;
  if (!tree) return null;
  if (id === pending.value?.node.id) return <span class="tag bg-accent text-accent-ink">not sent</span>;
  const name = nodeName(tree.node.get(id), id);
  return (
    <button
      type="button"
      class={`author chip ${authorClass(tree, id)} hover:text-accent hover:underline in-[th]:max-w-44 in-[th]:truncate`}
      aria-label={`Show ${name} in the tree`}
      onClick={() => (cursor.value = id)}
    >
      {name}
    </button>
  );
}

/** Maximum number of shown nodes in a gap: of a long path most are missing. */
const MAX_SHOWN_MISSING = 200;

/** Missing nodes: their number, the reason, and the cost of each. */
function GapView({ gap }: { gap: Gap }) {
  const byFate = Map.groupBy(gap.rows, ({ fate }) => fate);
  const { shown, more } = useFirstOf(gap.rows, MAX_SHOWN_MISSING);
  return (
    <details class={`gap ${byFate.has("cut") ? "border-cut" : ""}`} open={gap.rows.length <= 2}>
      <summary class="px-2.5 py-1">
        {[...byFate].map(([fate, missing]) => (
          <span key={fate} class={`me-1.5 fate-word fate-${fate}`}>
            {plural(missing.length, "node")} {FATES[fate].toLowerCase()}{" "}
            <span class="cost">{tokens(missing.reduce((sum, row) => sum + row.tokens, 0))}</span>
          </span>
        ))}
      </summary>
      <ul>
        {shown.map((row) => (
          <li key={row.nodeId} class="row gap-x-2.5 border-t border-line px-2.5 py-1" data-missing={row.nodeId}>
            <NodeChip id={row.nodeId} />
            <span class="flex-1 basis-40 truncate text-ink-3">{snippet(nodeWith(row.nodeId), 110)}</span>
            <span class={`fate-word fate-${row.fate}`}>
              {row.reason ? REASONS[row.reason] : FATES[row.fate]} <span class="cost">{tokens(row.tokens)}</span>
            </span>
            {row.reason === "excluded" ? (
              <SmallButton onClick={() => toggleExcluded(row.nodeId)}>Include</SmallButton>
            ) : null}
          </li>
        ))}
        {more ? <li class="py-2 text-center">{more}</li> : null}
      </ul>
    </details>
  );
}

/** The document, with the stretch of each node marked, and removed nodes at their position. */
export function BufferPrompt({ assembly }: { assembly: BufferAssembly }) {
  const entries = bufferTimeline(assembly);
  return (
    <div class="stack">
      {assembly.system === undefined ? null : (
        <ol>
          <SystemContext text={assembly.system} />
        </ol>
      )}
      <div class="document" role="region" aria-label="Document" tabIndex={0}>
        {entries.length === 0 ? <p class="empty">The document is empty.</p> : null}
        {entries.map((entry, i) =>
          entry.kind === "gap" ? <GapView key={i} gap={entry} /> : <StretchView key={i} stretch={entry} />,
        )}
      </div>
    </div>
  );
}

function StretchView({ stretch: { kind, text, nodeId } }: { stretch: Stretch }) {
  if (nodeId !== undefined && index.value) {
    const isShortened = rows.value.get(nodeId)?.fate === "changed";
    // The node's name is placed at its first word.
    const words = text.trimStart();
    return (
      <span
        class={`stretch ${authorClass(index.value, nodeId)} ${isShortened ? "shortened" : ""}`}
        data-segment={nodeId}
        {...hovering(nodeId)}
      >
        {text.slice(0, text.length - words.length)}
        <NodeChip id={nodeId} />
        {words}
      </span>
    );
  }
  const Text = kind === "marker" ? "mark" : "span";
  return (
    <Text class={`stretch ${kind}`}>
      {kind === "working" ? <span class="tag">working buffer</span> : null}
      {text}
    </Text>
  );
}
