import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { CopyButton } from "../../ui/copy-button.js";
import { Field, Select } from "../../ui/fields.js";
import { Findings } from "../../ui/findings.js";
import { count, plural, tokens } from "../../ui/format.js";
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
import "../../styles/agents.css";

/** What each agent loads from the folder, next to each other. */
export function AgentsPanel() {
  const loads = useSignal<readonly Loaded[] | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const at = open.value;
  const folder = startFolders.value.includes(startFolder.value) ? startFolder.value : "";
  const access = accessed.value;
  useEffect(() => {
    if (!at) return undefined;
    let left = false;
    loadAll(at, folder, access).then(
      (found) => {
        if (left) return;
        loads.value = found;
        problem.value = undefined;
      },
      (error: unknown) => {
        if (!left) problem.value = (error as Error).message;
      },
    );
    return () => {
      left = true;
    };
  }, [at, folder, access]);
  return (
    <div class="agents">
      <div class="agents-fields">
        <Field label="Agents start in">
          {({ id }) => (
            <Select
              id={id}
              options={startFolders.value.map((path) => ({ value: path, name: path || "the root" }))}
              value={folder}
              onValue={(value) => (startFolder.value = value)}
            />
          )}
        </Field>
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
      {problem.value ? <p role="alert">{problem.value}</p> : null}
      {loads.value ? <Table loads={loads.value} /> : null}
      {loads.value ? <Messages loads={loads.value} /> : null}
    </div>
  );
}

/** A row for each file, and a column for each agent. */
function Table({ loads }: { loads: readonly Loaded[] }) {
  const files = filesOf(loads);
  if (files.length === 0) return <p class="empty">No agent loads a file from this folder.</p>;
  return (
    <>
      <p class="hint">Numbers are places in the agent's prompt. Choose an agent to see its texts.</p>
      <div
        class="table-scroll"
        tabIndex={0}
        role="region"
        aria-label="Files of each agent, with their place in its prompt"
      >
        <table class="agents-table">
          <thead>
            <tr>
              <th scope="col">File</th>
              {loads.map(({ preset: { name, verified }, chain }) => (
                <th key={name} scope="col" data-agent={name} data-total={chain.totalTokens}>
                  <button
                    type="button"
                    class="small"
                    aria-pressed={name === chosenAgent.value}
                    title={verified ? "Reproduces recorded runs" : "From the agent's documentation"}
                    onClick={() => (chosenAgent.value = name)}
                  >
                    {name}
                  </button>
                  <span class="quiet-text">{tokens(chain.totalTokens)}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
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
          </tbody>
        </table>
      </div>
    </>
  );
}

/** The texts as the chosen agent sends them. */
function Messages({ loads }: { loads: readonly Loaded[] }) {
  const found = loads.find(({ preset }) => preset.name === chosenAgent.value) ?? loads[0];
  if (!found) return null;
  const { preset, chain } = found;
  return (
    <section class="agents-messages" aria-label={`What ${preset.name} sends`}>
      <div class="raw-head">
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
