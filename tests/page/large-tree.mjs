// A large tree, always the same: mostly one node after the other, with branches from earlier nodes; with the chance 1
// it is a single path.

export function largeTree(count, chance = 0.9) {
  let state = 7;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const nodes = [];
  const edges = [];
  for (let i = 0; i < count; i++) {
    nodes.push({
      id: `n${i}`,
      content: `Node ${i}: ${"words and more words ".repeat(4)}`,
      authorType: i % 2 ? "model" : "human",
    });
    if (i === 0) continue;
    const from = random() < chance ? i - 1 : Math.floor(random() * i);
    edges.push({ id: `e${i}`, sources: [{ nodeId: `n${from}` }], targetNodeId: `n${i}` });
  }
  return { nodes, edges };
}

/** Opens it like a file; the file is created in the page, because it is larger than the driver can transfer. */
export async function openLarge(page, count, chance = 0.9) {
  // As one expression, because the page's policy forbids creating functions from text.
  await page.evaluate(`(${offer})(${largeTree}, ${count}, ${chance})`);
  await page.locator(".source").getByText("large.json").first().waitFor({ timeout: 60_000 });
}

/** Runs in the page. */
function offer(make, count, chance) {
  const made = new DataTransfer();
  made.items.add(new File([JSON.stringify(make(count, chance))], "large.json", { type: "application/json" }));
  const input = document.querySelector("#tree-file");
  input.files = made.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}
