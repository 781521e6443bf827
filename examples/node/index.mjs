/** A conversation that outgrows its window: each turn is fitted before it is sent to the model. */

import { fitMessages, init } from "ctxweave/chat";

await init();

const limit = 300;
const history = [{ role: "system", content: "You keep the lighthouse and its log." }];

/** Put your model here: `openai.chat.completions.create({ model, messages })`, or any other. */
const ask = async (messages) => ({ role: "assistant", content: `The log has ${messages.length} entries on that.` });

for (let turn = 1; turn <= 40; turn++) {
  history.push({ role: "user", content: `What happened in night ${turn}, and who was on watch?` });
  const { messages, report } = fitMessages(history, { maxTokens: limit });
  history.push(await ask(messages));
  if (turn % 10 === 0) {
    const { total } = report.tokens;
    console.log(`turn ${turn}: ${messages.length} of ${history.length - 1} messages, ${total} of ${limit} tokens`);
  }
}
