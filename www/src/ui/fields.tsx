import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { IconButton } from "./button.js";
import { tokens } from "./format.js";

/** Origin of a value that the user did not set. */
export type Origin = "set" | "tree" | "default";

/** What every field has: its label, the origin of its value, and how it is reset. */
interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  origin?: Origin;
  onReset?: () => void;
  /** The control is small and placed next to its label. */
  inline?: boolean;
}

/** A labelled control with the origin of its value and a button that resets it. */
export function Field(
  props: FieldProps & { children: (ids: { id: string; describedBy: string | undefined }) => ComponentChildren },
) {
  const id = useId();
  const hintId = `${id}-hint`;
  const isOfTree = props.origin === "tree";
  return (
    <div class={`field ${props.inline ? "grid-cols-[minmax(0,1fr)_6.4rem] items-center gap-x-2.5" : ""}`}>
      <div class="flex min-h-5 items-center gap-1.5">
        <label for={id} class="text-s text-ink-2">
          {props.label}
        </label>
        {isOfTree ? <span class="tag ml-auto">{props.inline ? "tree" : "set by the tree"}</span> : null}
        {props.origin === "set" && props.onReset ? (
          <IconButton
            class="reset ml-auto"
            icon="reset"
            label={`Reset: ${props.label}`}
            title="Reset"
            onClick={props.onReset}
          />
        ) : null}
      </div>
      {props.children({ id, describedBy: props.hint ? hintId : undefined })}
      {props.hint ? (
        <p class="hint col-span-full" id={hintId}>
          {props.hint}
        </p>
      ) : null}
    </div>
  );
}

interface NumberProps {
  value: number;
  onValue: (value: number) => void;
  min?: number;
  step?: number;
}

/** A number field. An incomplete number stays in the field and is not reported. */
function NumberInput(props: NumberProps & { id: string; describedBy?: string | undefined }) {
  const [text, setText] = useState(String(props.value));
  useEffect(
    () => setText((was) => (Number(was) === props.value && was.trim() !== "" ? was : String(props.value))),
    [props.value],
  );
  return (
    <input
      type="number"
      inputMode="numeric"
      id={props.id}
      aria-describedby={props.describedBy}
      value={text}
      min={props.min}
      step={props.step ?? 1}
      onInput={(event) => {
        const { value } = event.currentTarget;
        setText(value);
        if (value.trim() !== "" && Number.isFinite(Number(value))) props.onValue(Number(value));
      }}
      onBlur={() => setText(String(props.value))}
    />
  );
}

/** The options of a choice, from their names by value. */
export const optionsOf = <Value extends string>(names: Record<Value, string>): { value: Value; name: string }[] =>
  (Object.keys(names) as Value[]).map((value) => ({ value, name: names[value] }));

interface Choice<Value> {
  options: readonly { value: Value; name: string }[];
  value: Value;
  onValue: (value: Value) => void;
}

/** A choice among few options, all visible. */
export function Segmented<Value extends string>(props: Choice<Value> & { label: string; class?: string }) {
  const name = useId();
  // If a choice is rejected, the current value is marked again.
  const [, again] = useState(0);
  return (
    <fieldset class={`segmented ${props.class ?? ""}`}>
      <legend class="sr-only">{props.label}</legend>
      {props.options.map(({ value, name: text }) => (
        <label key={value}>
          <input
            type="radio"
            class="absolute inset-0 m-0 cursor-pointer opacity-0"
            name={name}
            value={value}
            checked={props.value === value}
            onChange={() => {
              props.onValue(value);
              again((times) => times + 1);
            }}
          />
          <span class="block truncate">{text}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** A choice among several options, in a menu. */
export function Select<Value extends string>(props: Choice<Value> & { id: string; describedBy?: string | undefined }) {
  return (
    <select
      id={props.id}
      aria-describedby={props.describedBy}
      value={props.value}
      onChange={(event) => props.onValue(event.currentTarget.value as Value)}
    >
      {props.options.map(({ value, name }) => (
        <option key={value} value={value} selected={value === props.value}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** The same, as a field. */
export function SelectField<Value extends string>({ options, value, onValue, ...field }: FieldProps & Choice<Value>) {
  return <Field {...field}>{(ids) => <Select {...ids} options={options} value={value} onValue={onValue} />}</Field>;
}

export function NumberField({ value, onValue, step, ...field }: FieldProps & NumberProps) {
  return (
    <Field {...field}>
      {(ids) => <NumberInput {...ids} value={value} onValue={onValue} min={0} step={step ?? 1} />}
    </Field>
  );
}

/** A number of tokens with a slider. Its positions are the numbers up to `max`, unless `onSlide` takes them. */
export function SliderField(
  props: FieldProps & NumberProps & { max: number; position?: number; onSlide?: (position: number) => void },
) {
  const { value, onValue, min = 1, max, position = Math.min(value, max), onSlide = onValue, ...field } = props;
  return (
    <Field {...field}>
      {({ id }) => (
        <div class="slider grid grid-cols-[minmax(0,1fr)_5.6rem] items-center gap-2.5">
          <input
            type="range"
            class="m-0 w-full"
            aria-label={`${field.label}, slider`}
            aria-valuetext={tokens(value)}
            min={min}
            max={max}
            value={position}
            onInput={(event) => onSlide(Number(event.currentTarget.value))}
          />
          <NumberInput id={id} value={value} min={1} onValue={onValue} />
        </div>
      )}
    </Field>
  );
}

interface TextProps {
  value: string;
  onValue: (text: string) => void;
  placeholder?: string;
  class?: string;
  spellcheck?: boolean;
  /** For a text of several lines. */
  rows?: number;
  "data-input"?: string;
}

/** A field for a text. */
export function InputField(props: FieldProps & TextProps) {
  const { value, onValue, placeholder, class: name, spellcheck, rows, ...field } = props;
  return (
    <Field {...field}>
      {({ id, describedBy }) => {
        const onInput = (event: Event): void => onValue((event.currentTarget as HTMLInputElement).value);
        const attributes = { placeholder, class: name, spellcheck, "data-input": props["data-input"] };
        const shared = { ...attributes, id, "aria-describedby": describedBy, value, onInput };
        return rows === undefined ? <input type="text" {...shared} /> : <textarea rows={rows} {...shared} />;
      }}
    </Field>
  );
}

/** A check box with its label. */
export function Check(props: { label: string; value: boolean; onValue: (isChecked: boolean) => void; class?: string }) {
  return (
    <label class={`check ${props.class ?? ""}`}>
      <input type="checkbox" checked={props.value} onChange={(event) => props.onValue(event.currentTarget.checked)} />
      <span>{props.label}</span>
    </label>
  );
}
