import { Icon } from "../../ui/icons.js";
import { choices } from "./models.js";
import { LIST_PRICES, ownPrices, priceOf, PRICES_OF, resetPrice, setPrice, type Price } from "./prices.js";
import { model } from "./state.js";

const COLUMNS: readonly { field: keyof Price; name: string }[] = [
  { field: "input", name: "Input" },
  { field: "cached", name: "Cached" },
  { field: "write", name: "Cache write" },
];

/** Prices of tokens. Users may have other prices than the list: they can be edited, and are stored in this browser. */
export function PriceTable() {
  const own = ownPrices.value.value ?? {};
  const listed = choices.value.flatMap(({ models }) => models.map(({ name }) => name));
  const chosen = model.value?.name;
  const names = chosen === undefined || listed.includes(chosen) ? listed : [chosen, ...listed];
  return (
    <details class="prices">
      <summary>Prices: US dollars for a million tokens, list prices of {PRICES_OF}</summary>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Prices">
        <table>
          <thead>
            <tr>
              <th scope="col">Model</th>
              {COLUMNS.map(({ field, name }) => (
                <th key={field} scope="col">
                  {name}
                </th>
              ))}
              <td />
            </tr>
          </thead>
          <tbody>
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
                    <button
                      type="button"
                      class="reset"
                      aria-label={`Reset: ${name}`}
                      title={name in LIST_PRICES ? "Restore the list price" : "Remove the price"}
                      onClick={() => resetPrice(name)}
                    >
                      <Icon name="reset" />
                    </button>
                  ) : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="hint">
        From LiteLLM's table. Your changes stay in this browser. Prices for long prompts, batches and priority can
        differ.
      </p>
    </details>
  );
}
