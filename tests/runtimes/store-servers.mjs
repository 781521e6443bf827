/**
 * Servers for the stores: PostgreSQL, which `cargo xtask setup` installs, and moto, which has the API of S3 and which pip
 * installs once. If one cannot start, the test fails. PostgreSQL listens on a Unix socket and moto on this machine only,
 * with data in a temporary folder or in memory.
 */

import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { pythonPackages } from "../python/packages.mjs";

const run = promisify(execFile);

export const S3_CREDENTIALS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret/of+the=test" };
export const S3_REGION = "eu-central-1";

/**
 * Serves moto, one request at a time: its check of a condition and the write that follows are not one step. Every
 * signature is compared with that of botocore. The requests of a key are counted at `/counts`.
 */
const SERVE_S3 = `
import hashlib, json, os, re, sys
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server, WSGIRequestHandler

key, secret, region = sys.argv[1:4]
app = DomainDispatcherApplication(create_backend_app)

def signature(environ, body):
    given = environ.get("HTTP_AUTHORIZATION", "")
    found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/\\d{8}/([^/]+)/s3/aws4_request, SignedHeaders=([^,]+), Signature=(\\w+)", given)
    if not found or found[1] != key or found[2] != region:
        return False
    names = found[3].split(";")
    if not {"host", "x-amz-content-sha256", "x-amz-date"} <= set(names):
        return False
    headers = {name: environ["HTTP_" + name.upper().replace("-", "_")] for name in names}
    if headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
        return False
    request = AWSRequest(environ["REQUEST_METHOD"], "http://" + headers["host"] + environ["RAW_URI"], headers, body)
    request.context["timestamp"] = headers["x-amz-date"]
    auth = S3SigV4Auth(Credentials(key, secret), "s3", region)
    return found[4] == auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)

def checked(environ, start):
    length = int(environ.get("CONTENT_LENGTH") or 0)
    body = environ["wsgi.input"].read(length)
    if not signature(environ, body):
        start("403 Forbidden", [("Content-Type", "application/xml")])
        return [b"<Error><Code>SignatureDoesNotMatch</Code><Message>wrong</Message></Error>"]
    import io
    environ["wsgi.input"] = io.BytesIO(body)
    return app(environ, start)

class Quiet(WSGIRequestHandler):
    def log_request(self, *given):
        pass

server = make_server("127.0.0.1", 0, checked, threaded=False, request_handler=Quiet)
print(server.port, flush=True)
server.serve_forever()
`;

/** A process that prints one line when it is ready. */
async function printing(command, args, env) {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const exited = new Promise((resolve) => child.on("exit", resolve));
  let complaints = "";
  child.stderr.on("data", (text) => (complaints = (complaints + text).slice(-4000)));
  const line = await new Promise((resolve, reject) => {
    let printed = "";
    child.stdout.on("data", (text) => (printed += text).includes("\n") && resolve(printed.trim()));
    void exited.then(() => reject(new Error(`${command} ended: ${complaints}`)));
  });
  return {
    line,
    async stop() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** A service with the API of S3: its options for `s3Store`, with an empty bucket. */
export async function startS3(stores) {
  const place = await pythonPackages("moto");
  const given = [S3_CREDENTIALS.accessKeyId, S3_CREDENTIALS.secretAccessKey, S3_REGION];
  const server = await printing("python3", ["-c", SERVE_S3, ...given], {
    PYTHONPATH: place,
    PYTHONDONTWRITEBYTECODE: "1",
  });
  const endpoint = `http://127.0.0.1:${server.line}`;
  const options = { endpoint, bucket: "commits", region: S3_REGION, credentials: S3_CREDENTIALS };
  const region = `<CreateBucketConfiguration><LocationConstraint>${S3_REGION}</LocationConstraint></CreateBucketConfiguration>`;
  try {
    // The bucket itself is an object without a name.
    await stores.s3Store(options).put("", new TextEncoder().encode(region));
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { options, stop: server.stop };
}

/** The folder of PostgreSQL's programs; Debian's is not in `PATH`. */
function postgresFolder() {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : [];
  const found = versions.map((version) => `${debian}/${version}/bin`).find((bin) => existsSync(`${bin}/postgres`));
  if (found) return found;
  try {
    return execFileSync("pg_config", ["--bindir"], { encoding: "utf8" }).trim();
  } catch (cause) {
    throw new Error("PostgreSQL is missing: run `cargo xtask setup`", { cause });
  }
}

/** An empty database: the options of a client. `kill` ends it like a crash, `start` starts it again. */
export async function startPostgres() {
  const bin = postgresFolder();
  const folder = await mkdtemp(join(tmpdir(), "ctxweave-postgres-"));
  const identity = await otherThanRoot();
  if (identity) await chown(folder, identity.uid, identity.gid);
  const options = { ...identity, cwd: folder };
  const data = join(folder, "data");
  const create = ["--pgdata", data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--no-sync"];
  await run(`${bin}/initdb`, [...create, "--locale", "C"], options);
  let child;
  const start = async () => {
    const args = [
      "-D",
      data,
      "-c",
      "listen_addresses=",
      "-c",
      `unix_socket_directories=${folder}`,
      // A crash of the server, not of the machine.
      "-c",
      "fsync=off",
    ];
    child = spawn(`${bin}/postgres`, args, { ...options, stdio: "ignore" });
    const exited = new Promise((resolve) => child.on("exit", resolve));
    child.exited = exited;
    for (let tries = 0; ; tries += 1) {
      try {
        await run(`${bin}/pg_isready`, ["-h", folder]);
        return;
      } catch (error) {
        if (tries > 300 || child.exitCode !== null) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };
  const end = async (signal) => {
    child.kill(signal);
    await child.exited;
  };
  await start();
  return {
    options: { host: folder, user: "postgres", database: "postgres" },
    start,
    /** An immediate shutdown: PostgreSQL recovers when it starts again. */
    crash: () => end("SIGQUIT"),
    async stop() {
      await end("SIGQUIT");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root: the user of Debian's package, or `nobody`. */
async function otherThanRoot() {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    try {
      const ids = await Promise.all(["-u", "-g"].map((flag) => run("id", [flag, name])));
      const [uid, gid] = ids.map(({ stdout }) => Number(stdout));
      return { uid, gid };
    } catch {
      // There is no such user.
    }
  }
  throw new Error("PostgreSQL does not run as root: add a user `postgres`");
}
