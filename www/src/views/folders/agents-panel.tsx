import { SmallButton } from "../../ui/button.js";
import { CopyButton } from "../../ui/copy-button.js";
import { Field, SelectField } from "../../ui/fields.js";
import { Findings } from "../../ui/findings.js";
import { count, plural, tokens } from "../../ui/format.js";
import { Table } from "../../ui/table.js";
import { useLoaded } from "../../ui/use-loaded.js";
import {
  accessed,
  chosenAgent,
  fateOf,
  filesOf,
  inRepository,
  loadAll,
  startFolder,
  startFolders,
  type Loaded,
} from "./agents.js";
import { open } from "./state.js";

/** What each agent loads from the folder, next to each other. */
export function AgentsPanel() {
  const at = open.value;
  const folder = startFolders.value.includes(startFolder.value) ? startFolder.value : "";
  const access = accessed.value;
  const { value: loads, problem } = useLoaded(() => at && loadAll(at, folder, access), [at, folder, access]);
  return (
    <div class="stack agents">
      <div class="agents-fields">
        <SelectField
          label="Agents start in"
          options={startFolders.value.map((path) => ({ value: path, name: path || "the root" }))}
          value={folder}
          onValue={(value) => (startFolder.value = value)}
        />
        <Field label="Then read the file (optional)">
          {({ id }) => (
            <input
              id={id}
              type="text"
              spellcheck={false}
              placeholder="src/index.ts"
              value={access}
              onChange={(event) => (accessed.value = event.currentTarget.value)}
            />
          )}
        </Field>
      </div>
      {problem ? <p role="alert">{problem}</p> : null}
      {loads ? <Files loads={loads} /> : null}
      {loads ? <Messages loads={loads} /> : null}
    </div>
  );
}

/** A row for each file, and a column for each agent. */
function Files({ loads }: { loads: readonly Loaded[] }) {
  const files = filesOf(loads);
  if (files.length === 0) return <p class="empty">No agent loads a file from this folder.</p>;
  return (
    <>
      <p class="hint">Numbers are places in the agent's prompt. Choose an agent to see its texts.</p>
      <Table
        class="agents-table"
        label="Files of each agent, with their place in its prompt"
        columns={[
          "File",
          ...loads.map(({ preset: { name, verified }, chain }) => (
            <th key={name} scope="col" data-agent={name} data-total={chain.totalTokens}>
              <SmallButton
                label={name}
                aria-pressed={name === chosenAgent.value}
                title={verified ? "Reproduces recorded runs" : "From the agent's documentation"}
                onClick={() => (chosenAgent.value = name)}
              />
              <span class="quiet-text">{tokens(chain.totalTokens)}</span>
            </th>
          )),
        ]}
      >
        {files.map((path) => (
          <tr key={path} data-agent-file={inRepository(path)}>
            <th scope="row">
              <code>{inRepository(path)}</code>
            </th>
            {loads.map(({ preset: { name }, chain }) => {
              const { place, word } = fateOf(chain, path);
              return (
                <td key={name} data-agent={name} data-place={place} class={place ? "is-loaded" : "quiet-text"}>
                  {place ? <strong>{count(place)}</strong> : null} {word}
                </td>
              );
            })}
          </tr>
        ))}
      </Table>
    </>
  );
}

/** The texts as the chosen agent sends them. */
function Messages({ loads }: { loads: readonly Loaded[] }) {
  const found = loads.find(({ preset }) => preset.name === chosenAgent.value) ?? loads[0];
  if (!found) return null;
  const { preset, chain } = found;
  return (
    <section class="stack agents-messages" aria-label={`What ${preset.name} sends`}>
      <div class="row raw-head">
        <h3>
          What {preset.name} {preset.version} sends: {tokens(chain.totalTokens)} in{" "}
          {plural(chain.pieces.length, "file")}
        </h3>
        <CopyButton label="Copy texts" text={() => chain.messages.map(({ text }) => text).join("\n\n")} />
      </div>
      <Findings list={chain.diagnostics} />
      {chain.messages.length === 0 ? <p class="empty">Nothing.</p> : null}
      {chain.messages.map(({ step, placement, text }, at) => (
        <figure key={at}>
          <figcaption>
            {placement}
            {step > 0 ? ", after the access" : ""}
          </figcaption>
          <pre class="prose-text" tabIndex={0} aria-label={`Message ${at + 1}`} data-agent-message>
            {text}
          </pre>
        </figure>
      ))}
    </section>
  );
}
