import { useSignal } from "@preact/signals";
import { count } from "../../ui/format.js";
import { contains, SearchField } from "../../ui/search.js";
import { file, outcome, selected, textOf, told, toggle, tree, type TreeFolder } from "./state.js";

/** The folders of the vault. Those with a context file can be selected. */
export function FolderTree() {
  const wanted = useSignal("");
  const root = tree.value;
  if (!root) return null;
  const rows = flat(root, 0).filter(({ folder }) =>
    contains(wanted.value, folder.path, folder.file && textOf(folder.file)),
  );
  const made = outcome.value;
  const chain = made?.ok ? made.value.chain : { files: [], omitted: [] };
  const loaded = new Map(chain.files.map((one) => [one.path, one]));
  const omitted = new Set(chain.omitted.map(({ path }) => path));
  const news = new Set(told.value?.changed ? told.value.list.map(({ path }) => path) : []);
  return (
    <section class="pane tree-pane folder-pane" aria-label="Folders">
      <div class="folder-search">
        <SearchField label="Search folders and files" placeholder="Name or text" query={wanted} />
        <span class="quiet-text">{count(rows.filter(({ folder }) => folder.file).length)} with a context file</span>
      </div>
      <ul class="folders" tabIndex={0} aria-label="Folders of the vault">
        {rows.map(({ folder, depth }) => {
          const one = folder.file ? loaded.get(folder.file) : undefined;
          return (
            <li key={folder.path} style={{ paddingInlineStart: `${(wanted.value ? 0 : depth) * 16}px` }}>
              {folder.file ? (
                <label class="check">
                  <input
                    type="checkbox"
                    data-folder={folder.path}
                    checked={selected.value.includes(folder.path)}
                    onChange={() => toggle(folder.path)}
                  />
                  <span class="folder-name">{wanted.value && folder.path ? folder.path : folder.name}</span>
                </label>
              ) : (
                <span class="folder-name empty-folder">{folder.name}</span>
              )}
              {folder.file ? (
                <>
                  {one && one.reason !== "selected" ? <span class="tag">{one.reason}</span> : null}
                  {omitted.has(folder.file) ? <span class="tag cut">omitted</span> : null}
                  {one?.truncated ? <span class="tag cut">cut</span> : null}
                  {news.has(folder.file) ? <span class="tag told">notified</span> : null}
                  <button
                    type="button"
                    class="file-link"
                    aria-current={file.value === folder.file ? "true" : undefined}
                    aria-label={`Show ${folder.file}`}
                    data-file={folder.file}
                    onClick={() => (file.value = folder.file)}
                  >
                    {folder.file.split("/").at(-1)}
                  </button>
                  <span class="folder-tokens">{count(folder.tokens)}</span>
                </>
              ) : null}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function flat(folder: TreeFolder, depth: number): { folder: TreeFolder; depth: number }[] {
  const below = [...folder.children].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [{ folder, depth }, ...below.flatMap((child) => flat(child, depth + 1))];
}
