import type { AssemblyReport } from "ctxweave/loom";
import { change, count, milliseconds, plural } from "../../ui/format.js";
import { TokenBar, type Share } from "../../ui/token-bar.js";
import { effective } from "./settings.js";
import { estimate, open, outcome, settings, warmTime, type Outcome } from "./state.js";
import { vocabularyState } from "../../ui/vocabularies.js";

/** The use of the budget: inside the context window, and outside it. */
export function BudgetBar() {
  const made = outcome.value;
  const tree = open.value?.tree;
  if (!made || !tree) return null;
  const tokenBuffer = effective(settings.value, tree, "tokenBuffer");
  const [shares, beyond] =
    made.kind === "error" ? sharesOfError(made.details, tokenBuffer) : sharesOfReport(made.result.report, tokenBuffer);
  if (shares.every(({ tokens }) => tokens <= 0)) return null;
  return (
    <TokenBar label="Budget" shares={shares} beyond={beyond}>
      <Summary />
    </TokenBar>
  );
}

const share = (tone: Share["tone"] & string, name: string, tokens: number, title: string): Share => ({
  id: tone,
  tone,
  name,
  tokens,
  title,
});

type Shares = [inside: Share[], beyond?: Share | undefined];

function sharesOfReport({ tokens, limit, cut }: AssemblyReport, tokenBuffer: number): Shares {
  const overhead = "Tokens that a provider adds to each message and each request";
  return [
    [
      share("system", "System", tokens.system, "The system context"),
      share("messages", "Messages", tokens.messages, "The content of the messages, or the document"),
      share("overhead", "Overhead", tokens.overhead, overhead),
      share("free", "Free", limit - tokens.total, "Unused tokens below the limit"),
      share("reserve", "Token buffer", tokenBuffer, "Reserved for the answer"),
    ],
    cut && share("beyond", "Cut", cut.tokens, "Cut to stay under the limit, each node counted alone"),
  ];
}

function sharesOfError({ limit, overBy }: Record<string, unknown>, tokenBuffer: number): Shares {
  if (typeof limit !== "number" || typeof overBy !== "number") return [[]];
  const reserved = Math.min(tokenBuffer, settings.value.contextWindow);
  return [
    [
      share("over", "Limit", limit, "All of it is needed, and more"),
      share("reserve", "Token buffer", reserved, "Reserved for the answer"),
    ],
    share("beyond", "Over by", overBy, "Would have to be removed"),
  ];
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
