import { SmallButton } from "../../ui/button.js";
import { MessageText } from "../../ui/message.js";
import { Check, NumberField, optionsOf, Segmented } from "../../ui/fields.js";
import { Findings } from "../../ui/findings.js";
import { parseContextFile } from "ctxweave/folders";
import { change, contents, file, notified, restore, settings, textOf, type } from "./state.js";

/** Which watched files are loaded, and the selected file with the watchers to notify when it changes. */
export function SidePane() {
  return (
    <aside class="pane settings-pane" aria-labelledby="side-title">
      <h2 id="side-title" class="sr-only">
        Settings and file
      </h2>
      <div class="controls">
        <fieldset>
          <legend>Watched files to load</legend>
          <Segmented
            class="w-full [&_span]:px-1.5"
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
            inline
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
  const content = path === undefined ? undefined : contents.value.get(path);
  if (path === undefined || content === undefined) return null;
  const { watch, diagnostics } = parseContextFile(path, content);
  const { isChanged, watchers } = notified.value;
  return (
    <fieldset class="wrap-anywhere">
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
      {isChanged ? <SmallButton onClick={() => restore(path)}>Revert changes</SmallButton> : null}
      <Findings list={diagnostics} />
      <p class="hint">
        {watch.length === 0 ? "No watches." : <MessageText text={`Watches \`${watch.join("`, `")}\``} />}
      </p>
      <section class="stack gap-1.5 text-xs" aria-label="Watchers to notify" aria-live="polite">
        <h3>{isChanged ? "Notified of this change" : "Notified when it changes"}</h3>
        {watchers.length === 0 ? <p class="hint">No watchers.</p> : null}
        <ol class="stack gap-1">
          {watchers.map(({ path: watcher, depth, because }) => (
            <li key={watcher} class="row gap-x-2" data-told={watcher} data-depth={depth}>
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
      </section>
    </fieldset>
  );
}
