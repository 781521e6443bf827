type Requests = Record<string, Promise<Response>>;

/** Pending requests; some were started by the inline script, before any code was loaded (plugins/pages.ts). */
const begun = (globalThis as { early?: Requests }).early ?? ({} as Requests);

/** Starts to fetch a file that will be needed soon. */
export function fetchEarly(url: string): void {
  begun[url] ??= fetch(url);
  // The rejection is reported to those who await it.
  begun[url].catch(() => undefined);
}

/** Fetches a file, or takes a pending request. A response can be read only once, so the next call fetches again. */
export function fetchFile(url: string): Promise<Response> {
  const response = begun[url];
  delete begun[url];
  return response ?? fetch(url);
}
