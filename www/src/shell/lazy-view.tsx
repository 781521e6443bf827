import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { keepOffline } from "./offline.js";
import { loadView, type View } from "./views.js";

/** A view whose code is loaded on demand. Until then a status shows that it is loading. */
export function LazyView({ view }: { view: View }) {
  const [loaded, setLoaded] = useState<{ view: View; component: ComponentType } | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const load = (): (() => void) => {
    let left = false;
    setProblem(undefined);
    loadView(view).then(
      (component) => {
        // Wrapped, because a state setter would call a function.
        if (!left) setLoaded({ view, component });
        keepOffline();
      },
      (error: unknown) => {
        if (!left) setProblem((error as Error).message);
      },
    );
    return () => {
      left = true;
    };
  };
  useEffect(load, [view]);
  useEffect(() => {
    document.title = `${view.title} · ctxweave`;
  }, [view]);
  if (problem !== undefined) {
    return (
      <section class="fatal" role="alert">
        <h1>{view.name} could not be loaded</h1>
        <p>{problem}</p>
        <button type="button" class="quiet" onClick={load}>
          Try again
        </button>
      </section>
    );
  }
  if (loaded?.view !== view) {
    return (
      <>
        <h1 class="visually-hidden">{view.name}</h1>
        <p class="loading" role="status">
          Loading…
        </p>
      </>
    );
  }
  const Shown = loaded.component;
  return <Shown />;
}
