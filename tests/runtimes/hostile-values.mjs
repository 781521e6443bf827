/** Values that break careless code, and ways to put one into the arguments of a call. */

/** Thrown by getters and proxies: a `CtxweaveError` may have it as its cause, and it never escapes. */
export class Boom extends Error {}

const boom = () => {
  throw new Boom("hostile");
};

/** A generator of random numbers whose runs can be repeated. */
export function randomOf(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function revoked(target) {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function detached(view) {
  structuredClone(view.buffer, { transfer: [view.buffer] });
  return view;
}

/** A view whose buffer shrank below it. */
function outOfBounds() {
  const buffer = new ArrayBuffer(64, { maxByteLength: 128 });
  const view = new Uint8Array(buffer, 32, 32);
  buffer.resize(8);
  return view;
}

function deep(depth, wrap) {
  let value = "end";
  for (let at = 0; at < depth; at += 1) value = wrap(value);
  return value;
}

function cycle(value, put) {
  put(value, value);
  return value;
}

function withLength(list, length) {
  list.length = length;
  return list;
}

/** Each is made anew for each use. */
export const HOSTILE = {
  undefined: () => undefined,
  null: () => null,
  true: () => true,
  "a negative": () => -1,
  "a fraction": () => 0.5,
  "-0": () => -0,
  NaN: () => NaN,
  Infinity: () => Infinity,
  "1e300": () => 1e300,
  "2^32": () => 2 ** 32,
  "2^53": () => 2 ** 53,
  "-2^63": () => -(2 ** 63),
  "a BigInt": () => 2n ** 64n,
  "a symbol": () => Symbol("s"),
  "an empty text": () => "",
  "a lone surrogate": () => "\ud800",
  "a NUL": () => "a\0b",
  "a long text": () => "x\u0301\u{1f600} ".repeat(20_000),
  __proto__: () => "__proto__",
  "text of JSON": () => '{"a":',
  "an empty list": () => [],
  "an empty object": () => ({}),
  "no prototype": () => Object.create(null),
  "a hole": () => [, 1, ,],
  "a sparse list": () => withLength([], 2 ** 32 - 1),
  "a long list": () => withLength([1], 2 ** 24 + 1),
  "a list that lies": () => new Proxy([], { get: (list, key) => (key === "length" ? 2 ** 53 - 1 : list[key]) }),
  "a length that throws": () =>
    new Proxy([1, 2], { get: (list, key) => (key === "length" ? boom() : Reflect.get(list, key)) }),
  "a length that is a text": () => new Proxy([1], { get: (list, key) => (key === "length" ? "many" : list[key]) }),
  "array-like": () => ({ length: 2 ** 53 - 1, 0: "a" }),
  "a deep list": () => deep(5000, (value) => [value]),
  "a deep object": () => deep(5000, (value) => ({ value })),
  "a cyclic object": () => cycle({ a: 1 }, (of, value) => (of.self = value)),
  "a cyclic list": () => cycle([1], (of, value) => of.push(value)),
  "a Map": () => new Map([["a", 1]]),
  "a Set": () => new Set([1]),
  "a WeakMap": () => new WeakMap(),
  "a Date": () => new Date(0),
  "an invalid Date": () => new Date(NaN),
  "a RegExp": () => /x/g,
  "a promise": () => Promise.resolve("a"),
  "a promise that rejects": () => cycle(Promise.reject(new Boom("late")), (of) => of.catch(() => undefined)),
  "a thenable that throws": () => ({ then: boom }),
  "an error": () => new Error("e"),
  "a boxed text": () => new String("text"),
  "a boxed number": () => new Number(5),
  "a function": () => () => "text",
  "a function that throws": () => boom,
  "an async function": () => async () => ({}),
  "a function of bytes": () => () => new Uint8Array(3),
  "a class": () => class A {},
  "a generator": () =>
    (function* () {
      yield 1;
    })(),
  "a revoked object": () => revoked({}),
  "a revoked list": () => revoked([]),
  "a revoked function": () => revoked(() => 1),
  "a proxy that throws": () => new Proxy({}, { get: boom, has: boom, ownKeys: boom, getPrototypeOf: boom }),
  "keys that throw": () => new Proxy({ a: 1 }, { ownKeys: boom }),
  "descriptors that throw": () => new Proxy({ a: 1 }, { getOwnPropertyDescriptor: boom }),
  "a prototype that throws": () => new Proxy({ a: 1 }, { getPrototypeOf: boom }),
  "a proxy with any field": () =>
    new Proxy({}, { get: (_, key) => (key === "then" ? undefined : "x"), has: () => true }),
  "a function with any field": () =>
    new Proxy(() => "x", { get: (_, key) => (key === "then" ? undefined : () => "x") }),
  "a getter that throws": () => ({
    get role() {
      return boom();
    },
    get content() {
      return boom();
    },
  }),
  "a toJSON that throws": () => ({ toJSON: boom }),
  "a toJSON that returns itself": () => ({
    toJSON() {
      return this;
    },
  }),
  "a toJSON that returns undefined": () => ({ toJSON: () => undefined }),
  "a toJSON getter that throws": () => ({
    get toJSON() {
      return boom();
    },
  }),
  "a toString that throws": () => ({ toString: boom, valueOf: boom, [Symbol.toPrimitive]: boom }),
  "an iterator that throws": () => ({ [Symbol.iterator]: boom }),
  "an endless iterator": () => ({
    *[Symbol.iterator]() {
      for (;;) yield "x";
    },
  }),
  bytes: () => Uint8Array.of(0xff, 0xfe, 0, 1),
  "no bytes": () => new Uint8Array(),
  "a buffer": () => new ArrayBuffer(5),
  "a detached view": () => detached(new Uint8Array(8)),
  "a detached buffer": () => detached(new Uint8Array(8)).buffer,
  "a view out of bounds": outOfBounds,
  "a resizable buffer": () => new ArrayBuffer(4, { maxByteLength: 4096 }),
  "a view of a resizable buffer": () => new Uint8Array(new ArrayBuffer(4, { maxByteLength: 4096 })),
  "a shared buffer": () => new SharedArrayBuffer(4),
  "a view of a shared buffer": () => new Uint8Array(new SharedArrayBuffer(4)),
  "a growable shared buffer": () => new Uint8Array(new SharedArrayBuffer(4, { maxByteLength: 64 })),
  "a DataView": () => new DataView(new ArrayBuffer(9), 1),
  "a Float64Array": () => Float64Array.of(1, NaN),
  "a BigInt64Array": () => BigInt64Array.of(5n),
  "a Uint32Array": () => Uint32Array.of(1, 2 ** 32 - 1),
  "a proxy of bytes": () => new Proxy(new Uint8Array(4), {}),
  "the prototype of bytes": () => Object.create(Uint8Array.prototype),
  "bytes with a length that throws": () => Object.defineProperty(new Uint8Array(2), "length", { get: boom }),
  "a class of bytes": () => new (class extends Uint8Array {})(3),
  "a Blob": () => new Blob(["text"]),
  "the prototype of a Blob": () => Object.create(Blob.prototype),
  "a Request": () => new Request("http://localhost/"),
  "a URL": () => new URL("file:///nowhere"),
  "a stream": () => new ReadableStream(),
  "an AbortSignal": () => new AbortController().signal,
  "an aborted signal": () => AbortSignal.abort(new Boom("aborted")),
  "a signal that lies": () => ({ aborted: "no", addEventListener: 5, removeEventListener: null }),
  globalThis: () => globalThis,
};

/** The values that a caller's object may hold, and that are not walked into. */
const isPlain = (value) => {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  // The plan of a fit is known by its identity.
  if (Object.isFrozen(value) && Object.keys(value).length === 0) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
};

/** Copies plain data; everything else is shared. */
export function copyOf(value) {
  if (!isPlain(value)) return value instanceof Uint8Array ? value.slice() : value;
  if (Array.isArray(value)) return value.map(copyOf);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyOf(inner)]));
}

/** Ways of putting a value at the place of another. */
const PUT = {
  "in its place": (holder, key, value) => {
    holder[key] = value;
  },
  "as a getter": (holder, key, value) => Object.defineProperty(holder, key, { get: () => value, enumerable: true }),
  "at the second read": (holder, key, value) => {
    const before = holder[key];
    let reads = 0;
    Object.defineProperty(holder, key, { get: () => ((reads += 1) > 1 ? value : before), enumerable: true });
  },
  "next to it": (holder, key, value) => {
    if (Array.isArray(holder)) holder.push(value);
    else holder[`${key}2`] = value;
  },
  "around it": (holder, key) => {
    const inner = holder[key];
    if (typeof inner !== "object" || inner === null) holder[key] = [inner];
    else {
      let reads = 0;
      // Throws at a later read.
      holder[key] = new Proxy(inner, {
        get: (of, name, self) => ((reads += 1) > 3 ? boom() : Reflect.get(of, name, self)),
      });
    }
  },
};

/** Puts one hostile value somewhere into the arguments; returns what it did. */
export function spoil(args, random) {
  const places = [];
  const walk = (holder, depth, path) => {
    for (const key of Object.keys(holder).slice(0, 40)) {
      const at = `${path}[${key}]`;
      // The outer ones more often: most functions check those by hand.
      for (let weight = depth === 0 ? 6 : depth === 1 ? 3 : 1; weight > 0; weight -= 1) places.push([holder, key, at]);
      const inner = Object.getOwnPropertyDescriptor(holder, key)?.value;
      if (isPlain(inner) && depth < 7 && places.length < 400) walk(inner, depth + 1, at);
    }
  };
  walk(args, 0, "");
  const names = Object.keys(HOSTILE);
  const name = names[random(names.length)];
  if (places.length === 0) {
    args.push(HOSTILE[name]());
    return `${name} as the only argument`;
  }
  const [holder, key, at] = places[random(places.length)];
  const ways = Object.keys(PUT);
  // Half of them simply.
  const way = random(2) === 0 ? ways[0] : ways[random(ways.length)];
  PUT[way](holder, key, HOSTILE[name]());
  return `${name} ${way} at ${at}`;
}
