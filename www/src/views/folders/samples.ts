import vault from "../../../../examples/vault?folder";
import { fetchEarly } from "../../shell/early.js";
import { currentView } from "../../shell/route.js";
import { fetchFiles } from "../../ui/fetch-files.js";
import type { OpenedFile } from "../../ui/open-folder.js";

// In parallel with the module of the area.
if (currentView() === "folders") fetchEarly(vault);

/** The files of the sample vault. */
export function fetchSample(): Promise<OpenedFile[]> {
  return fetchFiles(vault);
}
