import { useEffect } from "preact/hooks";
import { Button } from "../ui/button.js";
import { useLoaded } from "../ui/use-loaded.js";
import { loadView } from "./load-view.js";
import type { ViewEntry } from "./view-list.js";

/** A view whose code is loaded on demand. Until then a status shows that it is loading. */
export function LazyView({ view }: { view: ViewEntry }) {
  const load = async () => ({ view, Shown: await loadView(view) });
  const { value: loaded, problem, again } = useLoaded(load, [view]);
  useEffect(() => {
    document.title = `${view.title} · ctxweave`;
  }, [view]);
  useEffect(() => {
    // Once a view is shown, so that the two do not compete. Without a service worker the page only works online.
    if (loaded && import.meta.env.PROD) navigator.serviceWorker?.register("./service-worker.js").catch(() => undefined);
  }, [loaded]);
  if (problem !== undefined) {
    return (
      <section class="fatal mx-auto my-[20vh] max-w-xl p-6" role="alert">
        <h1>{view.name} could not be loaded</h1>
        <p>{problem}</p>
        <Button onClick={again}>Try again</Button>
      </section>
    );
  }
  if (loaded?.view !== view) {
    return (
      <>
        <h1 class="sr-only">{view.name}</h1>
        <p class="loading" role="status">
          Loading…
        </p>
      </>
    );
  }
  return <loaded.Shown />;
}
