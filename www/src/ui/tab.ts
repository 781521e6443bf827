/** The identity of this tab of the browser: kept over a reload, and different in a duplicate. */

const NAME = "ctxweave.tab";

/** Milliseconds to wait after a reload until the page before it has released its lock. */
const RELOAD_WAIT = 2000;

/** Holds the lock of an id as long as this page lives. Returns whether it is free. */
function hold(id: string, wait: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const options = wait ? { signal: AbortSignal.timeout(RELOAD_WAIT) } : { ifAvailable: true };
    navigator.locks
      .request(`${NAME}.${id}`, options, (lock) => {
        resolve(lock !== null);
        // Never settled: the lock is released with the page.
        return lock ? new Promise<void>(() => undefined) : undefined;
      })
      .catch(() => resolve(false));
  });
}

async function claim(): Promise<string> {
  const fresh = crypto.randomUUID();
  try {
    const before = sessionStorage.getItem(NAME);
    const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    const isHeld = before !== null && (await hold(before, navigation?.type === "reload"));
    if (isHeld) return before;
    await hold(fresh, false);
    sessionStorage.setItem(NAME, fresh);
  } catch {
    // Without storage or locks each visit counts as a tab.
  }
  return fresh;
}

let claimed: Promise<string> | undefined;

/** The id of this tab. */
export const tabId = (): Promise<string> => (claimed ??= claim());

/** The ids of all open tabs. */
export async function openTabs(): Promise<ReadonlySet<string>> {
  try {
    const { held = [] } = await navigator.locks.query();
    return new Set(held.map(({ name = "" }) => name.slice(NAME.length + 1)));
  } catch {
    return new Set([await tabId()]);
  }
}
