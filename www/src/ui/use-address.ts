import { useEffect } from "preact/hooks";
import { onAddress } from "../shell/route.js";

/**
 * Begins a view with what the address says, and follows the address for as long as the view is open. What `follow` starts, once
 * something is open, is stopped with it.
 */
export function useAddress(view: string, begin: () => Promise<void>, follow?: () => () => void): void {
  useEffect(() => {
    let stop: (() => void) | undefined;
    let left = false;
    void begin().then(() => {
      if (!left) stop = follow?.();
    });
    const stopFollowing = onAddress(view, () => void begin());
    return () => {
      left = true;
      stop?.();
      stopFollowing();
    };
  }, []);
}
