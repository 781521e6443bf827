// One measurement, in Node or in a browser: from import to the first count, then a text for the first time, then
// repeatedly.

// Records the memory of every WebAssembly instance that is created.
const memories = new Set();
const note = (instance) => {
  for (const value of Object.values(instance.exports)) if (value instanceof WebAssembly.Memory) memories.add(value);
};
const { Instance, instantiate, instantiateStreaming } = WebAssembly;
WebAssembly.Instance = new Proxy(Instance, {
  construct(target, args, newTarget) {
    const instance = Reflect.construct(target, args, newTarget === WebAssembly.Instance ? target : newTarget);
    note(instance);
    return instance;
  },
});
for (const [name, made] of Object.entries({ instantiate, instantiateStreaming })) {
  if (made === undefined) continue;
  WebAssembly[name] = async (...args) => {
    const result = await made.apply(WebAssembly, args);
    note(result.instance ?? result);
    return result;
  };
}

/** Megabytes of WebAssembly memory, of all instances together. */
export const megabytes = () => [...memories].reduce((sum, { buffer }) => sum + buffer.byteLength, 0) / 1e6;

/**
 * Times in milliseconds. `load` imports the counter's module. The text is counted repeatedly for `again` milliseconds,
 * not at all for 0.
 */
export async function measure(load, text, again) {
  const start = performance.now();
  const count = await (await load()).ready();
  count("a");
  const first = performance.now() - start;
  const memory = megabytes();

  const begin = performance.now();
  const tokens = count(text);
  const cold = performance.now() - begin;

  const passes = [];
  for (let spent = 0; spent < again && passes.length < 50; spent += passes.at(-1)) {
    const begin = performance.now();
    count(text);
    passes.push(performance.now() - begin);
  }
  const warm = passes.toSorted((a, b) => a - b)[passes.length >> 1] ?? cold;
  return { first, memory, cold, warm, tokens };
}
