import { Icon } from "../ui/icons.js";
import { Select } from "../ui/fields.js";
import { MessageText } from "../ui/message.js";
import type { Target } from "../ui/detect.js";
import { arrival, openAs, openTree, TARGETS } from "./arrivals.js";

/** Shows the last incoming item with its detected kind, and lets the user open it as another kind. */
export function Arrived() {
  const now = arrival.value;
  if (!now) return null;
  const { name, guess, view, trees, problem } = now;
  const known = TARGETS.find(({ value }) => value === view);
  return (
    <div class="arrived" role={guess.view === undefined ? "alert" : "status"} data-guess={guess.view ?? "unknown"}>
      <p>
        <strong>{name}</strong> {guess.view === undefined ? "is" : "looks like"} {guess.what}
        {problem === undefined ? "" : ": "}
        {problem === undefined ? null : <MessageText text={problem} />}.
      </p>
      {trees ? (
        <span class="open-as">
          <label for="arrived-tree">Tree</label>
          <select
            id="arrived-tree"
            value={trees.open}
            onChange={(event) => void openTree(Number(event.currentTarget.value))}
          >
            {trees.titles.map((title, place) => (
              <option key={place} value={place}>
                {title}
              </option>
            ))}
          </select>
        </span>
      ) : null}
      <span class="open-as">
        <label for="open-as">{known ? "Opened as" : "Open as"}</label>
        <Select<Target | "">
          id="open-as"
          options={known ? TARGETS : [{ value: "", name: "…" }, ...TARGETS]}
          value={known?.value ?? ""}
          onValue={(value) => {
            if (value !== "") void openAs(value);
          }}
        />
      </span>
      <button type="button" class="reset" aria-label="Dismiss" onClick={() => (arrival.value = undefined)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
