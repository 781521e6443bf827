// Caches the files of the page, so that it works offline after the first visit. The build inserts their names.

const FILES = ["FILES"];
const KEPT = `ctxweave page ${"VERSION"}`;
/** Vocabularies, cached on first use. Their names change with their content. */
const ASKED_FOR = "ctxweave vocabularies";

self.addEventListener("install", (event) => event.waitUntil(keep()));
self.addEventListener("activate", (event) => event.waitUntil(forget()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(self.registration.scope)) return;
  event.respondWith(request.mode === "navigate" ? page(request) : file(request));
});

/**
 * Files cached by an earlier version under the same name are not fetched again: names in assets/ change with their
 * content.
 */
async function keep() {
  const cache = await caches.open(KEPT);
  await Promise.all(
    FILES.map(async (name) => {
      const url = new URL(name, self.registration.scope).href;
      const known = name.startsWith("assets/") ? await caches.match(url) : undefined;
      if (known) return cache.put(url, known);
      const response = await fetch(url, { cache: "no-cache" });
      if (!response.ok) throw new Error(`${url}: ${response.status}`);
      return cache.put(url, response);
    }),
  );
}

/** Pages that were open with the earlier version are closed by now. */
async function forget() {
  for (const name of await caches.keys()) {
    if (name.startsWith("ctxweave page ") && name !== KEPT) await caches.delete(name);
  }
}

/** The page from the network; offline, the cached one. */
async function page(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const { pathname } = new URL(request.url);
    const name = pathname.slice(new URL(self.registration.scope).pathname.length);
    const kept = await caches.match(new URL(name || "index.html", self.registration.scope).href);
    if (!kept) throw error;
    return kept;
  }
}

async function file(request) {
  const kept = await caches.match(request, { ignoreVary: true });
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok && request.url.endsWith(".bin")) {
    const cache = await caches.open(ASKED_FOR);
    await cache.put(request, response.clone());
  }
  return response;
}
