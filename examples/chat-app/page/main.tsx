import { useEffect, useState, type FormEvent, type JSX } from "react";
import { createRoot } from "react-dom/client";
import type { UIMessage } from "ai";
import { Chat } from "./chat.js";

interface Thread {
  readonly id: string;
  readonly title?: string;
  readonly turns: number;
}

/** A thread that is open. The messages are those that the server has. */
interface OpenThread {
  readonly id: string;
  readonly messages: UIMessage[];
}

/** The JSON of an answer; `undefined` where there is none. */
async function json<T>(path: string, init?: RequestInit): Promise<T | undefined> {
  const answer = await fetch(path, init).catch(() => undefined); // the server is away
  return answer?.ok === true ? ((await answer.json()) as T) : undefined; // our own server
}

async function openThread(id: string): Promise<OpenThread> {
  const known = await json<OpenThread>(`/api/chat/${encodeURIComponent(id)}`);
  return { id, messages: known?.messages ?? [] };
}

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
    <main>
      <h1>Chat</h1>
      <form onSubmit={(event) => void submit(event)}>
        <input name="user" aria-label="Name" required maxLength={40} />
        <button>Sign in</button>
      </form>
    </main>
  );
}

function App(): JSX.Element | null {
  const [user, setUser] = useState<string | undefined | null>(null);
  const [threads, setThreads] = useState<readonly Thread[]>([]);
  const [open, setOpen] = useState<OpenThread | undefined>();

  const list = async (): Promise<void> =>
    setThreads((await json<{ threads: readonly Thread[] }>("/api/chat"))?.threads ?? []);
  const show = async (id: string): Promise<void> => {
    window.location.hash = encodeURIComponent(id);
    setOpen(await openThread(id));
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
          {threads.map(({ id, title, turns }) => (
            <li key={id}>
              <button onClick={() => void show(id)}>
                {title ?? `Thread ${id.slice(0, 8)}`} ({turns})
              </button>
            </li>
          ))}
        </ul>
      </nav>
      {open !== undefined && <Chat key={open.id} {...open} onTurn={() => void list()} />}
    </>
  );
}

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<App />);
