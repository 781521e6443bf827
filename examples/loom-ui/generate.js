/** Replies: requested with the tree's body, and appended to their nodes as they stream. */

import { following, newNode } from "./loom.js";

const TARGETS = {
  dialogue: { provider: "openai", address: "/v1/chat/completions" },
  buffer: { provider: "completion", address: "/v1/completions" },
};

/** Requests `n` replies to the tip; each has a node immediately, and is part of its path while it streams. */
export async function generate(loom, n, signal, changed) {
  const { tree, view } = loom;
  const { tip } = view;
  const { provider, address } = TARGETS[loom.mode];
  const [body] = tree.requestBodies({ tip, n, target: { provider, model: "stub", stream: true } });
  const replies = Array.from({ length: n }, () => following(tip, newNode("model", "", { authorAgentId: "stub" })));
  const ids = replies.map(({ nodes: [{ id }] }) => id);
  const upsert = { nodes: replies.flatMap(({ nodes }) => nodes), edges: replies.flatMap(({ edges }) => edges) };
  // One undo step: removing the nodes also removes their texts.
  loom.edit({ upsert }, { tip: ids[0] });
  const heard = new Set();
  try {
    const response = await fetch(address, { method: "POST", body, signal });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    for await (const { choices } of events(response.body)) {
      for (const { index, delta, text = delta?.content } of choices) {
        if (!text) continue;
        tree.append(ids[index], text);
        heard.add(ids[index]);
      }
      changed();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    const silent = ids.filter((id) => !heard.has(id));
    if (silent.length > 0) tree.apply({ remove: { nodes: silent } });
    if (silent.includes(view.tip)) loom.look({ tip });
    changed();
  }
}

/** The events of a stream of server-sent events, up to `[DONE]`. */
async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line === "data: [DONE]") return;
      if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length));
    }
  }
}
