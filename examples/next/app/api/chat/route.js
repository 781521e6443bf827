import {
  convertToModelMessages,
  createUIMessageStream,
  createUIMessageStreamResponse,
  safeValidateUIMessages,
} from "ai";
import { CtxweaveError, fitUIMessages, init } from "ctxweave/ai-sdk";

/** Put your model here: `streamText({ model, messages }).toUIMessageStream()`. */
async function* ask(messages) {
  yield { type: "text-start", id: "answer" };
  yield { type: "text-delta", id: "answer", delta: `I was sent ${messages.length} messages.` };
  yield { type: "text-end", id: "answer" };
}

/** Receives what `useChat` sends: the whole history. Calls the model with the fitted messages. */
export async function POST(request) {
  const body = await request.json().catch(() => undefined);
  const { success, data: history, error } = await safeValidateUIMessages({ messages: body?.messages });
  if (!success) return refused(400, error);
  await init();
  try {
    const { messages, report } = fitUIMessages(history, { maxTokens: 200 });
    const prompt = await convertToModelMessages(messages);
    const data = `${messages.length} of ${history.length} messages sent, ${report.tokens.total} of ${report.limit} tokens`;
    const stream = createUIMessageStream({
      originalMessages: history,
      async execute({ writer }) {
        for await (const part of ask(prompt)) writer.write(part);
        // For this page only: `transient` keeps it out of the history.
        writer.write({ type: "data-report", data, transient: true });
      },
    });
    return createUIMessageStreamResponse({ stream });
  } catch (error) {
    if (!(error instanceof CtxweaveError)) throw error;
    return refused(error.code.endsWith("context_too_long") ? 413 : 400, error);
  }
}

function refused(status, { code = "invalid_input", message }) {
  return Response.json({ error: { code, message } }, { status });
}
