/** What is on its way already: some of it was asked for by the start of the page, before any code was there (plugins/pages.ts). */
const begun: Record<string, Promise<Response>> = (globalThis as { early?: Record<string, Promise<Response>> }).early ??
{};

/** Begins to fetch what will be asked for soon. */
export function fetchEarly(url: string): void {
  if (begun[url]) return;
  begun[url] = fetch(url);
  // Whoever asks for it is told.
  begun[url].catch(() => undefined);
}

/** Fetches a file, or takes what is on its way. A response is read once, so the next call asks anew. */
export function fetchFile(url: string): Promise<Response> {
  const response = begun[url];
  delete begun[url];
  return response ?? fetch(url);
}
