let asked = false;

/**
 * Registers the service worker, so that the page works offline from the next visit on. Called once a view is shown, so
 * that the two do not compete.
 */
export function keepOffline(): void {
  if (asked || !import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  asked = true;
  // If registration is not allowed, the page only works online.
  navigator.serviceWorker.register("./service-worker.js").catch(() => undefined);
}
