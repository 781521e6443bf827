import { useEffect } from "preact/hooks";

type Handlers = { [Type in keyof WindowEventMap]?: (event: WindowEventMap[Type]) => void };

/** Listens to events of the window while the component is shown. */
export function useEvents(handlers: Handlers): void {
  useEffect(() => {
    const off = new AbortController();
    for (const [type, handler] of Object.entries(handlers))
      addEventListener(type, handler as EventListener, { signal: off.signal });
    return () => off.abort();
  });
}
