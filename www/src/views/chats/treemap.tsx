import { hierarchy, treemap } from "d3-hierarchy";
import { count, tokens } from "../../ui/format.js";
import type { Item } from "./items.js";

/** Maximum number of tiles; the remaining items are combined in one tile per kind. */
const MAX_TILES = 160;
const [WIDTH, HEIGHT] = [1000, 380];

interface Tile {
  item?: Item;
  kind: string;
  name: string;
  tokens: number;
  children?: Tile[];
}

function tilesOf(items: readonly Item[]): Tile {
  const sorted = items.toSorted((a, b) => b.tokens - a.tokens).filter(({ tokens: cost }) => cost > 0);
  const [large, small] = [sorted.slice(0, MAX_TILES), sorted.slice(MAX_TILES)];
  const children = [...new Set(sorted.map(({ kind }) => kind))].map((kind): Tile => {
    const tiles = large
      .filter((item) => item.kind === kind)
      .map((item): Tile => ({ item, kind, name: item.name, tokens: item.tokens }));
    const rest = small.filter((item) => item.kind === kind);
    if (rest.length > 0) {
      const cost = rest.reduce((sum, one) => sum + one.tokens, 0);
      tiles.push({ kind, name: `${count(rest.length)} smaller ones`, tokens: cost });
    }
    return { kind, name: kind, tokens: 0, children: tiles };
  });
  return { kind: "", name: "", tokens: 0, children };
}

/** The list next to it as areas. For the pointer; keyboard users have the list. */
export function Treemap(props: {
  items: readonly Item[];
  chosen: string | undefined;
  /** Whether the item is excluded. */
  isGone: (item: Item) => boolean;
  onChoose: (id: string) => void;
}) {
  const root = hierarchy(tilesOf(props.items)).sum((tile) => (tile.children ? 0 : tile.tokens));
  const leaves = treemap<Tile>().size([WIDTH, HEIGHT]).paddingInner(2)(root).leaves();
  const percent = (part: number, of: number): string => `${(100 * part) / of}%`;
  return (
    <div class="treemap" aria-hidden="true">
      {leaves.map(({ data, x0, x1, y0, y1 }) => {
        const { item, kind, name } = data;
        const [wide, high] = [x1 - x0, y1 - y0];
        return (
          <div
            key={item?.id ?? `rest-${kind}`}
            class="tile"
            data-tile={item?.id}
            data-kind={kind}
            data-gone={item && props.isGone(item) ? "" : undefined}
            data-chosen={item && item.id === props.chosen ? "" : undefined}
            title={`${name}: ${tokens(data.tokens)}`}
            style={{
              "--kind": `var(--color-kind-${kind})`,
              left: percent(x0, WIDTH),
              top: percent(y0, HEIGHT),
              width: percent(x1 - x0, WIDTH),
              height: percent(y1 - y0, HEIGHT),
            }}
            onClick={() => item && props.onChoose(item.id)}
          >
            {wide > 80 && high > 36 ? <span class="truncate tile-name">{name}</span> : null}
            {wide > 80 && high > 66 ? <span class="truncate tile-tokens">{count(data.tokens)}</span> : null}
          </div>
        );
      })}
    </div>
  );
}
