import { fitMessages, init } from "ctxweave/chat";

/** Put your model here: `openai.chat.completions.create({ model, messages })`, or any other. */
const ask = async (messages) => ({ role: "assistant", content: `I was sent ${messages.length} messages.` });

/** Receives the whole history, and calls the model with the fitted messages. */
export async function POST(request) {
  await init();
  const history = await request.json();
  const { messages, report } = fitMessages(history, { maxTokens: 200 });
  const { total } = report.tokens;
  return Response.json({
    answer: await ask(messages),
    report: `${messages.length} of ${history.length} messages sent, ${total} of ${report.limit} tokens`,
  });
}
