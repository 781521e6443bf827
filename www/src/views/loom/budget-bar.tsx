import { change, count, milliseconds, plural } from "../../ui/format.js";
import { TokenBar, type Share } from "../../ui/token-bar.js";
import { vocabularyState } from "../../ui/vocabularies.js";
import { effective } from "./settings.js";
import { estimate, open, outcome, settings, warmTime, type Outcome } from "./state.js";

type Assembled = Exclude<Outcome, { kind: "error" }>;

/** The use of the budget: inside the context window, and outside it. */
export function BudgetBar() {
  const made = outcome.value;
  const tree = open.value?.tree;
  if (!made || !tree) return null;
  const tokenBuffer = effective(settings.value, tree, "tokenBuffer");
  const reserve = share("reserve", "Token buffer", tokenBuffer, "Reserved for the answer");
  if (made.kind === "error") {
    const { limit, overBy } = made.details;
    if (typeof limit !== "number" || typeof overBy !== "number") return null;
    const shares = [
      share("over", "Limit", limit, "All of it is needed, and more"),
      { ...reserve, tokens: Math.min(tokenBuffer, settings.value.contextWindow) },
    ];
    return (
      <TokenBar
        label="Budget"
        shares={shares}
        beyond={share("beyond", "Over by", overBy, "Would have to be removed")}
      />
    );
  }
  const { tokens, limit, cut } = made.result.report;
  const shares = [
    share("system", "System", tokens.system, "The system context"),
    share("messages", "Messages", tokens.messages, "The content of the messages, or the document"),
    share("overhead", "Overhead", tokens.overhead, "Tokens that a provider adds to each message and each request"),
    share("free", "Free", limit - tokens.total, "Unused tokens below the limit"),
    reserve,
  ];
  const beyond = cut && share("beyond", "Cut", cut.tokens, "Cut to stay under the limit, each node counted alone");
  return (
    <TokenBar label="Budget" shares={shares} beyond={beyond}>
      <Summary made={made} />
    </TokenBar>
  );
}

const share = (id: string, name: string, tokens: number, title: string): Share => ({ id, name, tokens, title });

function Summary({ made }: { made: Assembled }) {
  const { tokens, limit, cut, minimumRecentNodesMet } = made.result.report;
  const estimated = estimate.value;
  const difference = change((100 * ((estimated ?? 0) - tokens.total)) / (tokens.total || 1));
  const shortened = cut?.partialNodeIds.length ?? 0;
  return (
    <p class="summary" role="status">
      {estimated === undefined ? (
        <span>
          <strong data-total>{count(tokens.total)}</strong> of {count(limit)} tokens
        </span>
      ) : (
        <>
          <span>
            <strong data-total>{count(tokens.total)}</strong> exact ·{" "}
            <span title="The estimate for the same messages">
              estimate <span data-estimate>{count(estimated)}</span> ({difference})
            </span>
          </span>
          <span>limit {count(limit)}</span>
        </>
      )}
      <Unloaded />
      {made.kind === "dialogue" ? (
        <span title="The Chats view counts 3 and the role for each message">overhead: 4 a message, 3 a request</span>
      ) : null}
      <span>
        {cut ? `${plural(cut.nodeIds.length, "node")} cut` : "nothing cut"}
        {shortened > 0 ? `, ${count(shortened)} shortened` : ""}
      </span>
      {minimumRecentNodesMet ? null : <span class="warn">fewer recent nodes than requested</span>}
      <span class="quiet-text">
        {tokens.tokenizer} count · {speedOf(made)}
      </span>
    </p>
  );
}

/** The settings may be collapsed, so that a count by another tokenizer than the selected one is shown here as well. */
function Unloaded() {
  const asked = settings.value.tokenizer;
  const state = asked && vocabularyState(asked)?.kind;
  if (state === "loading") return <span>estimate until {asked} is loaded</span>;
  if (state === "failed") return <span class="warn">estimate, since {asked} could not be loaded</span>;
  return null;
}

/** The duration of an assembly. The first one also includes reading and compiling. */
function speedOf({ milliseconds: took, first }: Assembled): string {
  const warm = warmTime.value;
  if (!first) return milliseconds(took);
  return warm === undefined ? `${milliseconds(took)}, the first time` : milliseconds(warm);
}
