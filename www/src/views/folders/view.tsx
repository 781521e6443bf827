import { useSignal } from "@preact/signals";
import type { ContextChain } from "ctxweave/folders";
import { bound } from "../../ui/bound.js";
import { CopyButton } from "../../ui/copy-button.js";
import { Failed } from "../../ui/failed.js";
import { Findings } from "../../ui/findings.js";
import { FolderSource } from "../../ui/folder-source.js";
import { count, plural, tokens } from "../../ui/format.js";
import { JsonView } from "../../ui/json-view.js";
import { Panes } from "../../ui/panes.js";
import { ResultPane } from "../../ui/result-pane.js";
import { Table } from "../../ui/table.js";
import { Tabs } from "../../ui/tabs.js";
import { TokenBar, toneAt, type Share } from "../../ui/token-bar.js";
import { useAddress } from "../../ui/use-address.js";
import { AgentsPanel } from "./agents-panel.js";
import { codeOfFolders } from "./code.js";
import { SidePane } from "./editor.js";
import {
  begin,
  contextFiles,
  isAgentFile,
  keepLink,
  open,
  openFolder,
  openSample,
  outcome,
  own,
  problem,
  settings,
} from "./state.js";
import { FolderTree } from "./tree.js";

/** Folders with AGENTS.md files on one side, their prompt next to them, and the watchers to notify of a change. */
export function FoldersView() {
  useAddress("folders", begin, keepLink);
  const at = open.value;
  return (
    <div class="loom">
      <h1 class="sr-only">Folders with AGENTS.md files become a prompt</h1>
      <FolderSource
        sample="Sample vault"
        onSample={openSample}
        wants={isAgentFile}
        onOpen={openFolder}
        problem={problem}
        view="folders"
        own={own}
        code={codeOfFolders}
      >
        {at ? (
          <>
            <strong>{at.name}</strong> {plural(contextFiles.value.length, "context file")}. Nothing leaves this page.
          </>
        ) : undefined}
      </FolderSource>
      {at ? (
        <Panes class="of-folders" panes={{ tree: "Folders", settings: "Settings", result: "Prompt" }}>
          <FolderTree />
          <SidePane />
          <Result />
        </Panes>
      ) : null}
    </div>
  );
}

type Shown = "prompt" | "chain" | "agents" | "json";

function Result() {
  const tab = useSignal<Shown>("prompt");
  const made = outcome.value;
  if (!made) return null;
  if (!made.ok) return <Failed label="Prompt" code={made.code} message={made.message} />;
  const { chain, prompt } = made.value;
  const { diagnostics } = chain;
  return (
    <ResultPane label="Prompt">
      <TokenBar shares={shares(chain)}>
        <p class="summary">
          <span data-total>{tokens(chain.totalTokens)}</span>
          <span>in {plural(chain.files.length, "file")}</span>
          {chain.omitted.length > 0 ? (
            <span class="warn" data-omitted>
              {plural(chain.omitted.length, "file")} omitted
            </span>
          ) : null}
        </p>
      </TokenBar>
      <Tabs<Shown>
        scrolls
        label="Result"
        tabs={{ prompt: "Prompt", chain: "Chain", agents: "Agents", json: "JSON" }}
        counts={{ chain: diagnostics.length }}
        {...bound(tab)}
      >
        {tab.value === "agents" ? (
          <AgentsPanel />
        ) : tab.value === "json" ? (
          <JsonView name="chain" label="Copy chain" value={chain} />
        ) : tab.value === "chain" ? (
          <>
            <Findings list={diagnostics} />
            <Chain chain={chain} />
          </>
        ) : prompt ? (
          <>
            <div class="row raw-head">
              <CopyButton label="Copy prompt" text={() => prompt} />
            </div>
            <pre class="prose-text" data-prompt>
              {prompt}
            </pre>
          </>
        ) : (
          <p class="empty">No file is loaded. Select a folder.</p>
        )}
      </Tabs>
    </ResultPane>
  );
}

/** Maximum entries of the legend. */
const MAX_SHARES = 8;

function shares({ files, totalTokens }: ContextChain): Share[] {
  const shown: Share[] = files.map(({ path, tokens }, at) => ({ id: path, name: path, tokens, tone: toneAt(at) }));
  if (shown.length > MAX_SHARES) {
    const others = shown.splice(MAX_SHARES - 1);
    const sum = others.reduce((total, { tokens }) => total + tokens, 0);
    shown.push({ id: "others", name: plural(others.length, "other file"), tokens: sum, tone: toneAt(shown.length) });
  }
  const free = settings.value.maxTokens - totalTokens;
  return free > 0 ? [...shown, { id: "free", name: "Free", tokens: free, tone: 0 }] : shown;
}

function Chain({ chain }: { chain: ContextChain }) {
  return (
    <Table class="wrap-anywhere" columns={["File", "Level", "Why", { number: "Tokens" }]}>
      {chain.files.map((one) => (
        <tr key={one.path} data-chain={one.path}>
          <th scope="row">
            <code>{one.path}</code> {one.truncated ? <span class="tag cut">cut</span> : null}
            {one.overridden?.map(({ text, line, by }) => (
              <p key={line} class="hint">
                Line {line}, “{text}”, is in <code>{by}</code>
              </p>
            ))}
          </th>
          <td>{one.level}</td>
          <td>
            {one.reason}
            {one.watchedBy ? <span class="quiet-text"> by {one.watchedBy.join(", ")}</span> : null}
          </td>
          <td class="number">{count(one.tokens)}</td>
        </tr>
      ))}
      {chain.omitted.map((one) => (
        <tr key={one.path} data-omitted-file={one.path} class="quiet-text">
          <th scope="row">
            <code>{one.path}</code> <span class="tag cut">omitted</span>
          </th>
          <td>{one.level}</td>
          <td>{one.reason}</td>
          <td class="number">{count(one.tokens)}</td>
        </tr>
      ))}
    </Table>
  );
}
