import { useComputed } from "@preact/signals";
import { requestBodyWithReport } from "ctxweave/loom";
import type { BodyRequest, CtxweaveError, Diagnostic, Target, TargetProvider } from "ctxweave/loom";
import { CopyButton } from "../../ui/copy-button.js";
import { Check, InputField, optionsOf, Segmented } from "../../ui/fields.js";
import { Facts } from "../../ui/facts.js";
import { count } from "../../ui/format.js";
import { Diagnostics, Problem } from "./problem.js";
import { curl, endpoint } from "./endpoint.js";
import { FIRST_MODELS, targetOf } from "./settings.js";
import { request, setOrClear, setProvider, settings, type Outcome } from "./state.js";

const NAMES: Record<TargetProvider, string> = {
  anthropic: "Anthropic",
  openai: "OpenAI Chat",
  "openai-responses": "OpenAI Responses",
  gemini: "Gemini",
  "gemini-interactions": "Gemini Interactions",
  completion: "Completion",
};

interface Made {
  target: Target & { model: string };
  text: string;
  bytes: number;
  diagnostics: Diagnostic[];
}

/** The request body for the chosen provider, with address, headers and a curl command. */
export function RequestBody() {
  const made = useComputed<Made | Extract<Outcome, { kind: "error" }> | undefined>(() => {
    const input = request.value;
    const target = targetOf(settings.value);
    if (!input || !target) return undefined;
    try {
      const { body, report } = requestBodyWithReport({ ...input, target } satisfies BodyRequest);
      const text = JSON.stringify(JSON.parse(new TextDecoder().decode(body)), null, 2);
      return { target, text, bytes: body.length, diagnostics: report.diagnostics };
    } catch (error) {
      const { code = "error", message, details = {} } = error as CtxweaveError;
      return { kind: "error", code, message, details: details as Record<string, unknown> };
    }
  });
  const result = made.value;
  const { provider, model, cache } = settings.value;
  return (
    <div class="stack body-view">
      <div class="row body-controls">
        <Segmented<TargetProvider | "">
          class="body-providers"
          label="Provider of the request"
          options={optionsOf(NAMES)}
          value={provider ?? ""}
          onValue={(name) => setProvider(name === "" ? undefined : name)}
        />
        {provider ? (
          <InputField
            label="Model"
            spellcheck={false}
            value={model ?? ""}
            placeholder={FIRST_MODELS[provider]}
            onValue={(text) => setOrClear("model", text.trim())}
          />
        ) : null}
        {provider === "anthropic" ? (
          <Check
            label="Cache breakpoints"
            value={cache ?? false}
            onValue={(checked) => setOrClear("cache", checked || undefined)}
          />
        ) : null}
      </div>
      {result === undefined ? (
        <p class="empty">No provider is chosen. Choose one: the bar, the tree and the report follow.</p>
      ) : "kind" in result ? (
        <Problem error={result} />
      ) : (
        <Body made={result} />
      )}
    </div>
  );
}

function Body({ made }: { made: Made }) {
  const { url, headers } = endpoint(made.target);
  return (
    <>
      <Diagnostics list={made.diagnostics} />
      <section class="raw" aria-labelledby="body-title">
        <div>
          <div class="row raw-head">
            <h3 id="body-title">
              POST <code data-endpoint>{url}</code>
            </h3>
            <CopyButton label="Copy as curl" text={() => curl(made.target, made.text)} />
            <CopyButton label="Copy body" text={() => made.text} />
          </div>
          <Facts class="body-headers" facts={[...headers, ["size", `${count(made.bytes)} bytes as sent`]]} />
          <pre tabIndex={0} aria-label="Body as JSON" data-json="body">
            {shortened(made.text)}
          </pre>
        </div>
      </section>
    </>
  );
}

/** Base64 is shortened for display; copying includes all of it. */
function shortened(text: string): string {
  return text.replace(/[A-Za-z0-9+/=]{240,}/g, (run) => `${run.slice(0, 60)}… (${count(run.length)} characters)`);
}
