import type { LoomTreeData, Preferences } from "ctxweave/loom";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  Check,
  InputField,
  NumberField,
  optionsOf,
  Segmented,
  SelectField,
  SliderField,
  type Origin,
} from "../../ui/fields.js";
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
  protectionOf,
  PROTECTION_NAMES,
  PROTECTIONS,
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
        options={optionsOf({ dialogue: "Dialogue", buffer: "Buffer" })}
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
        <SelectField
          label="Strategy"
          hint={STRATEGY_HINTS[strategy]}
          {...originOf("truncationStrategy", tree)}
          options={optionsOf(STRATEGY_NAMES)}
          value={strategy}
          onValue={(value) => setPreference("truncationStrategy", value)}
        />
        {strategy === "truncateMiddle" ? (
          <NumberPreference name="minimumRecentNodes" label="Recent nodes kept" tree={tree} />
        ) : null}
        {strategy === "rollingWindow" && !buffer ? (
          <SelectField
            label="Start on"
            {...originOf("startOn", tree)}
            options={optionsOf({ any: "Any message", user: "A user message" })}
            value={effective(now, tree, "startOn")}
            onValue={(value) => setPreference("startOn", value)}
          />
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
        <SelectField
          label="Instructions of"
          options={optionsOf({ path: "Every edge on the path", generation: "This generation only" })}
          value={now.instructionScope ?? "generation"}
          onValue={(value) => setOrClear("instructionScope", value === "generation" ? undefined : value)}
        />
        {buffer ? (
          <Check
            label="System context in the document’s request"
            value={now.bufferSystem ?? tree.bufferModeSystemContext ?? false}
            onValue={(checked) => setOrClear("bufferSystem", checked)}
          />
        ) : null}
        <InputField
          label="Agent’s system prompt"
          rows={2}
          placeholder="None"
          value={now.systemPrompt ?? ""}
          onValue={(text) => setOrClear("systemPrompt", text)}
        />
        <SelectField<ProviderName | "">
          label="Provider"
          hint="The target of the prompt. It determines the place of the system context, the request and its cost."
          options={[{ value: "", name: "None" }, ...optionsOf(PROVIDER_NAMES)]}
          value={now.provider ?? ""}
          onValue={(value) => setProvider(value === "" ? undefined : value)}
        />
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
    <NumberField
      beside
      label={props.label}
      hint={props.hint}
      {...originOf(props.name, props.tree)}
      step={props.step ?? 1}
      value={effective(settings.value, props.tree, props.name)}
      onValue={(value) => setPreference(props.name, value)}
    />
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
    <SliderField
      label="Context window"
      min={0}
      max={STEPS}
      position={step}
      onSlide={slide}
      value={value}
      onValue={(contextWindow) => change({ contextWindow })}
    />
  );
}

/** Which messages and texts are shortened rather than removed. */
function Shortening({ tree }: { tree: LoomTreeData }) {
  const now = settings.value;
  const hasStep = effective(now, tree, "cutStep") > 0;
  return (
    <>
      <SelectField
        label="Protect"
        hint="These messages are shortened rather than removed."
        {...originOf("protect", tree)}
        options={optionsOf(PROTECTION_NAMES)}
        value={protectionOf(effectiveProtect(now, tree))}
        onValue={(value) => setPreference("protect", PROTECTIONS[value])}
      />
      <SelectField
        label="Fill"
        hint={hasStep ? "Not available with a cut step." : "Shortened at the edges of the gap, to use the whole limit."}
        {...originOf("fill", tree)}
        options={optionsOf(FILL_NAMES)}
        value={effective(now, tree, "fill")}
        onValue={(value) => setPreference("fill", value)}
      />
    </>
  );
}

function Marker({ tree }: { tree: LoomTreeData }) {
  const { mode, preferences } = settings.value;
  const set = preferences.truncationMarker;
  // A truncate field cannot contain a line break, so it is written as \n.
  const show = (text: string): string => text.replaceAll("\n", "\\n");
  return (
    <InputField
      label="Marker"
      hint={
        <>
          <code>{"{count}"}</code> becomes the number of removed nodes, <code>\n</code> a line break.
        </>
      }
      {...originOf("truncationMarker", tree)}
      value={show(set ?? tree.preferences?.truncationMarker ?? defaultMarker(mode))}
      onValue={(text) => setPreference("truncationMarker", text.replaceAll("\\n", "\n"))}
    />
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
    <InputField
      {...props}
      rows={4}
      class="prose"
      value={settings.value[props.name] ?? ""}
      onValue={(text) => setOrClear(props.name, text)}
    />
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
