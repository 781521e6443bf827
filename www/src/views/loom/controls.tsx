import type { LoomTreeData, Preferences, TruncationStrategy } from "ctxweave/loom";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Field, NumberInput, Segmented, Select, type Origin } from "../../ui/fields.js";
import { count, tokens } from "../../ui/format.js";
import { narrow } from "../../ui/media.js";
import { STRATEGY_HINTS, STRATEGY_NAMES } from "../../ui/words.js";
import { AwareControls } from "./aware-controls.js";
import { AnnotationPicker, ChoicePickers, VersionPickers } from "./path-pickers.js";
import {
  defaultMarker,
  effective,
  effectiveProtect,
  FILL_NAMES,
  FILLS,
  protectionOf,
  PROTECTION_NAMES,
  PROTECTIONS,
  PROVIDERS,
  STRATEGIES,
  type Fill,
  type Protection,
  type ProviderName,
} from "./settings.js";
import { change, open, pendingCost, setMode, setOrClear, setPreference, setProvider, settings } from "./state.js";
import { TokenizerPicker } from "./tokenizer-picker.js";

/** The settings of the assembly; each change assembles immediately. */
export function Controls() {
  const now = settings.value;
  const tree = open.value?.tree;
  if (!tree) return null;
  const strategy = effective(now, tree, "truncationStrategy");
  const buffer = now.mode === "buffer";
  return (
    <form class="controls" onSubmit={(event) => event.preventDefault()} aria-label="Settings">
      <ChoicePickers />
      <Segmented
        label="Mode"
        options={[
          { value: "dialogue", name: "Dialogue" },
          { value: "buffer", name: "Buffer" },
        ]}
        value={now.mode}
        onValue={setMode}
      />
      {narrow.value ? null : <Drafts buffer={buffer} />}

      <fieldset>
        <legend>Budget</legend>
        <ContextWindow />
        <NumberPreference name="tokenBuffer" label="Token buffer" hint="Reserved for the answer." tree={tree} />
        <TokenizerPicker />
      </fieldset>
      {/* On a small screen the slider is near the bar that it changes. */}
      {narrow.value ? <Drafts buffer={buffer} /> : null}

      <fieldset>
        <legend>Over the limit</legend>
        <Field label="Strategy" hint={STRATEGY_HINTS[strategy]} {...originOf("truncationStrategy", tree)}>
          {({ id, describedBy }) => (
            <Select<TruncationStrategy>
              id={id}
              describedBy={describedBy}
              options={STRATEGIES.map((value) => ({ value, name: STRATEGY_NAMES[value] }))}
              value={strategy}
              onValue={(value) => setPreference("truncationStrategy", value)}
            />
          )}
        </Field>
        {strategy === "truncateMiddle" ? (
          <NumberPreference name="minimumRecentNodes" label="Recent nodes kept" tree={tree} />
        ) : null}
        {strategy === "rollingWindow" && !buffer ? (
          <Field label="Start on" {...originOf("startOn", tree)}>
            {({ id }) => (
              <Select<"any" | "user">
                id={id}
                options={[
                  { value: "any", name: "Any message" },
                  { value: "user", name: "A user message" },
                ]}
                value={effective(now, tree, "startOn")}
                onValue={(value) => setPreference("startOn", value)}
              />
            )}
          </Field>
        ) : null}
        {strategy === "stopAtLimit" ? null : (
          <>
            <NumberPreference
              name="cutStep"
              label="Cut step"
              hint="Rounds the cut up to a multiple of this many tokens, so that it stays in place for many turns."
              step={64}
              tree={tree}
            />
            {buffer ? null : <Shortening tree={tree} />}
            <Marker tree={tree} />
          </>
        )}
      </fieldset>

      <VersionPickers />

      <fieldset>
        <legend>Content</legend>
        <AnnotationPicker />
        <Field label="Instructions of">
          {({ id }) => (
            <Select<"path" | "generation">
              id={id}
              options={[
                { value: "path", name: "Every edge on the path" },
                { value: "generation", name: "This generation only" },
              ]}
              value={now.instructionScope ?? "generation"}
              onValue={(value) => setOrClear("instructionScope", value === "generation" ? undefined : value)}
            />
          )}
        </Field>
        {buffer ? (
          <label class="check">
            <input
              type="checkbox"
              checked={now.bufferSystem ?? tree.bufferModeSystemContext ?? false}
              onChange={(event) => setOrClear("bufferSystem", event.currentTarget.checked)}
            />
            <span>System context in the document’s request</span>
          </label>
        ) : null}
        <Field label="Agent’s system prompt">
          {({ id }) => (
            <textarea
              id={id}
              rows={2}
              value={now.systemPrompt ?? ""}
              placeholder="None"
              onInput={(event) => setOrClear("systemPrompt", event.currentTarget.value)}
            />
          )}
        </Field>
        <Field
          label="Provider"
          hint="The target of the prompt. It determines the place of the system context, the request and its cost."
        >
          {({ id, describedBy }) => (
            <Select<ProviderName | "">
              id={id}
              describedBy={describedBy}
              options={[
                { value: "", name: "None" },
                ...PROVIDERS.map((value) => ({ value, name: PROVIDER_NAMES[value] })),
              ]}
              value={now.provider ?? ""}
              onValue={(value) => setProvider(value === "" ? undefined : value)}
            />
          )}
        </Field>
      </fieldset>

      <AwareControls tree={tree} />
    </form>
  );
}

const PROVIDER_NAMES: Record<ProviderName, string> = {
  anthropic: "Anthropic Messages",
  openai: "OpenAI Chat Completions",
  "openai-responses": "OpenAI Responses",
  gemini: "Gemini",
  "gemini-interactions": "Gemini Interactions",
  completion: "Plain completion",
};

function originOf(name: keyof Preferences, tree: LoomTreeData): { origin: Origin; onReset: () => void } {
  const origin =
    settings.value.preferences[name] !== undefined
      ? "set"
      : tree.preferences?.[name] !== undefined
        ? "tree"
        : "default";
  return { origin, onReset: () => setPreference(name, undefined) };
}

function NumberPreference(props: {
  name: "tokenBuffer" | "minimumRecentNodes" | "cutStep";
  label: string;
  hint?: string;
  step?: number;
  tree: LoomTreeData;
}) {
  return (
    <Field beside label={props.label} hint={props.hint} {...originOf(props.name, props.tree)}>
      {({ id, describedBy }) => (
        <NumberInput
          id={id}
          describedBy={describedBy}
          min={0}
          step={props.step ?? 1}
          value={effective(settings.value, props.tree, props.name)}
          onValue={(value) => setPreference(props.name, value)}
        />
      )}
    </Field>
  );
}

const MIN_WINDOW_TOKENS = 256;
const MAX_WINDOW_TOKENS = 200_000;
const STEPS = 400;

/** Windows differ by orders of magnitude, so the slider is logarithmic; the field next to it takes any number. */
function toStep(tokens: number): number {
  return Math.round(
    (Math.log(Math.min(MAX_WINDOW_TOKENS, Math.max(MIN_WINDOW_TOKENS, tokens)) / MIN_WINDOW_TOKENS) /
      Math.log(MAX_WINDOW_TOKENS / MIN_WINDOW_TOKENS)) *
      STEPS,
  );
}

function fromStep(step: number): number {
  const exact = MIN_WINDOW_TOKENS * (MAX_WINDOW_TOKENS / MIN_WINDOW_TOKENS) ** (step / STEPS);
  const grain = exact < 2048 ? 16 : exact < 16_384 ? 64 : 512;
  return Math.round(exact / grain) * grain;
}

function ContextWindow() {
  const value = settings.value.contextWindow;
  const [step, setStep] = useState(toStep(value));
  const pending = useRef(0);
  useEffect(() => setStep(toStep(value)), [value]);
  useEffect(() => () => cancelAnimationFrame(pending.current), []);
  // A slider can report faster than the page is drawn; one assembly per frame is enough.
  const slide = (to: number): void => {
    setStep(to);
    cancelAnimationFrame(pending.current);
    pending.current = requestAnimationFrame(() => change({ contextWindow: fromStep(to) }));
  };
  return (
    <Field label="Context window">
      {({ id }) => (
        <div class="slider">
          <input
            type="range"
            aria-label="Context window, slider"
            aria-valuetext={tokens(value)}
            min={0}
            max={STEPS}
            step={1}
            value={step}
            onInput={(event) => slide(Number(event.currentTarget.value))}
          />
          <NumberInput id={id} value={value} min={1} onValue={(contextWindow) => change({ contextWindow })} />
        </div>
      )}
    </Field>
  );
}

/** Which messages and texts are shortened rather than removed. */
function Shortening({ tree }: { tree: LoomTreeData }) {
  const now = settings.value;
  const hasStep = effective(now, tree, "cutStep") > 0;
  return (
    <>
      <Field label="Protect" hint="These messages are shortened rather than removed." {...originOf("protect", tree)}>
        {({ id, describedBy }) => (
          <Select<Protection>
            id={id}
            describedBy={describedBy}
            options={(Object.keys(PROTECTIONS) as Protection[]).map((value) => ({
              value,
              name: PROTECTION_NAMES[value],
            }))}
            value={protectionOf(effectiveProtect(now, tree))}
            onValue={(value) => setPreference("protect", PROTECTIONS[value])}
          />
        )}
      </Field>
      <Field
        label="Fill"
        hint={hasStep ? "Not available with a cut step." : "Shortened at the edges of the gap, to use the whole limit."}
        {...originOf("fill", tree)}
      >
        {({ id, describedBy }) => (
          <Select<Fill>
            id={id}
            describedBy={describedBy}
            options={FILLS.map((value) => ({ value, name: FILL_NAMES[value] }))}
            value={effective(now, tree, "fill")}
            onValue={(value) => setPreference("fill", value)}
          />
        )}
      </Field>
    </>
  );
}

function Marker({ tree }: { tree: LoomTreeData }) {
  const { mode, preferences } = settings.value;
  const set = preferences.truncationMarker;
  // A one-line field cannot contain a line break, so it is written as \n.
  const show = (text: string): string => text.replaceAll("\n", "\\n");
  return (
    <Field
      label="Marker"
      hint={
        <>
          <code>{"{count}"}</code> becomes the number of removed nodes, <code>\n</code> a line break.
        </>
      }
      {...originOf("truncationMarker", tree)}
    >
      {({ id, describedBy }) => (
        <input
          type="text"
          id={id}
          aria-describedby={describedBy}
          value={show(set ?? tree.preferences?.truncationMarker ?? defaultMarker(mode))}
          onInput={(event) => setPreference("truncationMarker", event.currentTarget.value.replaceAll("\\n", "\n"))}
        />
      )}
    </Field>
  );
}

/** Text being written that is not a node yet. */
function Drafts({ buffer }: { buffer: boolean }) {
  return buffer ? (
    <Draft
      name="workingBuffer"
      label="Working buffer"
      hint="Text that is not yet a node, at the end of the document."
      placeholder="Continue the text…"
    />
  ) : (
    <Draft name="pendingMessage" label="Pending message" hint={<PendingHint />} placeholder="Write the next message…" />
  );
}

/** A field for text being written that is not a node yet. */
function Draft(props: {
  name: "workingBuffer" | "pendingMessage";
  label: string;
  hint: ComponentChildren;
  placeholder: string;
}) {
  return (
    <Field label={props.label} hint={props.hint}>
      {({ id, describedBy }) => (
        <textarea
          id={id}
          aria-describedby={describedBy}
          rows={4}
          class="prose"
          placeholder={props.placeholder}
          value={settings.value[props.name] ?? ""}
          onInput={(event) => setOrClear(props.name, event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** The cost of the message, and whether the whole path still fits with it. */
function PendingHint() {
  const cost = pendingCost.value;
  if (!cost) return <>A message that is not sent yet, after the tip.</>;
  const { tokens: own, remaining } = cost;
  return (
    <span data-pending-tokens={own} data-remaining={remaining}>
      {tokens(own)};{" "}
      {remaining < 0 ? (
        <span class="warn">with it the whole path is over the limit by {count(-remaining)}</span>
      ) : (
        `the whole path leaves ${count(remaining)} of the limit`
      )}
      .
    </span>
  );
}
