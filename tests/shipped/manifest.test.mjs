/** wasm-pack.toml controls the build: each change of it changes what `cargo xtask` builds or rejects. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { root } from "../packaging/packed.mjs";

const dir = mkdtempSync(join(tmpdir(), "ctxweave-manifest-"));
after(() => rmSync(dir, { recursive: true }));

/**
 * The project's rules with only the smallest flavor, which builds in a few seconds, and with a raised ceiling: whether
 * the module is small enough is tested elsewhere.
 */
const own = readFileSync(join(root, "wasm-pack.toml"), "utf8");
const NAME = "workspace";
const flavor = own
  .match(new RegExp(`^\\[flavors\\.${NAME}\\][^]*?(?=^\\[(?!flavors\\.${NAME}\\.))`, "m"))[0]
  .replaceAll(/^max-gzip = .*$/gm, "max-gzip = 99_000_000");
const standard = own.slice(0, own.indexOf("[flavors.")) + flavor;
assert.deepEqual(standard.match(/^\[.*\]$/gm), ["[build]", "[quick]", `[flavors.${NAME}]`]);
const out = join(dir, "out");
const module = join(out, NAME, "ctxweave.wasm");
const glue = join(out, NAME, "glue.js");

/** Runs `cargo xtask` with another manifest. */
function xtask(command, manifest) {
  const path = join(dir, "manifest.toml");
  writeFileSync(path, manifest);
  rmSync(command === "build" ? out : join(dir, "none"), { recursive: true, force: true });
  const { status, stdout, stderr } = spawnSync("cargo", ["xtask", command, "--manifest", path, "--out", out], {
    cwd: root,
    encoding: "utf8",
  });
  return { status, text: stdout + stderr };
}

/** The manifest with a replacement for the match. */
function changed(pattern, replacement) {
  const manifest = standard.replace(pattern, replacement);
  assert.notEqual(manifest, standard, `${pattern} is not in wasm-pack.toml`);
  return manifest;
}

/** An option of wasm-bindgen as written in the manifest. */
const flagOf = (name) => `"${name}", `;

/** Builds it; the standard one only once, later calls restore the same files. */
function built(manifest) {
  const kept = join(dir, "kept");
  if (manifest === standard && existsSync(kept)) {
    rmSync(out, { recursive: true, force: true });
    cpSync(kept, out, { recursive: true });
    return readFileSync(module);
  }
  const { status, text } = xtask("build", manifest);
  assert.equal(status, 0, text);
  if (manifest === standard) cpSync(out, kept, { recursive: true });
  return readFileSync(module);
}

function refused(command, manifest, message) {
  const { status, text } = xtask(command, manifest);
  assert.notEqual(status, 0, text);
  assert.match(text, message);
}

test("the unchanged manifest gives the module in pkg/dist", () => {
  const packaged = readFileSync(join(root, "pkg/dist", NAME, "ctxweave.wasm"));
  assert.ok(built(standard).equals(packaged), "two builds of the same sources differ: run `cargo xtask build`");
});

test("the flags of wasm-opt change the module", () => {
  const optimised = built(standard).length;
  const plain = built(changed('"-Os"', '"-O0"')).length;
  assert.ok(plain > optimised, `${plain} bytes without, ${optimised} with`);
  refused("build", changed('"-Os"', '"--no-such-pass"'), /no-such-pass/);
});

test("the flags of wasm-bindgen change the glue", () => {
  const flag = flagOf("reset-state-function");
  built(standard);
  assert.match(readFileSync(glue, "utf8"), /__wbg_reset_state/);
  built(changed(flag, ""));
  assert.doesNotMatch(readFileSync(glue, "utf8"), /function __wbg_reset_state/);
});

test("an import outside the list is rejected by name", () => {
  refused("build", changed(/"__wbindgen_object_drop_ref",?/, ""), /imports `__wbindgen_object_drop_ref`/);
});

test("the exports, the features and the profile reach cargo", () => {
  const exports = `exports = ["counting", "${NAME}"]`;
  refused("build", changed(exports, 'exports = ["no-such-export"]'), /`no-such-export` is no set of exports/);
  refused("build", changed(exports, `${exports}\nfeatures = ["no-such-feature"]`), /no-such-feature/);
  refused("build", changed('profile = "wasm"', 'profile = "no-such-profile"'), /no-such-profile/);
});

test("the smaller flavors have their areas and no other", () => {
  const names = {
    chat: ["fitMessages"],
    commits: ["artifactRef", "importTranscript"],
    folders: ["buildContextChain", "parseContextFile"],
    import: ["importLoom", "exportLoom"],
    loom: ["assembleBuffer", "requestBody"],
    operators: ["parseTask", "writeTask"],
    tokens: ["countTokens", "countChatTokens"],
    workspace: ["readContext", "planContextLoading"],
  };
  const all = readFileSync(join(root, "pkg/dist/ctxweave.wasm"));
  for (const area of Object.keys(names)) {
    // The names of functions are in the module, exported or in the table of calls.
    const bytes = readFileSync(join(root, "pkg/dist", area, "ctxweave.wasm"));
    for (const [of, functions] of Object.entries(names)) {
      for (const name of functions)
        assert.equal(bytes.includes(name), of === area || (of === "tokens" && area !== "import"), `${area}: ${name}`);
    }
    assert.ok(bytes.length < all.length / 2, area);
  }
});

test("an allowed import that is not needed is rejected by name", () => {
  refused("build", changed(/^max-gzip = .*$/m, '$&\nimports = ["__wbg_now"]'), /allows `__wbg_now`/);
});

test("a profile without LTO is rejected", () => {
  refused("build", changed('profile = "wasm"', 'profile = "dev"'), /did not tell rustc to link with LTO/);
});

test("another flavor is built next to the first", () => {
  const second = flavor.replaceAll(`flavors.${NAME}`, "flavors.second");
  built(`${standard}\n${second}`);
  assert.ok(existsSync(join(out, "second/ctxweave.wasm")));
  const { status, text } = xtask("size", `${standard}\n${second}`);
  assert.equal(status, 0, text);
  assert.match(text, /`second\/ctxweave\.wasm`/);
});

test("a module over its ceiling is rejected", () => {
  built(standard);
  const { status, text } = xtask("size", standard);
  assert.equal(status, 0, text);
  refused("size", changed(/^max-gzip = .*$/m, "max-gzip = 100"), /over the ceiling in the manifest: .*, at most 100/);
});

test("an unknown key and a missing one are errors", () => {
  refused("build", changed("max-gzip =", "max-gizp ="), /unknown field `max-gizp`/);
  refused("build", changed(/^max-gzip = .*$/m, ""), /missing field `max-gzip`/);
  refused("build", changed(flagOf("reset-state-function"), '"reset-state", '), /unknown variant `reset-state`/);
});
