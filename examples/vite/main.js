/** A page that shows the fitted chat, computed in the browser. */

import { fitMessages, init } from "ctxweave/chat";

const [limit, chat, report, messages] = ["limit", "chat", "report", "messages"].map((id) =>
  document.getElementById(id),
);

const nights = Array.from({ length: 8 }, (_, night) => [
  { role: "user", content: `What happened in night ${night + 1}?` },
  { role: "assistant", content: "The lamp burned, and two ships passed to the north." },
]);
chat.value = JSON.stringify([{ role: "system", content: "You keep the log." }, ...nights.flat()], null, 2);

await init();
for (const field of [limit, chat]) field.addEventListener("input", show);
show();

function show() {
  try {
    const fitted = fitMessages(JSON.parse(chat.value), { maxTokens: Number(limit.value) });
    const { tokens, format } = fitted.report;
    report.textContent = `${format}: ${fitted.messages.length} messages, ${tokens.total} of ${limit.value} tokens`;
    messages.replaceChildren(...fitted.messages.map(item));
  } catch (error) {
    report.textContent = error.message;
  }
}

function item({ role, content }) {
  const line = document.createElement("li");
  line.textContent = `${role}: ${typeof content === "string" ? content : JSON.stringify(content)}`;
  return line;
}
