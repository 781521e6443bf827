import type { ComponentChildren, VNode } from "preact";

/** The head of a column: its name, `{ number }` for a column of numbers, or the whole cell. */
type Column = string | { number: string } | VNode;

/** A table of rows. With a label it scrolls sideways. */
export function Table(props: {
  columns: readonly Column[];
  children: ComponentChildren;
  class?: string;
  caption?: VNode;
  label?: string;
}) {
  const { columns, children, class: name, caption, label } = props;
  const table = (
    <table class={name}>
      {caption}
      <thead>
        <tr>{columns.map(head)}</tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
  if (label === undefined) return table;
  return (
    <div class="table-scroll overflow-x-auto" tabIndex={0} role="region" aria-label={label}>
      {table}
    </div>
  );
}

function head(column: Column, at: number): VNode {
  if (typeof column === "object" && !("number" in column)) return column;
  const [name, kind] = typeof column === "string" ? [column] : [column.number, "number"];
  return (
    <th key={at} scope="col" class={kind}>
      {name}
    </th>
  );
}
