import type { ServerFrame } from "../../../src/plugins/dashboard/protocol/messages.js";
import type { Environment, Socket } from "../../../page/src/stores/environment.js";

/** A browser environment for stores, with time and answers of the test. */
export class TestBrowser {
  nowMs = 1_000_000;
  readonly requests: string[] = [];
  readonly sockets: TestSocket[] = [];
  readonly #timers: { readonly at: number; readonly fn: () => void }[] = [];
  readonly #answers: (readonly [pattern: RegExp, answer: () => Response])[] = [];
  readonly env: Environment = {
    now: () => this.nowMs,
    random: () => 0.5,
    later: (fn, ms) => {
      const timer = { at: this.nowMs + ms, fn };
      this.#timers.push(timer);
      return () => {
        const place = this.#timers.indexOf(timer);
        if (place >= 0) this.#timers.splice(place, 1);
      };
    },
    nextFrame: (fn) => fn(),
    fetch: (path) => {
      this.requests.push(path);
      const found = this.#answers.findLast(([pattern]) => pattern.test(path));
      return found === undefined
        ? Promise.reject(new TypeError("unreachable"))
        : Promise.resolve(found[1]());
    },
    openSocket: () => {
      const socket = new TestSocket();
      this.sockets.push(socket);
      return socket;
    },
    session: keep(),
    local: keep(),
  };

  /** Answers requests with a matching path; later answers take precedence. */
  answer(pattern: RegExp, body: unknown, status = 200): void {
    this.#answers.push([pattern, () => new Response(JSON.stringify(body), { status })]);
  }

  /** Advances the time, and calls due functions. */
  async pass(ms: number): Promise<void> {
    const end = this.nowMs + ms;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.splice(this.#timers.indexOf(due), 1);
      this.nowMs = due.at;
      due.fn();
      await settled();
    }
    this.nowMs = end;
    await settled();
  }
}

/** Waits until available answers have been read. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

class TestSocket implements Socket {
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  readonly sent: string[] = [];
  isClosed = false;

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.isClosed = true;
  }

  /** The server sends a frame. */
  take(frame: ServerFrame): void {
    this.onmessage?.({ data: JSON.stringify(frame) } as MessageEvent); // its other fields are not read
  }

  /** The server ends the connection. */
  end(code: number): void {
    this.onclose?.({ code });
  }
}

function keep(): Environment["local"] {
  const texts = new Map<string, string>();
  return {
    read: (name) => texts.get(name),
    write: (name, text) => {
      if (text === undefined) texts.delete(name);
      else texts.set(name, text);
    },
  };
}
