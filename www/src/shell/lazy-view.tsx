import { useEffect } from "preact/hooks";
import { useLoaded } from "../ui/use-loaded.js";
import { keepOffline } from "./offline.js";
import { loadView, type View } from "./views.js";
import { Button } from "../ui/button.js";

/** A view whose code is loaded on demand. Until then a status shows that it is loading. */
export function LazyView({ view }: { view: View }) {
  const load = async () => {
    const component = await loadView(view);
    keepOffline();
    return { view, component };
  };
  const { value: loaded, problem, again } = useLoaded(load, [view]);
  useEffect(() => {
    document.title = `${view.title} · ctxweave`;
  }, [view]);
  if (problem !== undefined) {
    return (
      <section class="fatal" role="alert">
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
  const Shown = loaded.component;
  return <Shown />;
}
