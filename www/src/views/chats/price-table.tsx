import { modelInfo } from "ctxweave/chat";
import { IconButton } from "../../ui/button.js";
import { optionsOf } from "../../ui/fields.js";
import { Table } from "../../ui/table.js";
import { MODEL_NAMES } from "./models.js";
import { listPrice, ownPrices, priceOf, resetPrice, setPrice, type Price } from "./prices.js";
import { modelName } from "./state.js";

const COLUMNS: Record<keyof Price, string> = {
  input: "Input",
  cached: "Cached",
  write: "Cache write",
  output: "Output",
};

/** Prices of tokens. Users may have other prices than the list: they can be edited, and are stored in this browser. */
export function PriceTable() {
  const own = ownPrices.value.value ?? {};
  const chosen = modelName.value;
  const names = chosen === undefined || MODEL_NAMES.includes(chosen) ? MODEL_NAMES : [chosen, ...MODEL_NAMES];
  const { source, date } = modelInfo(MODEL_NAMES[0] ?? "")?.price ?? {};
  return (
    <details class="prices">
      <summary class="mb-2">Prices: US dollars for a million tokens, list prices of {date}</summary>
      <Table class="dense" label="Prices" columns={["Model", ...Object.values(COLUMNS), <td />]}>
        {names.map((name) => (
          <tr key={name} data-price={name} aria-current={name === chosen ? "true" : undefined}>
            <th scope="row" class={name === chosen ? "font-semibold" : undefined}>
              {name}
            </th>
            {optionsOf(COLUMNS).map(({ value: field, name: column }) => (
              <td key={field}>
                <PriceInput
                  label={`${column}, ${name}`}
                  value={priceOf(name)?.[field]}
                  onPrice={(price) => setPrice(name, { [field]: price })}
                />
              </td>
            ))}
            <td>
              {name in own ? (
                <IconButton
                  icon="reset"
                  label={`Reset: ${name}`}
                  class="reset"
                  title={listPrice(name) ? "Restore the list price" : "Remove the price"}
                  onClick={() => resetPrice(name)}
                />
              ) : null}
            </td>
          </tr>
        ))}
      </Table>
      <p class="hint mt-2">
        From the table of {source}. Your changes stay in this browser. Prices for long prompts, batches and priority can
        differ.
      </p>
    </details>
  );
}

/** Shown instead of a cost: asks for the model, or for the price of a model that has none in the table. */
export function MissingPrice() {
  const name = modelName.value;
  if (name === undefined) return <span class="quiet-text">Choose a model to see the price.</span>;
  return (
    <label class="row gap-x-2">
      No price is known for <code>{name}</code>. US dollars for a million tokens:
      <PriceInput label={`Price of a million tokens, ${name}`} onPrice={(input) => setPrice(name, { input })} />
    </label>
  );
}

function PriceInput(props: { label: string; value?: number | undefined; onPrice: (price: number) => void }) {
  return (
    <input
      type="number"
      min={0}
      step="any"
      class="w-22"
      aria-label={props.label}
      value={props.value ?? ""}
      onChange={(event) => {
        const price = event.currentTarget.valueAsNumber;
        if (price >= 0) props.onPrice(price);
      }}
    />
  );
}
