import { useSignal } from "@preact/signals";
import { count } from "../../ui/format.js";
import { contains, SearchField } from "../../ui/search.js";
import { file, notified, outcome, selected, textOf, toggle, tree } from "./state.js";

/** The folders of the vault. Those with a context file can be selected. */
export function FolderTree() {
  const wanted = useSignal("");
  const rows = tree.value.filter(({ path, file }) => contains(wanted.value, path, file && textOf(file)));
  return (
    <section class="pane tree-pane" aria-label="Folders">
      <div class="flex items-center gap-2.5 border-b border-line px-4 py-1.5 text-xs whitespace-nowrap">
        <SearchField label="Search folders and files" placeholder="Name or text" query={wanted} />
        <span class="quiet-text">{count(rows.filter((row) => row.file).length)} with a context file</span>
      </div>
      <ul class="flex-1 overflow-auto px-4 py-2 wrap-anywhere" tabIndex={0} aria-label="Folders of the vault">
        {rows.map(({ path, file, tokens }) => {
          const parts = path.split("/");
          const [name, depth] = wanted.value && path ? [path, 0] : [parts.at(-1) || "/", path ? parts.length : 0];
          return (
            <li
              key={path}
              class="flex min-h-[26px] items-baseline gap-2 text-s"
              style={{ paddingInlineStart: `${depth * 16}px` }}
            >
              {file === undefined ? (
                <span class="pl-5 text-ink-3">{name}</span>
              ) : (
                <>
                  <label class="check flex-1">
                    <input
                      type="checkbox"
                      data-folder={path}
                      checked={selected.value.includes(path)}
                      onChange={() => toggle(path)}
                    />
                    <span>{name}</span>
                  </label>
                  <FileOfFolder path={file} />
                  <span class="number min-w-10 text-xs text-ink-3">{count(tokens)}</span>
                </>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** A context file: a button that opens it in the editor, and its part in the prompt. */
function FileOfFolder({ path }: { path: string }) {
  const { files = [], omitted = [] } = outcome.value?.ok ? outcome.value.value.chain : {};
  const loaded = files.find((one) => one.path === path);
  const { isChanged, watchers } = notified.value;
  return (
    <>
      {loaded && loaded.reason !== "selected" ? <span class="tag">{loaded.reason}</span> : null}
      {omitted.some((one) => one.path === path) ? <span class="tag cut">omitted</span> : null}
      {loaded?.truncated ? <span class="tag cut">cut</span> : null}
      {isChanged && watchers.some((one) => one.path === path) ? <span class="tag notified">notified</span> : null}
      <button
        type="button"
        class="file-link"
        aria-current={file.value === path ? "true" : undefined}
        aria-label={`Show ${path}`}
        data-file={path}
        onClick={() => (file.value = path)}
      >
        {path.split("/").at(-1)}
      </button>
    </>
  );
}
