/** A task template run from beginning to end; the memory system and the model are stubs: `node examples/operators.mjs`. */
import { init, parseTask, runTask } from "ctxweave";

await init();
const { task } =
  parseTask(`<task type="sequential"><description>Write the history of the lighthouse</description><steps>
  <task type="atomic" id="facts"><description>Collect the facts</description></task>
  <task type="reduce" id="letters"><inner_task><description>Sum up one letter</description></inner_task></task>
</steps></task>`);
const memory = async ({ taskText }) => ({ context: `Known of "${taskText}": built in 1871.`, matches: ["notes.md"] });
const model = async ({ path, context }) => ({
  output: `${path} saw ${context.context.length} characters`,
  notes: path,
});
const onEvent = ({ type, path }) => console.log(type, path);
const { output } = await runTask({ task, parentContext: "The reader is a child." }, { memory, model, onEvent });
console.log(output);
