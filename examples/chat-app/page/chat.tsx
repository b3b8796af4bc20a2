import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { useState, type FormEvent, type JSX } from "react";
import { MessageParts } from "./message-parts.js";

interface ChatProps {
  readonly id: string;
  readonly messages: UIMessage[];
  /** The turn in progress when the thread was loaded. */
  readonly turn?: string;
  /** A turn has ended. */
  readonly onTurn: () => void;
}

/** What a user reads of an error: the message of an answer that is JSON, else its text. */
function textOf({ message }: Error): string {
  try {
    const { error } = JSON.parse(message) as { error?: { message?: string } };
    return error?.message ?? message;
  } catch {
    return message;
  }
}

/** Comes back to one turn, and to no later one. */
function transportFor(turn = ""): DefaultChatTransport<UIMessage> {
  return new DefaultChatTransport({
    prepareReconnectToStreamRequest: ({ api, id }) => ({
      api: `${api}/${encodeURIComponent(id)}/stream?turn=${encodeURIComponent(turn)}`,
    }),
  });
}

/** One thread. */
export function Chat({ id, messages: stored, turn, onTurn }: ChatProps): JSX.Element {
  const [transport] = useState(() => transportFor(turn));
  const chat = useChat({
    id,
    messages: stored,
    transport,
    resume: turn !== undefined, // it is shown after a reload, also while it waits for an approval
    sendAutomaticallyWhen: (now) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(now) ||
      lastAssistantMessageIsCompleteWithToolCalls(now),
    onToolCall: ({ toolCall: { toolName, toolCallId, dynamic } }) => {
      if (toolName !== "time_zone" || dynamic === true) return; // the server executes the others
      const { timeZone: zone } = new Intl.DateTimeFormat().resolvedOptions();
      void chat.addToolOutput({ tool: toolName, toolCallId, output: { zone } }); // not awaited: the stream goes on first
    },
    onFinish: onTurn,
  });
  const { messages, status, error, sendMessage, regenerate, addToolApprovalResponse } = chat;
  const [text, setText] = useState("");
  const isBusy = status === "submitted" || status === "streaming";

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    const field = form.elements.namedItem("files");
    const files = field instanceof HTMLInputElement ? field.files : null;
    const hasFiles = files !== null && files.length > 0;
    if (text.trim() === "" && !hasFiles) return;
    void sendMessage({ text, ...(hasFiles && { files }) });
    setText("");
    form.reset();
  }
  /** Ends the turn on the server; reading less of it would not. */
  async function stop(): Promise<void> {
    await fetch(`/api/chat/${encodeURIComponent(id)}/stream`, { method: "DELETE" });
  }

  return (
    <main>
      <section aria-label="Messages" aria-live="polite" className="messages">
        <div>
          {messages.length === 0 && (
            <p className="hint">
              Ask &ldquo;When is high water at Husum?&rdquo;, &ldquo;Book the ferry to Amrum&rdquo;,
              &ldquo;What is my time zone?&rdquo;, or send a file.
            </p>
          )}
          {messages.map((message) => (
            <article key={message.id} data-role={message.role}>
              <MessageParts
                message={message}
                onApproval={(approvalId, approved) =>
                  void addToolApprovalResponse({ id: approvalId, approved })
                }
              />
            </article>
          ))}
        </div>
      </section>
      {error !== undefined && (
        <p role="alert">
          {textOf(error)} <button onClick={() => void regenerate()}>Try again</button>
        </p>
      )}
      <form onSubmit={submit}>
        <input
          name="text"
          aria-label="Message"
          placeholder="Message"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <input name="files" type="file" aria-label="Files" multiple />
        <button className="main" disabled={isBusy}>
          Send
        </button>
        {isBusy && (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        )}
      </form>
      <output data-status={status} />
    </main>
  );
}
