import { SmallButton } from "../../ui/button.js";
import { count, plural, tokens } from "../../ui/format.js";
import { FATES, REASONS } from "../../ui/words.js";
import { authorClass } from "./authors.js";
import { cursor, hovered, index, pickTip, rows, tip, toggleExcluded } from "./state.js";
import { fullText, nodeName } from "./tree-index.js";

/** Its size is fixed, so that nothing jumps when the node changes. */
const BOX =
  "inspector flex h-[clamp(104px,18dvh,164px)] shrink-0 flex-col gap-1.5 border-t border-line px-4 py-2.5 text-s";

/** The node under the pointer or the keyboard cursor, with its text. */
export function Inspector() {
  const tree = index.value;
  const id = hovered.value ?? cursor.value ?? "";
  const node = tree?.node.get(id);
  if (!tree || !node) return <section class={BOX} aria-label="Node" />;
  const row = rows.value.get(id);
  const text = fullText(node);
  const { excluded, pruned, bookmarked, bookmarkLabel } = node.metadata ?? {};
  const notes = [
    row?.reason && REASONS[row.reason],
    row ? tokens(row.tokens) : plural(Array.from(text).length, "character"),
    row?.tokensAfter !== undefined && `${count(row.tokensAfter)} after`,
    node.editedFrom && `edit of ${nodeName(tree.node.get(node.editedFrom), node.editedFrom)}`,
    tree.annotations.has(id) && "annotation",
    pruned && "pruned",
    excluded && "excluded",
    bookmarked && (bookmarkLabel ? `bookmark: ${bookmarkLabel}` : "bookmarked"),
  ];
  const isFixed = hovered.value === undefined || hovered.value === cursor.value;
  return (
    <section class={BOX} aria-label="Node" data-node-shown={id}>
      <div class="row gap-x-2 text-xs">
        <span class={`author ${authorClass(tree, id)}`}>
          {node.authorType === "human" ? "human" : (node.authorAgentId ?? "model")}
        </span>
        <code>{nodeName(node, id)}</code>
        {row ? <span class={`fate-word fate-${row.fate}`}>{FATES[row.fate]}</span> : null}
        <span class="quiet-text">{notes.filter(Boolean).join(" · ")}</span>
      </div>
      <p
        class="flex-1 overflow-auto [mask-image:linear-gradient(#000_calc(100%-14px),transparent)] pb-3 wrap-anywhere whitespace-pre-wrap text-ink-2"
        tabIndex={0}
        role="region"
        aria-label="Text of the node"
      >
        {text || "(blank)"}
      </p>
      <div class={isFixed ? "flex gap-1.5" : "flex gap-1.5 opacity-55"}>
        <SmallButton label="Assemble from here" disabled={id === tip.value} onClick={() => pickTip(id)} />
        <SmallButton
          label={excluded ? "Include again" : "Exclude"}
          aria-pressed={excluded === true}
          onClick={() => toggleExcluded(id)}
        />
      </div>
    </section>
  );
}
