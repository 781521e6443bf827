import { bound } from "../../ui/bound.js";
import { SmallButton } from "../../ui/button.js";
import { CopyButton } from "../../ui/copy-button.js";
import { InputField, SelectField } from "../../ui/fields.js";
import { Findings } from "../../ui/findings.js";
import { count, plural, tokens } from "../../ui/format.js";
import { Table } from "../../ui/table.js";
import {
  accessed,
  allLoads,
  chosenAgent,
  chosenStart,
  fateOf,
  filesOf,
  inRepository,
  startFolder,
  startFolders,
  type Loaded,
} from "./agents.js";

/** What each agent loads from the folder, next to each other. */
export function AgentsPanel() {
  const made = allLoads.value;
  return (
    <div class="stack gap-4">
      <div class="row gap-3 *:flex-[1_1_12rem]">
        <SelectField
          label="Agents start in"
          options={startFolders.value.map((path) => ({ value: path, name: path || "the root" }))}
          value={startFolder.value}
          onValue={(path) => (chosenStart.value = path)}
        />
        <InputField
          label="Then read the file (optional)"
          spellcheck={false}
          placeholder="src/index.ts"
          {...bound(accessed)}
        />
      </div>
      {made.ok ? (
        <>
          <Files loads={made.value} />
          <Messages loads={made.value} />
        </>
      ) : (
        <p role="alert">{made.message}</p>
      )}
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
        class="whitespace-nowrap"
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
              <span class="block pt-0.5">{tokens(chain.totalTokens)}</span>
            </th>
          )),
        ]}
      >
        {files.map((path) => (
          <tr key={path} data-agent-file={inRepository(path)}>
            {/* Stays visible while the agents scroll. */}
            <th scope="row" class="sticky left-0 max-w-56 min-w-32 bg-surface wrap-anywhere whitespace-normal">
              <code>{inRepository(path)}</code>
            </th>
            {loads.map(({ preset: { name }, chain }) => {
              const { place, word } = fateOf(chain, path);
              return (
                <td key={name} class={place ? undefined : "quiet-text"} data-agent={name} data-place={place}>
                  {place ? <strong class="text-kept">{count(place)}</strong> : null} {word}
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
  const found = loads.find(({ preset }) => preset.name === chosenAgent.value);
  if (!found) return null;
  const { preset, chain } = found;
  return (
    <section class="stack" aria-label={`What ${preset.name} sends`}>
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
          <figcaption class="hint">
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
