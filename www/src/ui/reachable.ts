import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

const TAKES_FOCUS = "a[href], button:not([disabled]), input, select, textarea, summary, [tabindex='0']";

/** Makes a scrolling part focusable if nothing inside it is, so that it can be scrolled by keyboard. */
export function useReachable<Part extends HTMLElement>(): RefObject<Part | null> {
  const part = useRef<Part>(null);
  const standard = useRef<string | null | undefined>(undefined);
  useLayoutEffect(() => {
    const element = part.current;
    if (!element) return undefined;
    if (standard.current === undefined) standard.current = element.getAttribute("tabindex");
    const look = (): void => {
      const scrolls = element.scrollHeight > element.clientHeight + 1;
      const wanted = scrolls && !element.querySelector(TAKES_FOCUS) ? "0" : (standard.current ?? null);
      if (wanted === null) element.removeAttribute("tabindex");
      else element.setAttribute("tabindex", wanted);
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  });
  return part;
}
