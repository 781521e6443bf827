import { SmallButton } from "../../ui/button.js";
import { count, plural, tokens } from "../../ui/format.js";
import { FATES, REASONS } from "../../ui/words.js";
import { cursor, hovered, index, pickTip, rows, tip, toggleExcluded } from "./state.js";
import { fullText, nodeName } from "./tree-index.js";
import { authorClass } from "./authors.js";

/**
 * The node under the pointer or the keyboard cursor, with its text. Its size is fixed, so that nothing jumps when the
 * node changes.
 */
export function Inspector() {
  const tree = index.value;
  const id = hovered.value ?? cursor.value;
  const node = id === undefined ? undefined : tree?.node.get(id);
  if (!tree || !node || id === undefined) {
    return <section class="inspector" aria-label="Node" />;
  }
  const row = rows.value.get(id);
  const fixed = hovered.value === undefined || hovered.value === cursor.value;
  const excluded = node.metadata?.excluded === true;
  const notes = [
    node.editedFrom ? `edit of ${nodeName(tree.node.get(node.editedFrom), node.editedFrom)}` : "",
    tree.annotations.has(id) ? "annotation" : "",
    node.metadata?.pruned ? "pruned" : "",
    excluded ? "excluded" : "",
    node.metadata?.bookmarked
      ? node.metadata.bookmarkLabel
        ? `bookmark: ${node.metadata.bookmarkLabel}`
        : "bookmarked"
      : "",
  ].filter(Boolean);
  return (
    <section class="inspector" aria-label="Node" data-node-shown={id}>
      <div class="row inspector-head">
        <span class={`author ${authorClass(tree, id)}`}>
          {node.authorType === "human" ? "human" : (node.authorAgentId ?? "model")}
        </span>
        <code>{nodeName(node, id)}</code>
        {row ? <span class={`fate-word fate-${row.fate}`}>{FATES[row.fate]}</span> : null}
        <span class="quiet-text">
          {row
            ? `${row.reason ? `${REASONS[row.reason]} · ` : ""}${tokens(row.tokens)}${row.tokensAfter === undefined ? "" : `, ${count(row.tokensAfter)} after`}`
            : plural(Array.from(fullText(node)).length, "character")}
        </span>
        {notes.length > 0 ? <span class="quiet-text">{notes.join(" · ")}</span> : null}
      </div>
      <p class="inspector-text" tabIndex={0} role="region" aria-label="Text of the node">
        {fullText(node) || "(blank)"}
      </p>
      <div class="inspector-tools" data-idle={!fixed}>
        <SmallButton label="Assemble from here" disabled={id === tip.value} onClick={() => pickTip(id)} />
        <SmallButton
          label={excluded ? "Include again" : "Exclude"}
          aria-pressed={excluded}
          onClick={() => toggleExcluded(id)}
        />
      </div>
    </section>
  );
}
