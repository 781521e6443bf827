import { fetchEarly, fetchFile } from "../shell/early.js";
import { currentView } from "../shell/route.js";
import type { OpenedFile } from "./open-folder.js";

/**
 * A function that fetches the files of a view's sample, which are one file at the address of `import … from
 * "…?folder"`. If the view is being opened, they are fetched in parallel with the module of its area.
 */
export function sampleFiles(view: string, url: string): () => Promise<OpenedFile[]> {
  if (currentView() === view) fetchEarly(url);
  return () => fetchFiles(url);
}

async function fetchFiles(url: string): Promise<OpenedFile[]> {
  const response = await fetchFile(url);
  if (!response.ok) throw new Error(`the sample could not be fetched (${response.status} ${response.statusText})`);
  const files = (await response.json()) as Record<string, string | { base64: string }>;
  const encoder = new TextEncoder();
  return Object.entries(files).map(([path, content]) => ({
    path,
    bytes: typeof content === "string" ? encoder.encode(content) : bytesOf(content.base64),
  }));
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}
