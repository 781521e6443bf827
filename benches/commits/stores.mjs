// Calls and speed of each store, as a table for docs/stores.md.
//
//   node benches/commits/stores.mjs [NAME…]

import { drivers } from "../../tests/runtimes/store-drivers.mjs";

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(drivers);
const operations = ["checkpoint", "show", "resolve", "history", "materialize"];
console.log(`| calls, per second | ${operations.join(" | ")} |`);
console.log(`| --- |${" --: |".repeat(operations.length)}`);
for (const name of names) {
  const rows = await drivers[name]("costs");
  const cells = operations.map((operation) => {
    const { calls, perSecond } = rows[operation];
    return `${calls}, ${Number(perSecond.toPrecision(2)).toLocaleString("en")}`;
  });
  console.log(`| ${name} | ${cells.join(" | ")} |`);
}
process.exit();
