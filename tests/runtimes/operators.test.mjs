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
    for (const answer of [
      undefined,
      null,
      "text",
      { context: 1, matches: [] },
      { context: "x", matches: [["a", null, 1]] },
    ]) {
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

/** A task whose parts inherit everything and ask nothing. */
const quiet = (type, rest = {}) => ({ type, contextManagement: { freshContext: "disabled" }, ...rest });
const step = (id, rest) => quiet("atomic", { id, description: id, ...rest });
const nothing = async () => ({ context: "", matches: [] });
const tick = () => new Promise((resolve) => setTimeout(resolve, 1));

/** Runs a task with a model that answers its path; returns the outcome and the lines of all events. */
async function run(input, options = {}) {
  const events = [];
  const model = ({ path, id }) => ({ output: `${path}#${id ?? ""}`, notes: `notes of ${path}` });
  const onEvent = (event) => void events.push(event);
  const outcome = await ctxweave.runTask(input, { memory: nothing, model, onEvent, ...options });
  return { outcome, events, lines: events.map(({ type, path, id }) => `${type} ${path}${id ? ` ${id}` : ""}`) };
}

/** A sequence with a reduction, whose inner task is a sequence in a task of its own. */
const NESTED = quiet("sequential", {
  steps: [
    step("read"),
    quiet("reduce", {
      id: "sum",
      innerTask: quiet("atomic", { task: quiet("sequential", { steps: [step("first"), step("second")] }) }),
      reductionTask: quiet("atomic"),
    }),
    step("write"),
  ],
});

describe("runTask", () => {
  it("runs an atomic task", async () => {
    const { outcome, lines } = await run({ task: quiet("atomic"), parentContext: "P" });
    assert.deepEqual([outcome.status, outcome.output, outcome.notes], ["done", "task#", "notes of task"]);
    assert.deepEqual(lines, ["started task", "context task", "finished task"]);
  });

  it("runs nested sequences and reductions, and reports each part", async () => {
    const calls = [];
    const model = (call) => {
      calls.push(call);
      return { output: `<${call.path}>`, notes: `n:${call.path}` };
    };
    const { outcome, lines } = await run({ task: NESTED, parentContext: "P" }, { model });
    assert.deepEqual([outcome.status, outcome.output], ["done", "<task.steps[2]>"]);
    const inner = "task.steps[1].innerTask";
    assert.deepEqual(lines, [
      "started task",
      "context task",
      "started task.steps[0] read",
      "context task.steps[0] read",
      "finished task.steps[0] read",
      "started task.steps[1] sum",
      "context task.steps[1] sum",
      `started ${inner} read`,
      `context ${inner} read`,
      `started ${inner}.task`,
      `context ${inner}.task`,
      `started ${inner}.task.steps[0] first`,
      `context ${inner}.task.steps[0] first`,
      `finished ${inner}.task.steps[0] first`,
      `started ${inner}.task.steps[1] second`,
      `context ${inner}.task.steps[1] second`,
      `finished ${inner}.task.steps[1] second`,
      `finished ${inner}.task`,
      `finished ${inner} read`,
      "started task.steps[1].reductionTask",
      "context task.steps[1].reductionTask",
      "finished task.steps[1].reductionTask",
      "finished task.steps[1] sum",
      "started task.steps[2] write",
      "context task.steps[2] write",
      "finished task.steps[2] write",
      "finished task",
    ]);
    // The reduction takes the output of the step before it, and its steps know the input.
    assert.deepEqual(calls.find(({ path }) => path === `${inner}.task.steps[1]`).input, "<task.steps[0]>");
    const { results } = calls.find(({ path }) => path.endsWith("reductionTask"));
    assert.deepEqual(results, [
      { input: "read", output: `<${inner}.task.steps[1]>`, notes: `n:${inner}.task.steps[1]` },
    ]);
    // The notes of the nested reduction are accumulated like those of any step.
    const { context } = calls.at(-1).context;
    assert.equal(context, "P\n\n### read\n\nn:task.steps[0]\n\n### sum\n\nn:task.steps[1].reductionTask");
  });

  it("runs inner tasks concurrently, with results in the order of the inputs", async () => {
    for (const [concurrency, expected] of [
      [1, 1],
      [3, 3],
      [9, 5],
    ]) {
      let [now, most] = [0, 0];
      const model = async ({ input, results }) => {
        if (results) return results.map(({ output }) => output).join("");
        most = Math.max(most, (now += 1));
        for (let left = 5 - Number(input); left >= 0; left -= 1) await tick();
        now -= 1;
        return input;
      };
      const { outcome } = await run(
        { task: quiet("reduce"), inputs: ["0", "1", "2", "3", "4"] },
        { model, concurrency },
      );
      assert.deepEqual([outcome.output, most], ["01234", expected]);
    }
    await assert.rejects(run({ task: NESTED }, { concurrency: 0 }), { code: "invalid_input" });
  });

  it("can be stored after every event and continued elsewhere", async () => {
    const reduce = quiet("reduce", { innerTask: NESTED });
    const input = { task: reduce, inputs: ["x", "y"], parentContext: "P" };
    const whole = await run(input);
    for (const [at, { run: stored, type }] of whole.events.entries()) {
      const { outcome } = await run(JSON.parse(JSON.stringify(stored)));
      assert.deepEqual(outcome.output, whole.outcome.output, `${at} ${type}`);
      assert.deepEqual(outcome.outputs, whole.outcome.outputs);
    }
    // A finished step is not run again.
    const { run: half } = whole.events.find(
      ({ path, type }) => path === "task.innerTask.steps[1]" && type === "finished",
    );
    const { lines } = await run(JSON.parse(JSON.stringify(half)));
    assert.equal(lines[0], "started task.innerTask.steps[2] write");
    assert.deepEqual(lines.filter((line) => line === "started task.innerTask.steps[1] sum").length, 1);
    // Stored while several inputs are under way.
    const many = await run(input, { concurrency: 2 });
    assert.deepEqual(many.outcome.outputs, whole.outcome.outputs);
    for (const { run: stored } of many.events) {
      const { outcome } = await run(JSON.parse(JSON.stringify(stored)), { concurrency: 2 });
      assert.deepEqual(outcome.outputs, whole.outcome.outputs);
    }
  });

  it("keeps the completed results of every level when a step fails", async () => {
    const failing = ({ path, id }) => {
      if (path.endsWith("steps[1]") && id === "second") throw new Error("no answer");
      return { output: path, notes: `n:${path}` };
    };
    const { outcome, lines } = await run({ task: NESTED }, { model: failing });
    const { failure } = outcome;
    assert.deepEqual([outcome.status, failure.failedStep, failure.message], ["failed", "sum", "no answer"]);
    assert.deepEqual(failure.notes.partialResults, [{ step: "read", notes: "n:task.steps[0]" }]);
    assert.deepEqual([failure.cause.failedInput, failure.cause.totalInputs], ["read", 1]);
    const deepest = failure.cause.cause.cause;
    assert.equal(deepest.failedStep, "second");
    assert.deepEqual(
      deepest.notes.partialResults.map(({ step }) => step),
      ["first"],
    );
    assert.equal(lines.at(-1), "failed task");
    // The run of the first `failed` event tries the step again; the run of the outcome has failed.
    assert.equal((await run(outcome.run, { model: failing })).outcome.status, "failed");
  });

  it("completes inputs under way when another fails", async () => {
    const model = async ({ input, results }) => {
      if (results) return "sum";
      if (input === "b") throw new Error("bad");
      await tick();
      return input.toUpperCase();
    };
    const { outcome } = await run({ task: quiet("reduce"), inputs: ["a", "b", "c", "d"] }, { model, concurrency: 3 });
    assert.equal(outcome.failure.failedInput, "input-2");
    assert.deepEqual(outcome.failure.processedInputs, ["input-1", "input-3"]);
    const retried = await run({ ...outcome.run, run: { ...outcome.run.run, failure: undefined } });
    assert.deepEqual(
      retried.outcome.outputs.map(({ step }) => step),
      ["input-1", "input-2", "input-3", "input-4"],
    );
  });

  it("asks a failing memory system twice, then fails the step", async () => {
    let asked = 0;
    const memory = async ({ taskText }) => {
      asked += 1;
      if (taskText === "b") throw new Error("away");
      return { context: taskText, matches: [] };
    };
    const steps = ["a", "b"].map((id) => ({ type: "atomic", id, description: id }));
    const task = { type: "sequential", description: "0", steps };
    const { outcome } = await run({ task }, { memory });
    assert.equal(asked, 4);
    assert.deepEqual([outcome.failure.failedStep, outcome.failure.reason], ["b", "context_retrieval_failure"]);
    assert.deepEqual(
      outcome.failure.notes.partialResults.map(({ step }) => step),
      ["a"],
    );
    const own = await run({ task: { ...task, description: "b" } }, { memory });
    assert.deepEqual(
      [own.outcome.failure.failedStep, own.outcome.failure.reason],
      [undefined, "context_retrieval_failure"],
    );
  });

  it("cuts contexts to a budget and fails steps over a limit", async () => {
    const task = quiet("sequential", { steps: [step("a")] });
    const parentContext = "A line of the parent's context. ".repeat(100);
    const { outcome, events } = await run({ task, parentContext }, { budget: { maxTokens: 60 } });
    assert.equal(outcome.status, "done");
    for (const { context } of events.filter(({ type }) => type === "context")) {
      assert.ok(context.report.tokens.total <= 60);
      assert.equal(context.report.tokens.total, ctxweave.countTokens(context.context));
    }
    const over = await run({ task, parentContext }, { maxTokens: 60 });
    assert.deepEqual([over.outcome.status, over.outcome.failure.reason], ["failed", "context_too_long"]);
  });

  it("ends with the signal's reason, even while the model never answers", async () => {
    const controller = new AbortController();
    const seen = [];
    const model = (_, { signal }) => {
      seen.push(signal);
      queueMicrotask(() => controller.abort(new Error("stop")));
      return new Promise(() => undefined);
    };
    await assert.rejects(run({ task: NESTED }, { model, signal: controller.signal }), { message: "stop" });
    assert.deepEqual(seen, [controller.signal]);
    await assert.rejects(run({ task: NESTED }, { signal: controller.signal }), { message: "stop" });
  });

  it("throws for mistakes of the caller and what `onEvent` throws", async () => {
    await assert.rejects(run({ task: NESTED }, { model: () => ({ text: "x" }) }), { code: "invalid_input" });
    await assert.rejects(run({ task: NESTED }, { model: undefined }), { code: "invalid_input" });
    await assert.rejects(run({ task: NESTED }, { retries: 1 }), { code: "invalid_input" });
    await assert.rejects(run({ task: { type: "map" } }), { code: "invalid_input" });
    const onEvent = () => {
      throw new Error("disk full");
    };
    await assert.rejects(run({ task: NESTED }, { onEvent }), { message: "disk full" });
  });

  it("passes its own inputs to nested reductions", async () => {
    const inputs = ({ id, inputs }) => (id === "sum" ? [...inputs, "more"] : inputs);
    const { lines } = await run({ task: NESTED }, { inputs });
    assert.equal(lines.filter((line) => line.startsWith("finished task.steps[1].innerTask.task")).length, 6);
  });
});

describe("the example", () => {
  it("runs a sequence with a reduction", () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "examples/operators.mjs")], {
      encoding: "utf8",
    });
    assert.equal(stderr, "");
    assert.equal(status, 0);
    const order = [...stdout.matchAll(/^finished (\S+)/gm)].map(([, path]) => path);
    assert.deepEqual(order, [
      "task.steps[0]",
      "task.steps[1].innerTask",
      "task.steps[1].reductionTask",
      "task.steps[1]",
      "task",
    ]);
    assert.match(stdout, /reductionTask saw \d+ characters\n$/);
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
