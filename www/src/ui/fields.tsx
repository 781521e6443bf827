import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { Icon } from "./icons.js";

/** Origin of a value that the user did not set. */
export type Origin = "set" | "tree" | "default";

/** A labelled control with the origin of its value and a button that resets it. */
export function Field(props: {
  label: string;
  hint?: ComponentChildren;
  origin?: Origin;
  onReset?: () => void;
  /** The control is small and placed next to its label. */
  beside?: boolean;
  children: (ids: { id: string; describedBy: string | undefined }) => ComponentChildren;
}) {
  const id = useId();
  const hintId = `${id}-hint`;
  const ofTree =
    props.origin === "tree" ? <span class="origin">{props.beside ? "tree" : "set by the tree"}</span> : null;
  return (
    <div class={props.beside ? "field beside" : "field"}>
      <div class="field-head">
        <label for={id}>{props.label}</label>
        {ofTree}
        {props.origin === "set" && props.onReset ? (
          <button
            type="button"
            class="reset"
            aria-label={`Reset: ${props.label}`}
            title="Reset"
            onClick={props.onReset}
          >
            <Icon name="reset" />
          </button>
        ) : null}
      </div>
      {props.children({ id, describedBy: props.hint ? hintId : undefined })}
      {props.hint ? (
        <p class="hint" id={hintId}>
          {props.hint}
        </p>
      ) : null}
    </div>
  );
}

/** A number field. An incomplete number stays in the field and is not reported. */
export function NumberInput(props: {
  id: string;
  value: number;
  onValue: (value: number) => void;
  min?: number;
  step?: number;
  describedBy?: string | undefined;
  label?: string;
}) {
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
      aria-label={props.label}
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

/** A choice among few options, all visible. */
export function Segmented<Value extends string>(props: {
  label: string;
  options: readonly { value: Value; name: string }[];
  value: Value;
  onValue: (value: Value) => void;
}) {
  const name = useId();
  // If a choice is rejected, the current value is marked again.
  const [, again] = useState(0);
  return (
    <fieldset class="segmented">
      <legend class="visually-hidden">{props.label}</legend>
      {props.options.map(({ value, name: text }) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            value={value}
            checked={props.value === value}
            onChange={() => {
              props.onValue(value);
              again((times) => times + 1);
            }}
          />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** A choice among several options, in a menu. */
export function Select<Value extends string>(props: {
  id: string;
  options: readonly { value: Value; name: string }[];
  value: Value;
  onValue: (value: Value) => void;
  describedBy?: string | undefined;
}) {
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
