/** The tree of a first visit. */

const said = [
  ["ask", null, "human", "Write the log of a lighthouse keeper, one night at a time."],
  [
    "first",
    "ask",
    "model",
    "First night. Wind from the west, the glass falling. I lit the lamp at six and trimmed it at ten.",
  ],
  ["other", "ask", "model", "They told me that the light had never failed. Nobody told me who had kept it before."],
  ["further", "first", "human", "Go on with the second night. Something is missing from the store."],
  [
    "oil",
    "further",
    "model",
    "Second night. Eleven barrels of oil, where there were twelve. I have counted them again.",
  ],
  ["rope", "further", "model", "Second night. The long rope is gone from its hook, and the hook is wet."],
  ["who", "other", "human", "Who had kept it before?"],
];

export const sample = {
  title: "The light",
  mode: "dialogue",
  systemContext: "You are a writer of few words. Go on where the text stops.",
  nodes: said.map(([id, , authorType, content]) => ({ id, authorType, content })),
  edges: said
    .filter(([, parent]) => parent)
    .map(([id, parent]) => ({ id: `${parent}-${id}`, sources: [{ nodeId: parent }], targetNodeId: id })),
};

export const sampleTip = "oil";
