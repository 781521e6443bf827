"use client";

import { useState } from "react";

/** A chat whose route fits the history before it would reach a model. */
export default function Page() {
  const [messages, setMessages] = useState([]);
  const [report, setReport] = useState("Nothing was sent yet.");

  async function send(event) {
    event.preventDefault();
    const form = event.currentTarget;
    const history = [...messages, { role: "user", content: new FormData(form).get("text") }];
    form.reset();
    setMessages(history);
    const response = await fetch("/api/chat", { method: "POST", body: JSON.stringify(history) });
    const { answer, report } = await response.json();
    setMessages([...history, answer]);
    setReport(report);
  }

  return (
    <main>
      <h1>A chat inside its window</h1>
      <ol>
        {messages.map(({ role, content }, index) => (
          <li key={index}>
            {role}: {content}
          </li>
        ))}
      </ol>
      <p role="status">{report}</p>
      <form onSubmit={send}>
        <input name="text" aria-label="Message" required autoFocus />
        <button>Send</button>
      </form>
    </main>
  );
}
