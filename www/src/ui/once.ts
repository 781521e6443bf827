/** Runs an action on the first call; after a failure the next call tries again. */
export function once<T>(action: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= action().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}
