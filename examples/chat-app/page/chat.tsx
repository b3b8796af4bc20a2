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
  /** The turn that was in progress when the thread was loaded. */
  readonly turn?: string;
  /** Called when a turn has ended. */
  readonly onTurn: () => void;
}

/** Returns the message in a JSON error, otherwise the text of the error. */
function textOf({ message }: Error): string {
  try {
    const { error } = JSON.parse(message) as { error?: { message?: string } };
    return error?.message ?? message;
  } catch {
    return message;
  }
}

/** Resumes the given turn and no later turn. */
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
    // Shows the turn after a reload, even while it waits for an approval.
    resume: turn !== undefined,
    sendAutomaticallyWhen: (now) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(now) ||
      lastAssistantMessageIsCompleteWithToolCalls(now),
    onToolCall: ({ toolCall: { toolName, toolCallId, dynamic } }) => {
      // The server executes all other tools.
      if (toolName !== "time_zone" || dynamic === true) return;
      const { timeZone: zone } = new Intl.DateTimeFormat().resolvedOptions();
      // Not awaited, because the stream must continue first.
      void chat.addToolOutput({ tool: toolName, toolCallId, output: { zone } });
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
  /** Ends the turn on the server. `stop()` would only stop the page from reading. */
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
