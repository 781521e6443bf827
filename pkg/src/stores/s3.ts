/** Object storage with the API of S3 and conditional writes. */

import { checkedFunction, checkedObject, checkedOptions, invalid } from "../api/checked.js";
import { guarded } from "../source.js";
import type { DeletingStore } from "../types/stores.js";
import { PermanentFailure } from "./calls.js";
import { isLarge } from "./keys.js";
import { signedHeaders } from "./signature.js";

/** An access key of S3. */
export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** The token of temporary credentials. */
  sessionToken?: string | undefined;
}

/** The used part of a response. */
export interface S3ResponseLike {
  status: number;
  headers: { get(name: string): string | null };
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The used part of `fetch`. */
export type S3FetchLike = (
  address: string,
  init: { method: string; headers: Record<string, string>; body?: ArrayBuffer },
) => Promise<S3ResponseLike>;

/** Where a bucket is and how requests are signed. */
export interface S3Options {
  /** Address of the service, such as `https://s3.eu-central-1.amazonaws.com`. The bucket becomes a part of its path. */
  endpoint: string;
  bucket: string;
  /** Region that signatures name. Default `us-east-1`, which services without regions accept. */
  region?: string | undefined;
  /** Text in front of all keys, such as `ctxweave/`. Default: none. */
  prefix?: string | undefined;
  /** The access key, or a function that returns the current one. Without it `fetch` has to sign. */
  credentials?: S3Credentials | (() => S3Credentials | Promise<S3Credentials>) | undefined;
  /** Sends requests; called without `this`. Defaults to the global `fetch`. */
  fetch?: S3FetchLike | undefined;
}

/** Number of values whose versions are kept, so that comparing them takes no second read. */
const KEPT_VERSIONS = 100;
/** Longest key of S3, in bytes. */
const MAX_KEY_BYTES = 1024;
/** Characters of an error of the service that a message shows. */
const SHOWN_CHARACTERS = 200;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A value and its version. */
interface Version {
  bytes: Uint8Array<ArrayBuffer>;
  /** Empty if the service does not state it. */
  etag: string;
}

/**
 * A store in a bucket of S3, or of a service with its API that honors `If-None-Match: *` and `If-Match` when it writes an
 * object. It must list keys in order.
 *
 * @throws {CtxweaveError} `invalid_input`
 */
export function s3Store(options: S3Options): DeletingStore {
  const { prefix, send } = bucketOf(options);
  const versions = new Map<string, { text: string; etag: string }>();
  const read = async (key: string): Promise<Version | undefined> => {
    const response = await send("GET", { key });
    const bytes = new Uint8Array(await response.arrayBuffer());
    // A missing bucket has the same status.
    if (response.status === 404 && codeOf(bytes) === "NoSuchKey") return undefined;
    if (response.status !== 200) throw refusal("GET", response.status, bytes);
    const etag = (response.headers.get("etag") ?? "").trim().replace(/^W\//, "");
    if (!isLarge(key)) keepVersion(versions, key, { text: decoder.decode(bytes), etag });
    return { bytes, etag };
  };
  /** Returns whether the condition held. */
  const write = async (key: string, bytes: Uint8Array, condition: Record<string, string> = {}): Promise<boolean> => {
    const response = await send("PUT", { key, headers: condition, body: bytes });
    const answer = new Uint8Array(await response.arrayBuffer());
    if (response.status === 200) return true;
    const isMissing = response.status === 404 && "if-match" in condition && codeOf(answer) === "NoSuchKey";
    if (response.status === 412 || isMissing) return false;
    throw refusal("PUT", response.status, answer);
  };
  return {
    async get(key) {
      return (await read(key))?.bytes;
    },
    async put(key, bytes) {
      await write(key, bytes);
    },
    async compareAndSet(key, expected, next) {
      const bytes = encoder.encode(next);
      if (expected === undefined) return write(key, bytes, { "if-none-match": "*" });
      const kept = versions.get(key);
      if (kept?.text === expected && (await write(key, bytes, conditionOf(kept)))) return true;
      const now = await read(key);
      if (now === undefined || decoder.decode(now.bytes) !== expected) return false;
      return write(key, bytes, conditionOf(now));
    },
    async list(start, cursor, limit = 1000) {
      const query: [string, string][] = [
        ["list-type", "2"],
        ["max-keys", `${limit}`],
        ["prefix", prefix + start],
        ...(cursor === undefined ? [] : ([["start-after", prefix + cursor]] as [string, string][])),
      ];
      const response = await send("GET", { query });
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (response.status !== 200) throw refusal("GET", response.status, bytes);
      const text = decoder.decode(bytes);
      const keys = [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) =>
        unescaped(key).slice(prefix.length),
      );
      const last = keys.at(-1);
      return { keys, ...(/<IsTruncated>true</.test(text) && last !== undefined && { cursor: last }) };
    },
    async delete(key) {
      const response = await send("DELETE", { key });
      const bytes = new Uint8Array(await response.arrayBuffer());
      const isDone = response.status === 200 || response.status === 204;
      if (!isDone && !(response.status === 404 && codeOf(bytes) === "NoSuchKey"))
        throw refusal("DELETE", response.status, bytes);
    },
  };
}

/**
 * The condition that an object is unchanged. Services ignore an empty one.
 *
 * @throws {PermanentFailure} if the version is unknown
 */
function conditionOf({ etag }: { etag: string }): Record<string, string> {
  if (/^"?"?$/.test(etag)) {
    throw new PermanentFailure("the service sends no `ETag`; in a browser the CORS rules of the bucket must expose it");
  }
  return { "if-match": etag };
}

/** A request about an object, or about the bucket. */
interface BucketRequest {
  key?: string;
  query?: [string, string][];
  headers?: Record<string, string>;
  body?: Uint8Array;
}

/** Checks the options; returns a function that signs and sends a request. */
function bucketOf(options: S3Options) {
  const known = ["endpoint", "bucket", "region", "prefix", "credentials", "fetch"] as const;
  const checked = checkedOptions(options, known);
  const { bucket, region = "us-east-1", prefix = "", credentials } = checked;
  const endpoint = endpointOf(checked.endpoint);
  if (typeof bucket !== "string" || !/^\w[\w.-]+$/.test(bucket))
    throw invalid("options.bucket", "the name of a bucket");
  if (typeof region !== "string" || !/^[\w-]+$/.test(region)) throw invalid("options.region", "the name of a region");
  if (typeof prefix !== "string" || !/^(?:[\w-][\w.-]*\/)*[\w.-]*$/.test(prefix))
    throw invalid("options.prefix", "letters, digits, `_`, `.` and `-`, in parts with `/` after each");
  if (typeof credentials !== "function" && credentials !== undefined) checkCredentials(credentials);
  if (credentials === undefined && checked.fetch === undefined)
    throw invalid("options.credentials", "an access key, or `options.fetch` a function that signs requests");
  const isSigning = credentials !== undefined;
  if (isSigning && globalThis.crypto?.subtle === undefined)
    throw invalid("options.fetch", "a function that signs requests, as this runtime has no `crypto.subtle`");
  checkedFunction(checked.fetch, "options.fetch");
  const fetch = checked.fetch ?? (globalThis.fetch as unknown as S3FetchLike | undefined);
  if (fetch === undefined) throw invalid("options.fetch", "a function, as this runtime has no `fetch`");
  const root = `${endpoint}/${bucket}`;
  const addressOf = (key: string | undefined, query: [string, string][]): URL => {
    const path = key === undefined ? "" : `/${objectPath(prefix + key)}`;
    const parameters = query.map(([name, value]) => `${name}=${percentEncoded(value)}`).join("&");
    const address = new URL(`${root}${path}${parameters && "?"}${parameters}`);
    // An address drops `.` and `..`.
    if (key !== undefined && !address.pathname.endsWith(`/${bucket}${path}`))
      throw new PermanentFailure("the key has a part `.` or `..`");
    return address;
  };
  const send = async (
    method: string,
    { key, query = [], headers = {}, body = new Uint8Array() }: BucketRequest,
  ): Promise<S3ResponseLike> => {
    const address = addressOf(key, query);
    const bytes = new Uint8Array(body);
    const access = typeof credentials === "function" ? checkCredentials(await credentials()) : credentials;
    const sent = access ? await signedHeaders({ method, address, headers, body: bytes }, access, region) : headers;
    // A browser would answer from its cache. Not signed, because proxies change it.
    const uncached = method === "GET" ? { ...sent, "cache-control": "no-cache" } : sent;
    return fetch(address.href, { method, headers: uncached, ...(method === "PUT" && { body: bytes.buffer }) });
  };
  return { prefix, send };
}

/** The address without the slash at its end. */
function endpointOf(endpoint: unknown): string {
  let address;
  try {
    address = new URL(endpoint as string);
  } catch {
    throw invalid("options.endpoint", "the address of a service, such as `https://s3.eu-central-1.amazonaws.com`");
  }
  const { protocol, search, hash, username, password, href } = address;
  if (!/^https?:$/.test(protocol) || search || hash || username || password)
    throw invalid("options.endpoint", "an http or https address without a query or a user");
  return href.replace(/\/+$/, "");
}

/** Checks an access key; other fields are ignored. */
function checkCredentials(credentials: S3Credentials): S3Credentials {
  checkedObject(credentials, "options.credentials");
  const { accessKeyId, secretAccessKey, sessionToken } = guarded("options.credentials", () => ({ ...credentials }));
  for (const [name, value] of Object.entries({ accessKeyId, secretAccessKey, sessionToken })) {
    const isMissing = name === "sessionToken" && value === undefined;
    if (!isMissing && (typeof value !== "string" || !/^[\x21-\x7e]+$/.test(value)))
      throw invalid(`options.credentials.${name}`, "text without spaces");
  }
  return { accessKeyId, secretAccessKey, sessionToken };
}

function objectPath(key: string): string {
  const path = key.split("/").map(percentEncoded).join("/");
  const { length } = encoder.encode(key);
  if (length > MAX_KEY_BYTES)
    throw new PermanentFailure(`the key has ${length} bytes, over the limit of ${MAX_KEY_BYTES} of S3`);
  return path;
}

/** Everything but letters, digits, `-`, `.`, `_` and `~` as `%` and digits. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function keepVersion<Kept>(versions: Map<string, Kept>, key: string, version: Kept): void {
  versions.delete(key);
  versions.set(key, version);
  const [oldest] = versions.keys();
  if (versions.size > KEPT_VERSIONS && oldest !== undefined) versions.delete(oldest);
}

/** The code of an error of the service. */
function codeOf(bytes: Uint8Array): string | undefined {
  return /<Code>([^<]*)<\/Code>/.exec(decoder.decode(bytes.subarray(0, 2000)))?.[1];
}

function refusal(method: string, status: number, bytes: Uint8Array): Error {
  const text = decoder.decode(bytes.subarray(0, 2000));
  const reason = /<Message>([^<]*)<\/Message>/.exec(text)?.[1] ?? text;
  const code = codeOf(bytes);
  return new Error(
    `\`${method}\` has status ${status}${code === undefined ? "" : `, \`${code}\``}: ${reason.slice(0, SHOWN_CHARACTERS)}`,
  );
}

const NAMED: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Decodes the entities of XML. */
function unescaped(xml: string): string {
  return xml.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal?: string, digits?: string, name?: string) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(digits ?? "", 16) : Number(decimal));
  });
}
