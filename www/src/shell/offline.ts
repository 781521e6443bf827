let asked = false;

/**
 * Has the files of the page kept by the browser, so that it works without a connection from the next visit on. Called once a
 * view is there, so that the two do not wait for one another.
 */
export function keepOffline(): void {
  if (asked || !import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  asked = true;
  // Where it is not allowed, the page works as long as there is a connection.
  navigator.serviceWorker.register("./service-worker.js").catch(() => undefined);
}
