import type { AssemblyReport } from "ctxweave/loom";
import { change, count, milliseconds, plural } from "../../ui/format.js";
import { Icon } from "../../ui/icons.js";
import { effective } from "./settings.js";
import { estimate, open, outcome, settings, warmTime, type Outcome } from "./state.js";
import { vocabularyState } from "../../ui/vocabularies.js";

interface Piece {
  id: string;
  name: string;
  tokens: number;
  title: string;
}

/** Maximum share of the bar for the excess, so that the window remains readable. */
const BEYOND = 0.4;

/** The use of the budget: inside the context window, and outside it. */
export function BudgetBar() {
  const made = outcome.value;
  const tree = open.value?.tree;
  if (!made || !tree) return null;
  const contextWindow = settings.value.contextWindow;
  const tokenBuffer = effective(settings.value, tree, "tokenBuffer");
  const { pieces, beyond } =
    made.kind === "error"
      ? piecesOfError(made.details, contextWindow, tokenBuffer)
      : piecesOfReport(made.result.report, tokenBuffer);
  const inside = pieces.reduce((sum, piece) => sum + piece.tokens, 0);
  if (inside <= 0) return null;
  const share = beyond ? Math.min(BEYOND, beyond.tokens / (inside + beyond.tokens)) : 0;
  const broken = beyond !== undefined && beyond.tokens / (inside + beyond.tokens) > BEYOND;
  const all = beyond ? [...pieces, beyond] : pieces;
  return (
    <section class="budget" aria-label="Budget">
      <div class="bar" role="img" aria-label={all.map((p) => `${p.name} ${count(p.tokens)}`).join(", ")}>
        <div class="bar-window" style={{ flexGrow: String(1 - share) }}>
          {pieces.map((piece) =>
            piece.tokens > 0 ? (
              <div
                key={piece.id}
                class={`piece ${piece.id}`}
                title={`${piece.name}: ${count(piece.tokens)}`}
                style={{ flexGrow: String(piece.tokens) }}
              />
            ) : null,
          )}
        </div>
        {beyond ? (
          <div
            class={`piece ${beyond.id}${broken ? " broken" : ""}`}
            title={`${beyond.name}: ${count(beyond.tokens)}`}
            style={{ flexGrow: String(share) }}
          >
            <Icon name="scissors" />
          </div>
        ) : null}
      </div>
      <dl class="bar-legend">
        {all.map((piece) => (
          <div key={piece.id} class={`legend-item ${piece.id}`} title={piece.title}>
            <dt>
              <span class={`swatch ${piece.id}`} aria-hidden="true" />
              {piece.name}
            </dt>
            <dd data-tokens={piece.id}>{count(piece.tokens)}</dd>
          </div>
        ))}
      </dl>
      <Summary />
    </section>
  );
}

function piecesOfReport(
  { tokens, limit, cut }: AssemblyReport,
  tokenBuffer: number,
): { pieces: Piece[]; beyond?: Piece } {
  const pieces: Piece[] = [
    { id: "system", name: "System", tokens: tokens.system, title: "The system context" },
    {
      id: "messages",
      name: "Messages",
      tokens: tokens.messages,
      title: "The content of the messages, or the document",
    },
    {
      id: "overhead",
      name: "Overhead",
      tokens: tokens.overhead,
      title: "Tokens that a provider adds to each message and each request",
    },
    { id: "free", name: "Free", tokens: limit - tokens.total, title: "Unused tokens below the limit" },
    { id: "reserve", name: "Token buffer", tokens: tokenBuffer, title: "Reserved for the answer" },
  ];
  return cut
    ? {
        pieces,
        beyond: {
          id: "beyond",
          name: "Cut",
          tokens: cut.tokens,
          title: "Cut to stay under the limit, each node counted alone",
        },
      }
    : { pieces };
}

function piecesOfError(
  details: Record<string, unknown>,
  contextWindow: number,
  tokenBuffer: number,
): { pieces: Piece[]; beyond?: Piece } {
  const { limit, overBy } = details;
  if (typeof limit !== "number" || typeof overBy !== "number") return { pieces: [] };
  return {
    pieces: [
      { id: "over", name: "Limit", tokens: limit, title: "All of it is needed, and more" },
      {
        id: "reserve",
        name: "Token buffer",
        tokens: Math.min(tokenBuffer, contextWindow),
        title: "Reserved for the answer",
      },
    ],
    beyond: { id: "beyond", name: "Over by", tokens: overBy, title: "Would have to be removed" },
  };
}

function Summary() {
  const made = outcome.value;
  if (!made || made.kind === "error") return null;
  const { report } = made.result;
  const { total, tokenizer } = report.tokens;
  const estimated = estimate.value;
  return (
    <p class="summary" role="status">
      {estimated === undefined ? (
        <span>
          <strong data-total>{count(total)}</strong> of {count(report.limit)} tokens
        </span>
      ) : (
        <>
          <span>
            <strong data-total>{count(total)}</strong> exact ·{" "}
            <span title="The estimate for the same messages">
              estimate <span data-estimate>{count(estimated)}</span> ({difference(estimated, total)})
            </span>
          </span>
          <span>limit {count(report.limit)}</span>
        </>
      )}
      <Unloaded />
      {made.kind === "dialogue" ? (
        <span title="The Chats view counts 3 and the role for each message">overhead: 4 a message, 3 a request</span>
      ) : null}
      <span>
        {report.cut
          ? `${plural(report.cut.nodeIds.length, "node")} cut${report.cut.partialNodeIds.length > 0 ? `, ${count(report.cut.partialNodeIds.length)} shortened` : ""}`
          : "nothing cut"}
      </span>
      {report.minimumRecentNodesMet ? null : <span class="warn">fewer recent nodes than requested</span>}
      <span class="quiet-text">
        {tokenizer} count · {speedOf(made)}
      </span>
    </p>
  );
}

/** The settings may be collapsed, so that a count by another tokenizer than the selected one is shown here as well. */
function Unloaded() {
  const asked = settings.value.tokenizer;
  if (!asked) return null;
  switch (vocabularyState(asked)?.kind) {
    case "loading":
      return <span>estimate until {asked} is loaded</span>;
    case "failed":
      return <span class="warn">estimate, since {asked} could not be loaded</span>;
    default:
      return null;
  }
}

/** The difference between two numbers in percent: `+2.3 %`. */
function difference(value: number, from: number): string {
  return change(from > 0 ? (100 * (value - from)) / from : 0);
}

/** The duration of an assembly. The first one also includes reading and compiling. */
function speedOf({ milliseconds: took, first }: Exclude<Outcome, { kind: "error" }>): string {
  const warm = warmTime.value;
  if (!first) return milliseconds(took);
  return warm === undefined ? `${milliseconds(took)}, the first time` : milliseconds(warm);
}
