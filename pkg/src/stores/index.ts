/** `ctxweave/stores`: commits in a store of the host. Operations on records use `ctxweave/commits`. */

export {
  cloudflareStore,
  D1_SCHEMA,
  type D1DatabaseLike,
  type D1StatementLike,
  type R2BucketLike,
} from "./cloudflare.js";
export { CommitStore } from "./commit-store.js";
export { type DenoAtomicLike, type DenoKvLike, denoKvStore } from "./deno-kv.js";
export { type FileSystemLike, fileSystemStore } from "./file-system.js";
export { indexedDbStore } from "./indexed-db.js";
export { memoryStore } from "./memory.js";
export { POSTGRES_SCHEMA, type PostgresLike, postgresStore } from "./postgres.js";
export { type S3Credentials, type S3FetchLike, type S3Options, type S3ResponseLike, s3Store } from "./s3.js";
export { summarizeMissing } from "./summarize-missing.js";
export { CtxweaveError, init, registerFormat } from "../entries/commits.js";
export type * from "../types/commits.js";
export type * from "../types/stores.js";
