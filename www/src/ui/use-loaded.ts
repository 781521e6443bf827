import { useEffect, useState } from "preact/hooks";

/** What was loaded last, and why the last attempt failed; `again` repeats it. */
interface Loaded<T> {
  value: T | undefined;
  problem: string | undefined;
  again: () => void;
}

/** Loads something when one of its inputs changes. Of several attempts only the last one counts. */
export function useLoaded<T>(load: () => Promise<T> | undefined, inputs: readonly unknown[]): Loaded<T> {
  const [value, setValue] = useState<{ of: T }>();
  const [problem, setProblem] = useState<string>();
  const [times, again] = useState(0);
  useEffect(() => {
    let left = false;
    setProblem(undefined);
    load()?.then(
      (of) => left || setValue({ of }),
      (error: unknown) => left || setProblem((error as Error).message),
    );
    return () => {
      left = true;
    };
  }, [...inputs, times]);
  return { value: value?.of, problem, again: () => again(times + 1) };
}
