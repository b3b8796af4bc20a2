import { useEffect, useState, type FormEvent, type JSX } from "react";
import { createRoot } from "react-dom/client";
import type { UIMessage } from "ai";
import { Chat } from "./chat.js";

interface Thread {
  readonly id: string;
  readonly title?: string;
  readonly turns: number;
  readonly updatedAt: string;
}

/** An open thread with the messages of the server. */
interface OpenThread {
  readonly id: string;
  readonly messages: UIMessage[];
  /** The turn in progress. `messages` contains only its question. */
  readonly turn?: string;
}

/** Returns the JSON of a response, or `undefined` if there is none. */
async function json<T>(path: string, init?: RequestInit): Promise<T | undefined> {
  const answer = await fetch(path, init).catch(() => undefined); // the server does not answer
  // The response of our own server.
  return answer?.ok === true ? ((await answer.json()) as T) : undefined;
}

/** Returns the thread, new or stored, or `undefined` if the server does not answer. */
async function openThread(id: string): Promise<OpenThread | undefined> {
  const answer = await fetch(`/api/chat/${encodeURIComponent(id)}`).catch(() => undefined);
  if (answer?.status === 404) return { id, messages: [] };
  // The response of our own server.
  return answer?.ok === true ? ((await answer.json()) as OpenThread) : undefined;
}

/** Returns the time of the last change of a thread, in the user's time zone. */
const timeOf = ({ updatedAt }: Thread): string =>
  new Date(updatedAt).toLocaleString([], {
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
  });

function SignIn({ onUser }: { readonly onUser: (user: string) => void }): JSX.Element {
  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const user = new FormData(event.currentTarget).get("user");
    if (typeof user !== "string") return;
    const body = JSON.stringify({ user });
    const headers = { "content-type": "application/json" };
    if (await json("/sign-in", { method: "POST", body, headers })) onUser(user);
  }
  return (
    <main className="sign-in">
      <h1>Chat</h1>
      <p className="hint">Any name will do. Another name is another user, with other threads.</p>
      <form onSubmit={(event) => void submit(event)}>
        <input name="user" aria-label="Name" placeholder="Name" required maxLength={40} />
        <button className="main">Sign in</button>
      </form>
    </main>
  );
}

function App(): JSX.Element | null {
  const [user, setUser] = useState<string | undefined | null>(null);
  const [threads, setThreads] = useState<readonly Thread[]>([]);
  const [open, setOpen] = useState<OpenThread | undefined>();
  const [isAway, setIsAway] = useState(false);

  const list = async (): Promise<void> =>
    setThreads((await json<{ threads: readonly Thread[] }>("/api/chat"))?.threads ?? []);
  const show = async (id: string): Promise<void> => {
    window.location.hash = encodeURIComponent(id);
    const thread = await openThread(id);
    setIsAway(thread === undefined);
    setOpen(thread);
  };
  const begin = (): void => {
    const id = crypto.randomUUID();
    window.location.hash = id;
    setOpen({ id, messages: [] });
  };
  useEffect(() => {
    void json<{ user?: string }>("/me").then((me) => setUser(me?.user));
  }, []);
  useEffect(() => {
    if (typeof user !== "string") return;
    void list();
    const id = decodeURIComponent(window.location.hash.slice(1));
    if (id === "") begin();
    else void show(id);
  }, [user]);

  if (user === null) return null;
  if (user === undefined) return <SignIn onUser={setUser} />;
  return (
    <>
      <nav>
        <p>Signed in as {user}</p>
        <button onClick={begin}>New thread</button>
        <ul aria-label="Threads">
          {threads.map((thread) => (
            <li key={thread.id}>
              <button
                aria-current={thread.id === open?.id ? "true" : undefined}
                onClick={() => void show(thread.id)}
              >
                {thread.title ?? timeOf(thread)} <small>({thread.turns})</small>
              </button>
            </li>
          ))}
        </ul>
      </nav>
      {isAway && (
        <main>
          <p role="alert">The server does not answer. Reload the page to try again.</p>
        </main>
      )}
      {open !== undefined && <Chat key={open.id} {...open} onTurn={() => void list()} />}
    </>
  );
}

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<App />);
