import { signal, useComputed } from "@preact/signals";
import { requestBodyWithReport } from "ctxweave";
import type { BodyRequest, CtxweaveError, Diagnostic, Target, TargetProvider } from "ctxweave";
import { CopyButton } from "../../ui/copy-button.js";
import { Field } from "../../ui/fields.js";
import { count } from "../../ui/format.js";
import { Diagnostics, Problem } from "./problem.js";
import { curl, endpoint } from "./endpoint.js";
import { request, settings, type Outcome } from "./state.js";

const NAMES: Record<TargetProvider, string> = {
  anthropic: "Anthropic",
  openai: "OpenAI Chat",
  "openai-responses": "OpenAI Responses",
  gemini: "Gemini",
  completion: "Completion",
};

/** A model to begin with; which one it is, is the reader's to say. */
const MODELS: Record<TargetProvider, string> = {
  anthropic: "claude-sonnet-4-5",
  openai: "gpt-5",
  "openai-responses": "gpt-5",
  gemini: "gemini-2.5-pro",
  completion: "gpt-3.5-turbo-instruct",
};

/** What was chosen here; it outlives the tab. */
const picked = signal<TargetProvider | undefined>(undefined);
const models = signal<Partial<Record<TargetProvider, string>>>({});
const cached = signal(false);

const provider = (): TargetProvider =>
  picked.value ?? settings.value.provider ?? (settings.value.mode === "buffer" ? "completion" : "anthropic");

interface Made {
  target: Target & { model: string };
  text: string;
  bytes: number;
  diagnostics: Diagnostic[];
}

/** The body for a provider, as it is sent, with what it takes to send it. */
export function RequestBody() {
  const made = useComputed<Made | Extract<Outcome, { kind: "error" }> | undefined>(() => {
    const input = request.value;
    if (!input) return undefined;
    const chosen = provider();
    const target = {
      provider: chosen,
      model: models.value[chosen] || MODELS[chosen],
      ...(chosen === "anthropic" && cached.value ? { cache: true } : {}),
    };
    // Whom it is for decides where the system context stands, whatever the settings say of another provider.
    const { provider: _, ...rest } = input;
    try {
      const { body, report } = requestBodyWithReport({ ...rest, target } satisfies BodyRequest);
      const text = JSON.stringify(JSON.parse(new TextDecoder().decode(body)), null, 2);
      return { target, text, bytes: body.length, diagnostics: report.diagnostics };
    } catch (error) {
      const { code = "error", message, details = {} } = error as CtxweaveError;
      return { kind: "error", code, message, details: details as Record<string, unknown> };
    }
  });
  const result = made.value;
  const chosen = provider();
  return (
    <div class="body-view">
      <div class="body-controls">
        <div class="segmented body-providers" role="radiogroup" aria-label="Provider of the request">
          {(Object.keys(NAMES) as TargetProvider[]).map((name) => (
            <label key={name}>
              <input
                type="radio"
                name="body-provider"
                value={name}
                checked={name === chosen}
                onChange={() => (picked.value = name)}
              />
              <span>{NAMES[name]}</span>
            </label>
          ))}
        </div>
        <Field label="Model">
          {({ id }) => (
            <input
              type="text"
              id={id}
              spellcheck={false}
              value={models.value[chosen] ?? ""}
              placeholder={MODELS[chosen]}
              onInput={(event) => (models.value = { ...models.value, [chosen]: event.currentTarget.value.trim() })}
            />
          )}
        </Field>
        {chosen === "anthropic" ? (
          <label class="check">
            <input
              type="checkbox"
              checked={cached.value}
              onChange={(event) => (cached.value = event.currentTarget.checked)}
            />
            <span>Cache breakpoints</span>
          </label>
        ) : null}
      </div>
      {result === undefined ? null : "kind" in result ? <Problem error={result} /> : <Body made={result} />}
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
          <div class="raw-head">
            <h3 id="body-title">
              POST <code data-endpoint>{url}</code>
            </h3>
            <CopyButton label="Copy as curl" text={() => curl(made.target, made.text)} />
            <CopyButton label="Copy body" text={() => made.text} />
          </div>
          <dl class="body-headers">
            {headers.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
            <div>
              <dt>size</dt>
              <dd>{count(made.bytes)} bytes as sent</dd>
            </div>
          </dl>
          <pre tabIndex={0} aria-label="Body as JSON" data-json="body">
            {shortened(made.text)}
          </pre>
        </div>
      </section>
    </>
  );
}

/** Base64 is folded to be looked at; what is copied is whole. */
function shortened(text: string): string {
  return text.replace(/[A-Za-z0-9+/=]{240,}/g, (run) => `${run.slice(0, 60)}… (${count(run.length)} characters)`);
}
