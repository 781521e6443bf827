import type { LoomTreeData, TargetProvider } from "ctxweave/loom";
import { Check, InputField, NumberField, optionsOf, Segmented, SelectField, SliderField } from "../../ui/fields.js";
import { count, tokens } from "../../ui/format.js";
import { narrow } from "../../ui/media.js";
import { VocabularyLoading } from "../../ui/vocabulary-loading.js";
import { STRATEGY_HINTS, STRATEGY_NAMES } from "../../ui/words.js";
import { AwareControls } from "./aware-controls.js";
import { optional, preference } from "./field-values.js";
import { AnnotationPicker, ChoicePickers, VersionPickers } from "./path-pickers.js";
import { ENCODINGS, FILL_NAMES, PROTECTION_NAMES, protectionOf, PROTECTIONS, PROVIDER_OPTIONS } from "./settings.js";
import { change, open, pendingCost, setMode, setProvider, settings } from "./state.js";

/** The settings of the assembly; each change assembles immediately. */
export function Controls() {
  const { mode, contextWindow, provider } = settings.value;
  const tree = open.value?.tree;
  if (!tree) return null;
  const isBuffer = mode === "buffer";
  return (
    <form class="controls" onSubmit={(event) => event.preventDefault()} aria-label="Settings">
      <ChoicePickers />
      <Segmented
        label="Mode"
        options={optionsOf({ dialogue: "Dialogue", buffer: "Buffer" })}
        value={mode}
        onValue={setMode}
      />
      {narrow.value ? null : <Draft isBuffer={isBuffer} />}

      <fieldset>
        <legend>Budget</legend>
        <SliderField
          label="Context window"
          min={0}
          max={STEPS}
          position={toStep(contextWindow)}
          onSlide={(step) => change({ contextWindow: fromStep(step) })}
          value={contextWindow}
          onValue={(value) => change({ contextWindow: value })}
        />
        <NumberField inline label="Token buffer" hint="Reserved for the answer." {...preference("tokenBuffer", tree)} />
        <TokenizerPicker />
      </fieldset>
      {/* On a small screen the slider is near the bar that it changes. */}
      {narrow.value ? <Draft isBuffer={isBuffer} /> : null}

      <Truncation tree={tree} isBuffer={isBuffer} />
      <VersionPickers />

      <fieldset>
        <legend>Content</legend>
        <AnnotationPicker />
        <SelectField
          label="Instructions of"
          options={optionsOf({ path: "Every edge on the path", generation: "This generation only" })}
          {...optional("instructionScope", "generation")}
        />
        {isBuffer ? (
          <Check
            label="System context in the document’s request"
            {...optional("bufferSystem", tree.bufferModeSystemContext ?? false)}
          />
        ) : null}
        <InputField label="Agent’s system prompt" rows={2} placeholder="None" {...optional("systemPrompt", "")} />
        <SelectField<TargetProvider | "">
          label="Provider"
          hint="The target of the prompt. It determines the place of the system context, the request and its cost."
          options={[{ value: "", name: "None" }, ...PROVIDER_OPTIONS]}
          value={provider ?? ""}
          onValue={(value) => setProvider(value || undefined)}
        />
      </fieldset>

      <AwareControls tree={tree} />
    </form>
  );
}

/** Windows differ by orders of magnitude, so the slider is logarithmic; the field next to it takes any number. */
const MIN_WINDOW_TOKENS = 256;
const STEPS_PER_DOUBLING = 40;
const STEPS = 10 * STEPS_PER_DOUBLING;

function toStep(tokens: number): number {
  return Math.round(STEPS_PER_DOUBLING * Math.log2(Math.max(tokens, MIN_WINDOW_TOKENS) / MIN_WINDOW_TOKENS));
}

function fromStep(step: number): number {
  const exact = MIN_WINDOW_TOKENS * 2 ** (step / STEPS_PER_DOUBLING);
  // Less than a step, so that every step is another number.
  const grain = 2 ** Math.floor(Math.log2(exact / 64));
  return Math.round(exact / grain) * grain;
}

/** An exact count needs a vocabulary; until it is loaded the estimate is used. */
function TokenizerPicker() {
  const tokenizer = optional("tokenizer", "");
  return (
    <>
      <SelectField
        label="Tokens"
        hint={tokenizer.value ? undefined : "An exact count first loads a vocabulary of about a megabyte."}
        options={[
          { value: "", name: "Estimate (heuristic)" },
          ...ENCODINGS.map((value) => ({ value, name: `Exact: ${value}` })),
        ]}
        {...tokenizer}
      />
      {tokenizer.value ? <VocabularyLoading name={tokenizer.value} /> : null}
    </>
  );
}

/** The strategy for prompts over the limit, and the settings that it has. */
function Truncation({ tree, isBuffer }: { tree: LoomTreeData; isBuffer: boolean }) {
  const strategy = preference("truncationStrategy", tree);
  const protect = preference("protect", tree);
  const marker = preference("truncationMarker", tree);
  const cutStep = preference("cutStep", tree);
  return (
    <fieldset>
      <legend>Over the limit</legend>
      <SelectField
        label="Strategy"
        hint={STRATEGY_HINTS[strategy.value]}
        options={optionsOf(STRATEGY_NAMES)}
        {...strategy}
      />
      {strategy.value === "truncateMiddle" ? (
        <NumberField inline label="Recent nodes kept" {...preference("minimumRecentNodes", tree)} />
      ) : null}
      {strategy.value === "rollingWindow" && !isBuffer ? (
        <SelectField
          label="Start on"
          options={optionsOf({ any: "Any message", user: "A user message" })}
          {...preference("startOn", tree)}
        />
      ) : null}
      {strategy.value === "stopAtLimit" ? null : (
        <>
          <NumberField
            inline
            label="Cut step"
            hint="Rounds the cut up to a multiple of this many tokens, so that it stays in place for many turns."
            step={64}
            {...cutStep}
          />
          {isBuffer ? null : (
            <>
              <SelectField
                {...protect}
                label="Protect"
                hint="These messages are shortened rather than removed."
                options={optionsOf(PROTECTION_NAMES)}
                value={protectionOf(protect.value)}
                onValue={(value) => protect.onValue(PROTECTIONS[value])}
              />
              <SelectField
                label="Fill"
                hint={
                  cutStep.value > 0
                    ? "Not available with a cut step."
                    : "Shortened at the edges of the gap, to use the whole limit."
                }
                options={optionsOf(FILL_NAMES)}
                {...preference("fill", tree)}
              />
            </>
          )}
          {/* A text field cannot contain a line break, so it is written as \n. */}
          <InputField
            {...marker}
            label="Marker"
            hint={
              <>
                <code>{"{count}"}</code> becomes the number of removed nodes, <code>\n</code> a line break.
              </>
            }
            value={marker.value.replaceAll("\n", "\\n")}
            onValue={(text) => marker.onValue(text.replaceAll("\\n", "\n"))}
          />
        </>
      )}
    </fieldset>
  );
}

/** A field for text being written that is not a node yet. */
function Draft({ isBuffer }: { isBuffer: boolean }) {
  const name = isBuffer ? "workingBuffer" : "pendingMessage";
  return (
    <InputField
      label={isBuffer ? "Working buffer" : "Pending message"}
      hint={isBuffer ? "Text that is not yet a node, at the end of the document." : <PendingHint />}
      placeholder={isBuffer ? "Continue the text…" : "Write the next message…"}
      rows={4}
      class="prose"
      {...optional(name, "")}
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
