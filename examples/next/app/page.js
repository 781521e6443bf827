"use client";

import { useChat } from "@ai-sdk/react";
import { useState } from "react";

/** A chat whose route fits the history before it would reach a model. */
export default function Page() {
  const [report, setReport] = useState("Nothing was sent yet.");
  const { messages, sendMessage, status, error } = useChat({
    onData: ({ type, data }) => type === "data-report" && setReport(data),
  });

  function send(event) {
    event.preventDefault();
    const form = event.currentTarget;
    void sendMessage({ text: new FormData(form).get("text") });
    form.reset();
  }

  return (
    <main>
      <h1>A chat inside its window</h1>
      <ol>
        {messages.map(({ id, role, parts }) => (
          <li key={id}>
            {role}: {parts.map((part) => (part.type === "text" ? part.text : "")).join("")}
          </li>
        ))}
      </ol>
      <p role="status">{report}</p>
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input name="text" aria-label="Message" required autoFocus />
        <button disabled={status === "submitted" || status === "streaming"}>Send</button>
      </form>
    </main>
  );
}
