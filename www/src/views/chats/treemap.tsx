import { hierarchy, treemap } from "d3-hierarchy";
import { count, tokens } from "../../ui/format.js";
import type { Item } from "./items.js";

/** Maximum number of tiles; the remaining items are combined in one tile per kind. */
const MAX_TILES = 160;
const [WIDTH, HEIGHT] = [1000, 380];

/** An item, or, without an id, several small ones. */
type Tile = Pick<Item, "kind" | "name" | "tokens"> & Partial<Item>;
type Tiles = Tile | readonly Tiles[];

/** The tiles, by kind. */
function tilesOf(items: readonly Item[]): Tiles {
  const sorted = items.filter(({ tokens: cost }) => cost > 0).toSorted((a, b) => b.tokens - a.tokens);
  const small = Map.groupBy(sorted.slice(MAX_TILES), ({ kind }) => kind);
  const combined = [...small].map(([kind, rest]) => ({
    kind,
    name: `${count(rest.length)} smaller ones`,
    tokens: rest.reduce((sum, one) => sum + one.tokens, 0),
  }));
  const tiles: readonly Tile[] = [...sorted.slice(0, MAX_TILES), ...combined];
  return [...Map.groupBy(tiles, ({ kind }) => kind).values()];
}

/** The list next to it as areas. For the pointer; keyboard users have the list. */
export function Treemap(props: {
  items: readonly Item[];
  chosen: string | undefined;
  /** Whether the item is excluded. */
  isRemoved: (item: Partial<Item>) => boolean;
  onChoose: (id: string) => void;
}) {
  const root = hierarchy(tilesOf(props.items), (node) => ("kind" in node ? undefined : node));
  root.sum((node) => ("kind" in node ? node.tokens : 0));
  const leaves = treemap<Tiles>().size([WIDTH, HEIGHT]).paddingInner(2)(root).leaves();
  const percent = (part: number, of: number): string => `${(100 * part) / of}%`;
  return (
    <div
      class="treemap relative h-[clamp(140px,26vh,260px)] overflow-hidden rounded-s bg-sunken text-xs"
      aria-hidden="true"
    >
      {leaves.map(({ data, x0, x1, y0, y1 }) => {
        if (!("kind" in data)) return null;
        const { id, kind, name, tokens: cost } = data;
        const [width, height] = [x1 - x0, y1 - y0];
        return (
          <div
            key={id ?? `rest-${kind}`}
            class="tile absolute cursor-pointer overflow-hidden rounded-[3px] pt-[3px] leading-[1.35]"
            data-tile={id}
            data-kind={kind}
            data-removed={props.isRemoved(data) ? "" : undefined}
            data-chosen={id !== undefined && id === props.chosen ? "" : undefined}
            title={`${name}: ${tokens(cost)}`}
            style={{
              "--kind": `var(--color-kind-${kind})`,
              left: percent(x0, WIDTH),
              top: percent(y0, HEIGHT),
              width: percent(width, WIDTH),
              height: percent(height, HEIGHT),
            }}
            onClick={() => id !== undefined && props.onChoose(id)}
          >
            {width > 80 && height > 36 ? <p class="truncate px-1.5 font-semibold">{name}</p> : null}
            {width > 80 && height > 66 ? <p class="truncate px-1.5">{count(cost)}</p> : null}
          </div>
        );
      })}
    </div>
  );
}
