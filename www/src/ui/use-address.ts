import { useEffect } from "preact/hooks";
import { onAddress } from "../shell/route.js";

/**
 * Begins a view from the address, and follows the address while the view is open. `follow` runs once a document is
 * open, and is stopped with the view.
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
