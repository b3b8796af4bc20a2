import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type DynamicToolUIPart,
  type UIMessage,
} from "ai";
import { useState, type FormEvent, type JSX } from "react";
import { createRoot } from "react-dom/client";

/** The address contains the id of the thread: a reload shows the same thread. */
function threadId(): string {
  if (location.hash === "") location.hash = crypto.randomUUID();
  return location.hash.slice(1);
}

interface Thread {
  readonly messages: UIMessage[];
  /** The turn in progress, of which the messages have the question only. */
  readonly turn?: string;
}

async function storedThread(id: string): Promise<Thread> {
  const response = await fetch(`/api/chat/${id}`);
  return response.ok ? ((await response.json()) as Thread) : { messages: [] };
}

/** Continues the turn after a reload, even if the turn has ended. */
function transportFor(turn = ""): DefaultChatTransport<UIMessage> {
  return new DefaultChatTransport({
    prepareReconnectToStreamRequest: ({ api, id }) => ({ api: `${api}/${id}/stream?turn=${turn}` }),
  });
}

function Chat({ id, stored }: { id: string; stored: Thread }): JSX.Element {
  const [transport] = useState(() => transportFor(stored.turn));
  const { messages, status, error, sendMessage, regenerate, addToolApprovalResponse } = useChat({
    id,
    messages: stored.messages,
    transport,
    resume: stored.turn !== undefined, // a turn in progress continues after a reload
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const [text, setText] = useState("");
  function submit(event: FormEvent): void {
    event.preventDefault();
    void sendMessage({ text });
    setText("");
  }
  const answer = (approvalId: string, approved: boolean): void =>
    void addToolApprovalResponse({ id: approvalId, approved });
  return (
    <main>
      <h1>Chat</h1>
      <section aria-label="Messages" aria-live="polite">
        {messages.map((message) => (
          <article key={message.id} data-role={message.role}>
            {message.parts.map((part, n) => {
              if (part.type === "text") return <p key={n}>{part.text}</p>;
              if (part.type === "dynamic-tool") return <Tool key={n} call={part} answer={answer} />;
              return null;
            })}
          </article>
        ))}
      </section>
      {error !== undefined && (
        <p role="alert">
          {error.message} <button onClick={() => void regenerate()}>Try again</button>
        </p>
      )}
      <form onSubmit={submit}>
        <input
          aria-label="Message"
          value={text}
          onChange={(event) => setText(event.target.value)}
          required
        />
        <button disabled={status === "submitted" || status === "streaming"}>Send</button>
      </form>
    </main>
  );
}

interface ToolProps {
  readonly call: DynamicToolUIPart;
  readonly answer: (approvalId: string, approved: boolean) => void;
}

/** A tool call: its title, its result, and the question if it needs an approval. */
function Tool({ call, answer }: ToolProps): JSX.Element {
  return (
    <div className="tool">
      {call.title ?? call.toolName}
      {call.state === "output-available" && <div>{String(call.output)}</div>}
      {call.state === "output-error" && <div>{call.errorText}</div>}
      {call.state === "output-denied" && <div>Refused</div>}
      {call.state === "approval-requested" && (
        <div>
          <button onClick={() => answer(call.approval.id, true)}>Approve</button>
          <button onClick={() => answer(call.approval.id, false)}>Refuse</button>
        </div>
      )}
    </div>
  );
}

const root = document.getElementById("root");
const id = threadId();
if (root !== null) createRoot(root).render(<Chat id={id} stored={await storedThread(id)} />);
