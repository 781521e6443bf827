/** A server that answers in OpenAI's format with fixed texts, so that the example needs no key. */

import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";

const REPLIES = [
  "The lamp was lit an hour before dark, and the first ship passed to the north at nine, low in the water and without a flag.",
  "Nobody answered. The stairs went on, and with every turn the sea sounded a little further away than it should have.",
  "She wrote it down as she wrote everything down: the hour, the wind, and that the foghorn had sounded twice by itself.",
  "Then the fog came in over the rocks, so thick that the beam stood in it like a plank that one could walk out on.",
  "Below, in the store, there were eleven barrels of oil where yesterday there had been twelve, and the floor was dry.",
];

/** The stub's answer to a prompt, for the choice with this index. */
export function replyTo(prompt, index) {
  let sum = index;
  for (const character of prompt) sum += character.codePointAt(0);
  return REPLIES[sum % REPLIES.length];
}

/** Answers `/v1/chat/completions` and `/v1/completions`, always as a stream; passes other requests on. */
export async function stub(request, response, next) {
  const isChat = request.url === "/v1/chat/completions";
  if (!isChat && request.url !== "/v1/completions") return next();
  const { messages, prompt, n = 1 } = JSON.parse(await text(request));
  const said = isChat ? messages.at(-1).content : prompt;
  const replies = Array.from({ length: n }, (_, index) => replyTo(said, index).match(/\S+\s*/g));
  response.writeHead(200, { "content-type": "text/event-stream" });
  const longest = Math.max(...replies.map((words) => words.length));
  for (let at = 0; at < longest && !response.destroyed; at++) {
    for (const [index, words] of replies.entries()) {
      if (at >= words.length) continue;
      const choice = isChat ? { index, delta: { content: words[at] } } : { index, text: words[at] };
      response.write(`data: ${JSON.stringify({ choices: [choice] })}\n\n`);
    }
    await wait(40);
  }
  response.end("data: [DONE]\n\n");
}
