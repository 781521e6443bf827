import { IconButton } from "../../ui/button.js";
import { Table } from "../../ui/table.js";
import { choices } from "./models.js";
import { listPrice, ownPrices, priceOf, resetPrice, setPrice, type Price } from "./prices.js";
import { modelName } from "./state.js";

const COLUMNS: readonly { field: keyof Price; name: string }[] = [
  { field: "input", name: "Input" },
  { field: "cached", name: "Cached" },
  { field: "write", name: "Cache write" },
  { field: "output", name: "Output" },
];

/** Prices of tokens. Users may have other prices than the list: they can be edited, and are stored in this browser. */
export function PriceTable() {
  const own = ownPrices.value.value ?? {};
  const listed = choices.value.flatMap(({ models }) => models.map(({ name }) => name));
  const chosen = modelName.value;
  const { source, date } = listPrice(listed[0] ?? "") ?? {};
  const names = chosen === undefined || listed.includes(chosen) ? listed : [chosen, ...listed];
  return (
    <details class="prices">
      <summary>Prices: US dollars for a million tokens, list prices of {date}</summary>
      <Table label="Prices" columns={["Model", ...COLUMNS.map(({ name }) => name), <td />]}>
        {names.map((name) => (
          <tr key={name} data-price={name} aria-current={name === chosen ? "true" : undefined}>
            <th scope="row">{name}</th>
            {COLUMNS.map(({ field, name: column }) => (
              <td key={field}>
                <input
                  type="number"
                  min={0}
                  step="any"
                  aria-label={`${column}, ${name}`}
                  value={priceOf(name)?.[field] ?? ""}
                  onChange={(event) => {
                    const value = event.currentTarget.valueAsNumber;
                    if (value >= 0) setPrice(name, { [field]: value });
                  }}
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
      <p class="hint">
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
    <label class="missing-price">
      No price is known for <code>{name}</code>. US dollars for a million tokens:
      <input
        type="number"
        min={0}
        step="any"
        aria-label={`Price of a million tokens, ${name}`}
        onChange={(event) => {
          const value = event.currentTarget.valueAsNumber;
          if (value >= 0) setPrice(name, { input: value });
        }}
      />
    </label>
  );
}
