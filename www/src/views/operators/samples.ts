import mistakes from "../../../../examples/templates/mistakes.xml?raw";
import nested from "../../../../examples/templates/nested.xml?raw";
import reduce from "../../../../examples/templates/reduce.xml?raw";
import report from "../../../../examples/templates/report.xml?raw";
import type { Sample } from "../../ui/sample-picker.js";

/** Sample templates. */
export const SAMPLES: readonly [Sample, ...Sample[]] = [
  { id: "report", name: "Report", text: report },
  { id: "reduce", name: "Reduce", text: reduce },
  { id: "nested", name: "Nested", text: nested },
  { id: "mistakes", name: "Mistakes", text: mistakes },
];
