/** Operators through the packed package: behavior that only JavaScript can show. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { installed, root } from "../packaging/packed.mjs";

let ctxweave;
before(async () => {
  ctxweave = await import(pathToFileURL(join(installed(), "node_modules/ctxweave/dist/node.js")).href);
  await ctxweave.init();
});

const XML = `<task type="sequential"><description>All</description><steps><task type="atomic" id="a"/></steps></task>`;

/** A memory system that fails a given number of times, and records its questions. */
function memory(
  failures,
  answer = {
    context: "FOUND",
    matches: [
      ["b.md", { x: 1 }],
      ["a.md", null],
    ],
  },
) {
  const asked = [];
  const system = async (input, about) => {
    asked.push({ input, about });
    if (asked.length <= failures) throw new Error(`failure ${asked.length}`);
    return answer;
  };
  return { asked, system };
}

describe("parseTask", () => {
  it("accepts a string and every kind of bytes", () => {
    const bytes = new TextEncoder().encode(XML);
    const expected = ctxweave.parseTask(XML);
    assert.deepEqual(ctxweave.parseTask(bytes), expected);
    assert.deepEqual(ctxweave.parseTask(bytes.buffer), expected);
    assert.deepEqual(ctxweave.parseTask(new DataView(bytes.buffer)), expected);
    for (const wrong of [undefined, null, 1, {}, [XML]]) {
      assert.throws(() => ctxweave.parseTask(wrong), { name: "CtxweaveError", code: "invalid_input" });
    }
  });

  it("returns a deeply frozen task", () => {
    const { task } = ctxweave.parseTask(XML);
    const check = (value) => {
      if (typeof value !== "object" || value === null) return;
      assert.ok(Object.isFrozen(value));
      Object.values(value).forEach(check);
    };
    check(task);
    assert.throws(() => {
      task.steps[0].contextManagement.freshContext = "disabled";
    }, TypeError);
  });

  it("reports the position of a lone surrogate", () => {
    const { task, diagnostics } = ctxweave.parseTask(
      `<task type="atomic">\n  <description>😀\ud800</description></task>`,
    );
    assert.equal(task.description, "😀\ufffd");
    assert.deepEqual(
      diagnostics.map(({ code, path, line, column }) => [code, path, line, column]),
      [["lone_surrogate_replaced", "xml", 2, 18]],
    );
  });

  it("spans cut the XML of each task out of the source", () => {
    const { task } = ctxweave.parseTask(`<!-- 😀 -->${XML}`);
    const [step] = task.steps;
    assert.equal(task.source.slice(step.span.start, step.span.end), '<task type="atomic" id="a"/>');
    assert.equal(ctxweave.parseTask(task.source.slice(step.span.start, step.span.end)).task.id, "a");
  });
});

describe("assembleContextForTask", () => {
  const request = { task: { description: "T" }, parentContext: "P" };

  it("asks nothing if no question is needed", async () => {
    const { asked, system } = memory(9);
    const task = { contextManagement: { freshContext: "disabled" } };
    assert.deepEqual(await ctxweave.assembleContextForTask({ task, parentContext: "P" }, system), {
      context: "P",
      inherited: "P",
      matches: [],
    });
    assert.equal(asked.length, 0);
  });

  it("asks once, with the input and its text, and does not change the matches", async () => {
    const { asked, system } = memory(0);
    assert.deepEqual(await ctxweave.assembleContextForTask(request, system), {
      context: "P\n\nFOUND",
      inherited: "P",
      fresh: "FOUND",
      matches: [
        ["b.md", { x: 1 }],
        ["a.md", null],
      ],
    });
    assert.deepEqual(asked, [
      {
        input: { taskText: "T", inheritedContext: "P" },
        about: { text: "## Task\n\nT\n\n## Inherited Context\n\nP", purpose: "match" },
      },
    ]);
  });

  it("asks once more after a failure, with the same input", async () => {
    const { asked, system } = memory(1);
    assert.equal((await ctxweave.assembleContextForTask(request, system)).fresh, "FOUND");
    assert.equal(asked.length, 2);
    assert.deepEqual(asked[0], asked[1]);
  });

  it("gives up after the second failure, with the cause", async () => {
    const { asked, system } = memory(9);
    await assert.rejects(ctxweave.assembleContextForTask(request, system), (error) => {
      assert.ok(error instanceof ctxweave.CtxweaveError);
      assert.equal(error.code, "context_retrieval_failure");
      assert.deepEqual(error.details, { attempts: 2, reason: "failure 2" });
      assert.equal(error.cause.message, "failure 2");
      return true;
    });
    assert.equal(asked.length, 2);
  });

  it("accepts a memory system that throws or answers synchronously", async () => {
    const answer = () => ({ context: "NOW", matches: [] });
    assert.equal((await ctxweave.assembleContextForTask(request, answer)).fresh, "NOW");
    const thrower = () => {
      throw "a string";
    };
    await assert.rejects(ctxweave.assembleContextForTask(request, thrower), {
      code: "context_retrieval_failure",
      details: { attempts: 2, reason: "a string" },
    });
  });

  it("does not ask again after an answer of the wrong shape", async () => {
    for (const answer of [undefined, null, "text", { context: 1, matches: [] }, { context: "x", matches: [["a"]] }]) {
      const { asked, system } = memory(0, answer ?? null);
      await assert.rejects(ctxweave.assembleContextForTask(request, system), { code: "invalid_input" });
      assert.equal(asked.length, 1);
    }
    await assert.rejects(ctxweave.assembleContextForTask(request, undefined), { code: "invalid_input" });
  });

  it("counts and rejects contexts over the limit", async () => {
    const { system } = memory(0);
    const sized = await ctxweave.assembleContextForTask({ ...request, warnTokens: 1, maxTokens: 100 }, system);
    assert.ok(sized.tokens > 1);
    assert.deepEqual(
      sized.diagnostics.map(({ code }) => code),
      ["context_near_limit"],
    );
    await assert.rejects(ctxweave.assembleContextForTask({ ...request, maxTokens: 1 }, system), {
      code: "context_too_long",
    });
    assert.throws(() => ctxweave.beginContextAssembly({ ...request, maxTokens: -1 }), { code: "invalid_input" });
    assert.throws(() => ctxweave.beginContextAssembly({ ...request, tokenizer: "o200k_base" }), {
      code: "vocabulary_not_loaded",
    });
  });
});

describe("tasks as plain objects", () => {
  it("may go no deeper than templates", () => {
    let task = {};
    for (let depth = 0; depth < 100_000; depth += 1) task = { type: "sequential", steps: [task] };
    assert.throws(() => ctxweave.explainTask(task), { code: "limit_exceeded" });
    // The instance is unharmed.
    assert.equal(ctxweave.explainTask({ steps: [{}] }).length, 2);
  });

  it("templates of the maximum depth are explained", () => {
    const limits = { xmlDepth: 100 };
    for (const [open, close, depth] of [
      ['<inner_task type="reduce">', "</inner_task>", 99],
      ['<steps><task type="sequential">', "</task></steps>", 49],
    ]) {
      const type = open.includes("reduce") ? "reduce" : "sequential";
      const xml = `<task type="${type}">${open.repeat(depth)}${close.repeat(depth)}</task>`;
      const { task } = ctxweave.parseTask(xml, { limits });
      assert.equal(ctxweave.explainTask(task).length, depth + 1);
      assert.throws(
        () => ctxweave.parseTask(xml.replace(open, open + open).replace(close, close + close), { limits }),
        {
          code: "limit_exceeded",
        },
      );
    }
  });

  it("a state survives JSON", () => {
    const begun = ctxweave.beginContextAssembly({ task: {}, parentContext: "P" });
    const state = JSON.parse(JSON.stringify(begun.state));
    assert.equal(ctxweave.finishContextAssembly(state, { context: "F", matches: [] }).context, "P\n\nF");
    const run = JSON.parse(JSON.stringify(ctxweave.startRun({ task: ctxweave.parseTask(XML).task })));
    assert.equal(ctxweave.nextRequest(ctxweave.recordResult(run, { context: "" })).id, "a");
  });
});

describe("the example", () => {
  it("runs a sequential and a reduce task", () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "examples/operators.mjs")], {
      encoding: "utf8",
    });
    assert.equal(stderr, "");
    assert.equal(status, 0);
    const order = [...stdout.matchAll(/^── (\w+) ?([\w-]*):/gm)].map(([, what, id]) => `${what} ${id}`.trim());
    assert.deepEqual(order, ["step facts", "step gap", "step title", "inner letter-1", "inner letter-2", "reduction"]);
    const step = (id) => stdout.split(`── step ${id}`)[1].split("\n──")[0];
    assert.match(step("facts"), /inherited:\n {2}The reader is a child\./);
    assert.match(step("facts"), /match: notes\/lighthouse\.md/);
    // Filtered: only the sentence about the storm; accumulated: the notes of the previous step.
    assert.match(
      step("gap"),
      /inherited:\n {2}The storm came in the night\.\naccumulated:\n {2}### facts\n {2}\n {2}facts is done\.\n$/m,
    );
    assert.ok(!step("title").includes("inherited:"));
    assert.match(step("title"), /### facts[^]*### gap/);
    assert.match(stdout, /results: \(letter-1, \d+ characters seen\) \(letter-2, \d+ characters seen\)/);
  });

  it("keeps earlier outputs when a step fails", async () => {
    const { runTask, memoryOf } = await import(pathToFileURL(join(root, "examples/operators.mjs")).href);
    const inRoot = await import("ctxweave");
    await inRoot.init();
    const xml = `<task type="sequential"><steps><task type="atomic" id="a"/><task type="atomic" id="b"/></steps></task>`;
    const model = async ({ id }) => {
      if (id === "b") throw new Error("no answer");
      return { output: "A", notes: "a" };
    };
    const { status, failure } = await runTask({ task: inRoot.parseTask(xml).task }, memoryOf({}), model);
    assert.equal(status, "failed");
    assert.deepEqual(failure, {
      type: "TASK_FAILURE",
      reason: "subtask_failure",
      message: "no answer",
      failedStep: "b",
      totalSteps: 2,
      notes: { partialResults: [{ step: "a", notes: "a" }] },
    });
  });

  it("keeps earlier outputs when the memory system fails", async () => {
    const { runTask } = await import(pathToFileURL(join(root, "examples/operators.mjs")).href);
    const { init, parseTask } = await import("ctxweave");
    await init();
    const steps = [1, 2, 3, 4, 5].map((at) => `<task type="atomic"><description>${at}</description></task>`).join("");
    const { task } = parseTask(`<task type="sequential"><description>0</description><steps>${steps}</steps></task>`);
    const failingAt =
      (at) =>
      async ({ taskText }) => {
        if (taskText === at) throw new Error("away");
        return { context: taskText, matches: [] };
      };
    const model = async ({ id }) => ({ output: id, notes: id });
    const { failure } = await runTask({ task }, failingAt("5"), model);
    assert.deepEqual(
      failure.notes.partialResults.map(({ step }) => step),
      ["step-1", "step-2", "step-3", "step-4"],
    );
    assert.deepEqual([failure.failedStep, failure.reason], ["step-5", "context_retrieval_failure"]);
    const own = (await runTask({ task }, failingAt("0"), model)).failure;
    assert.deepEqual([own.failedStep, own.reason], [undefined, "context_retrieval_failure"]);
  });
});

describe("a custom tokenizer", () => {
  it("counts contexts with and without the memory system", async () => {
    const tokenizer = { count: (text) => text.length };
    const memory = async () => ({ context: "12345", matches: [] });
    const task = { contextManagement: { inheritContext: "none" } };
    const count = async (request) => (await ctxweave.assembleContextForTask({ ...request, tokenizer }, memory)).tokens;
    assert.equal(await count({ task }), 5);
    const ready = { contextManagement: { freshContext: "disabled" } };
    assert.equal(await count({ task: ready, parentContext: "1234567" }), 7);
  });
});
