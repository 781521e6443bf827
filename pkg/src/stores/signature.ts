/** Signatures of requests to S3: AWS Signature Version 4. */

import type { S3Credentials } from "./s3.js";

/** A request without a signature. Names of headers are in lower case. */
export interface UnsignedRequest {
  method: string;
  address: URL;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
}

const encoder = new TextEncoder();

/** The headers of a signed request: the given ones, the signature and what it covers. */
export async function signedHeaders(
  { method, address, headers, body }: UnsignedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: S3Credentials,
  region: string,
): Promise<Record<string, string>> {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const hash = hex(await crypto.subtle.digest("SHA-256", body));
  const sent: Record<string, string> = {
    ...headers,
    "x-amz-content-sha256": hash,
    "x-amz-date": time,
    ...(sessionToken !== undefined && { "x-amz-security-token": sessionToken }),
  };
  const covered = Object.entries({ ...sent, host: address.host }).sort(([one], [other]) => (one < other ? -1 : 1));
  const names = covered.map(([name]) => name).join(";");
  const canonical = [
    method,
    address.pathname,
    address.search.slice(1),
    ...covered.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    hash,
  ].join("\n");
  const scope = [time.slice(0, 8), region, "s3", "aws4_request"];
  const canonicalHash = hex(await crypto.subtle.digest("SHA-256", encoder.encode(canonical)));
  let key: Uint8Array<ArrayBuffer> | ArrayBuffer = encoder.encode(`AWS4${secretAccessKey}`);
  for (const part of scope) key = await keyedHash(key, part);
  const text = ["AWS4-HMAC-SHA256", time, scope.join("/"), canonicalHash].join("\n");
  const signature = hex(await keyedHash(key, text));
  const credential = `${accessKeyId}/${scope.join("/")}`;
  sent["authorization"] = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return sent;
}

async function keyedHash(key: Uint8Array<ArrayBuffer> | ArrayBuffer, text: string): Promise<ArrayBuffer> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return crypto.subtle.sign("HMAC", imported, encoder.encode(text));
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
