import { createHash } from "node:crypto";
import type { SqlSession } from "../../shared/sql/sql-session.js";
import { sleep } from "../../../util/abort/timeouts.js";

/** Delay in ms before a broken listening connection is replaced. */
const AGAIN_MS = 500;

/** The subject of a notification. */
type Subject = "queue" | "result" | "topic";

type Heard = (text: string) => void;

/** Returns the key of a subject, which is short for any name. */
function notificationKey(subject: Subject, name: string): string {
  const digest = createHash("sha256").update(name).digest("base64url").slice(0, 22);
  return `${subject[0]}${digest}`;
}

const KEY_LENGTH = 23;

/**
 * Notifications between the processes of one schema. They only wake other processes. Persistent
 * data is in tables, and is also read at intervals. Waiting notifications are sent together. One
 * connection listens while there is a waiter, and is replaced when it breaks.
 */
export class Notifications {
  readonly #session: SqlSession;
  readonly #channel: string;
  readonly #heard = new Map<string, Set<Heard>>();
  #waiting = new Set<string>();
  #sending: Promise<void> | undefined;
  /** The promise of the notifications that wait for the end of `#sending`. */
  #next: Promise<void> | undefined;
  /** Resolves when the connection listens, or could not be opened. */
  #listening: Promise<boolean> | undefined;
  #stopListening: (() => Promise<void>) | undefined;
  #isClosed = false;

  /** The caller has checked `schema`. */
  constructor(session: SqlSession, schema: string) {
    this.#session = session;
    this.#channel = `${schema}_network`;
  }

  /** Calls `heard` at each notification, until the returned function is called. */
  on(subject: Subject, name: string, heard: Heard): () => void {
    const key = notificationKey(subject, name);
    const all = this.#heard.get(key) ?? new Set();
    this.#heard.set(key, all.add(heard));
    void this.ready();
    return () => {
      if (all.delete(heard) && all.size === 0 && this.#heard.get(key) === all)
        this.#heard.delete(key);
    };
  }

  /**
   * Resolves when notifications are received, or after a failed attempt, which is repeated later.
   */
  async ready(): Promise<void> {
    if (this.#isClosed) return;
    this.#listening ??= this.#listen();
    await this.#listening;
  }

  /** Wakes the other processes. Never rejects, because they also read at intervals. */
  wake(subject: Subject, name: string): void {
    this.send(subject, name, "").catch(() => undefined);
  }

  /** Resolves when the notification was sent. `text` has at most 4 KiB. @throws NetworkError */
  async send(subject: Subject, name: string, text: string): Promise<void> {
    this.#waiting.add(`${notificationKey(subject, name)}${text}`);
    this.#next ??= this.#sendNext();
    await this.#next;
  }

  /** Sends the waiting notifications after the previous batch. */
  async #sendNext(): Promise<void> {
    await this.#sending?.catch(() => undefined); // its callers receive the error
    this.#sending = this.#sendAll([...this.#waiting]);
    this.#waiting = new Set();
    this.#next = undefined;
    await this.#sending;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#sending?.catch(() => undefined);
    await this.#listening;
    await this.#stopListening?.();
    this.#heard.clear();
  }

  async #sendAll(texts: readonly string[]): Promise<void> {
    if (this.#isAlone) for (const text of texts) this.#dispatch(text);
    else
      await this.#session.query(
        "select pg_notify($1, text)::text from unnest($2::text[]) with ordinality as t (text, n) order by n",
        [this.#channel, texts],
      );
  }

  /** Whether no other process can use the database. */
  get #isAlone(): boolean {
    return !this.#session.canListen;
  }

  #dispatch(notification: string): void {
    const key = notification.slice(0, KEY_LENGTH);
    const text = notification.slice(KEY_LENGTH);
    for (const heard of [...(this.#heard.get(key) ?? [])]) heard(text);
  }

  async #listen(): Promise<boolean> {
    if (this.#isAlone) return true;
    const connection = { isEnded: false };
    const ended = (): void => {
      if (connection.isEnded) return;
      connection.isEnded = true;
      this.#stopListening = undefined;
      this.#listening = undefined;
      void this.#listenLater();
    };
    try {
      const stop = await this.#session.listen(this.#channel, (text) => this.#dispatch(text), ended);
      if (connection.isEnded) return false;
      this.#stopListening = stop;
      this.#ringAll();
      return true;
    } catch {
      ended();
      return false;
    }
  }

  async #listenLater(): Promise<void> {
    if (this.#isClosed) return;
    await sleep(AGAIN_MS);
    if (this.#heard.size > 0) await this.ready();
  }

  /** Rings for all subjects, because changes before the connection caused no notification. */
  #ringAll(): void {
    for (const [key, all] of this.#heard)
      if (!key.startsWith("t")) for (const heard of all) heard("");
  }
}
