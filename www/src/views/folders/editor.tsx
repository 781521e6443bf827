import { SmallButton } from "../../ui/button.js";
import { MessageText } from "../../ui/message.js";
import { Check, NumberField, optionsOf, Segmented } from "../../ui/fields.js";
import { Findings } from "../../ui/findings.js";
import { parseContextFile } from "ctxweave/folders";
import { change, file, open, restore, settings, textOf, told, type } from "./state.js";

/** Which watched files are loaded, and the selected file with the watchers to notify when it changes. */
export function SidePane() {
  return (
    <aside class="pane settings-pane file-pane" aria-labelledby="side-title">
      <h2 id="side-title" class="sr-only">
        Settings and file
      </h2>
      <div class="controls">
        <fieldset>
          <legend>Watched files to load</legend>
          <Segmented
            label="Watched files"
            options={optionsOf({ ancestors: "Watched ancestors", all: "All watched", none: "None" })}
            value={settings.value.includeWatched}
            onValue={(includeWatched) => change({ includeWatched })}
          />
          <Check
            label="Always add all ancestors (the older mode)"
            value={settings.value.parentChain}
            onValue={(parentChain) => change({ parentChain })}
          />
          <NumberField
            beside
            label="Maximum tokens"
            hint="0 for no limit."
            step={50}
            value={settings.value.maxTokens}
            onValue={(maxTokens) => change({ maxTokens: Math.max(0, Math.floor(maxTokens)) })}
          />
        </fieldset>
        <FileEditor />
      </div>
    </aside>
  );
}

function FileEditor() {
  const path = file.value;
  const news = told.value;
  const content = open.value?.files.find((one) => one.path === path)?.content;
  if (path === undefined || content === undefined) return null;
  const { watch, diagnostics } = parseContextFile(path, content);
  return (
    <fieldset class="file-editor">
      <legend>
        <code>{path}</code>
      </legend>
      <textarea
        class="source-text"
        aria-label={path}
        spellcheck={false}
        rows={12}
        value={textOf(path)}
        onInput={(event) => type(path, event.currentTarget.value)}
      />
      {news?.changed ? <SmallButton onClick={() => restore(path)}>Revert changes</SmallButton> : null}
      <Findings list={diagnostics} />
      <p class="hint">
        {watch.length === 0 ? (
          "No watches."
        ) : (
          <>
            Watches <MessageText text={`\`${watch.join("`, `")}\``} />
          </>
        )}
      </p>
      <section class="told-list" aria-label="Watchers to notify" aria-live="polite">
        <h3>{news?.changed ? "Notified of this change" : "Notified when it changes"}</h3>
        {news && news.list.length > 0 ? (
          <ol>
            {news.list.map(({ path: watcher, depth, because }) => (
              <li key={watcher} data-told={watcher} data-depth={depth}>
                <button type="button" class="file-link" onClick={() => (file.value = watcher)}>
                  {watcher}
                </button>
                <span class="quiet-text">
                  {because
                    .map((cause) => `${cause.patterns.join(", ")}${depth > 1 ? ` → ${cause.path}` : ""}`)
                    .join("; ")}
                </span>
              </li>
            ))}
          </ol>
        ) : (
          <p class="quiet-text">No watchers.</p>
        )}
      </section>
    </fieldset>
  );
}
