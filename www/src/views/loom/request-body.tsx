import { useComputed } from "@preact/signals";
import { requestBodyWithReport } from "ctxweave/loom";
import type { CtxweaveError, Diagnostic, TargetProvider } from "ctxweave/loom";
import { CopyButton } from "../../ui/copy-button.js";
import { Facts } from "../../ui/facts.js";
import { Check, InputField, Segmented } from "../../ui/fields.js";
import { count } from "../../ui/format.js";
import { JsonText } from "../../ui/json-view.js";
import { optional } from "./field-values.js";
import { Diagnostics, Problem } from "./problem.js";
import { ENDPOINTS, PROVIDER_OPTIONS, targetOf } from "./settings.js";
import { request, setOrClear, setProvider, settings } from "./state.js";

interface Made {
  url: string;
  headers: [name: string, value: string][];
  body: string;
  bytes: number;
  diagnostics: Diagnostic[];
}

/** The request body for the chosen provider, with address, headers and a curl command. */
export function RequestBody() {
  const result = useComputed(made).value;
  const { provider, model } = settings.value;
  return (
    <div class="stack body-view [&_pre]:max-h-none">
      <div class="row items-end gap-x-4 gap-y-2.5 [&>.field]:basis-60">
        <Segmented<TargetProvider | "">
          class="body-providers flex-wrap"
          label="Provider of the request"
          options={PROVIDER_OPTIONS}
          value={provider ?? ""}
          onValue={(name) => setProvider(name || undefined)}
        />
        {provider ? (
          <InputField
            label="Model"
            spellcheck={false}
            value={model ?? ""}
            placeholder={ENDPOINTS[provider].model}
            onValue={(text) => setOrClear("model", text.trim())}
          />
        ) : null}
        {provider === "anthropic" ? (
          <Check class="pb-1.5" label="Cache breakpoints" {...optional("cache", false)} />
        ) : null}
      </div>
      {result === undefined ? (
        <p class="empty">No provider is chosen. Choose one: the bar, the tree and the report follow.</p>
      ) : "error" in result ? (
        <Problem error={result.error} />
      ) : (
        <Body made={result} />
      )}
    </div>
  );
}

function made(): Made | { error: CtxweaveError } | undefined {
  const input = request.value;
  const target = targetOf(settings.value);
  if (!input || !target) return undefined;
  try {
    const { body, report } = requestBodyWithReport({ ...input, target });
    const { url, headers } = ENDPOINTS[target.provider];
    return {
      url: url.replace("{model}", encodeURIComponent(target.model)),
      headers: Object.entries({ ...headers, "content-type": "application/json" }),
      body: JSON.stringify(JSON.parse(new TextDecoder().decode(body)), null, 2),
      bytes: body.length,
      diagnostics: report.diagnostics,
    };
  } catch (error) {
    return { error: error as CtxweaveError };
  }
}

function Body({ made }: { made: Made }) {
  const { url, headers, body, bytes, diagnostics } = made;
  return (
    <>
      <Diagnostics list={diagnostics} />
      <h3>
        POST{" "}
        <code class="font-normal wrap-anywhere text-ink-3" data-endpoint>
          {url}
        </code>
      </h3>
      <Facts class="pairs text-xs [--names:8rem]" facts={[...headers, ["size", `${count(bytes)} bytes as sent`]]} />
      <JsonText name="body" title="Body" label="Copy body" text={shortened(body)} copied={() => body}>
        <CopyButton label="Copy as curl" text={() => curl(made)} />
      </JsonText>
    </>
  );
}

/** Base64 is shortened for display; copying includes all of it. */
function shortened(text: string): string {
  return text.replace(/[A-Za-z0-9+/=]{240,}/g, (run) => `${run.slice(0, 60)}… (${count(run.length)} characters)`);
}

/** The request as a command. The body is a quoted here-document, in which the shell leaves every character unchanged. */
function curl({ url, headers, body }: Made): string {
  const lines = [`curl '${url}'`, ...headers.map(([name, value]) => `  -H "${name}: ${value}"`)];
  return `${lines.join(" \\\n")} \\\n  --data-binary @- <<'BODY'\n${body}\nBODY\n`;
}
