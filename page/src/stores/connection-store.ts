import { signal, type ReadonlySignal } from "@preact/signals";
import {
  PROTOCOL,
  SUBPROTOCOL,
  type ClientFrame,
  type ServerFrame,
} from "../../../src/plugins/dashboard/protocol/messages.js";
import type { StatusBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { ApiError, type Api } from "../api.js";
import type { ClockStore } from "./clock-store.js";
import type { Environment, Socket } from "./environment.js";
import type { SessionStore } from "./session-store.js";

/**
 * The state of the connection. `lost`: since `sinceMs`, with the next attempt at `retryAtMs`, both
 * by the server's clock. `isBusy`: the program answered that it had too many requests. `ended`: the
 * program reported its end. Attempts continue. `refused`: the token is missing or wrong.
 */
export type LinkState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  | {
      readonly kind: "lost";
      readonly sinceMs: number;
      readonly retryAtMs: number;
      readonly isBusy: boolean;
    }
  | { readonly kind: "ended"; readonly reason: string; readonly sinceMs: number }
  | { readonly kind: "refused"; readonly wrongToken: boolean }
  | { readonly kind: "outdated"; readonly protocol: number };

export interface ConnectionStore {
  readonly state: ReadonlySignal<LinkState>;
  /** Identifies this start of the server. Empty before the first frame. */
  readonly epoch: ReadonlySignal<string>;
  /** Connects. A waiting attempt is made immediately. */
  connect(): void;
  /** Sends a frame. Returns whether the frame was sent. */
  send(frame: ClientFrame): boolean;
  /** Calls `fn` with each frame. Returns a function that ends the subscription. */
  onFrame(fn: (frame: ServerFrame) => void): () => void;
}

const DELAYS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
const NO_ACCESS = 4401;
/**
 * The server sends a frame at least every 15 s. After a longer silence, the connection counts as
 * lost.
 */
const SILENCE_MS = 60_000;

interface Needs {
  readonly env: Environment;
  readonly api: Api;
  readonly session: SessionStore;
  readonly clock: ClockStore;
}

export function createConnectionStore(needs: Needs): ConnectionStore {
  return new Connection(needs);
}

class Connection implements ConnectionStore {
  readonly state = signal<LinkState>({ kind: "connecting" });
  readonly epoch = signal("");
  readonly #needs: Needs;
  readonly #listeners = new Set<(frame: ServerFrame) => void>();
  #socket: Socket | undefined;
  #cancelRetry: () => void = () => undefined;
  #cancelSilence: () => void = () => undefined;
  #failures = 0;
  /** Counts attempts: a late answer of an earlier attempt has no effect. */
  #attempt = 0;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  connect(): void {
    this.#cancelRetry();
    this.#drop();
    void this.#open(++this.#attempt);
  }

  send(frame: ClientFrame): boolean {
    if (this.#socket === undefined || this.state.value.kind !== "live") return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  onFrame(fn: (frame: ServerFrame) => void): () => void {
    this.#listeners.add(fn);
    return () => this.#listeners.delete(fn);
  }

  /** Requests the status first: its answer shows whether a token is required. */
  async #open(attempt: number): Promise<void> {
    const { api, env, session } = this.#needs;
    try {
      const { protocol, user } = await api.get<StatusBody>("/api/status");
      if (attempt !== this.#attempt) return;
      session.setUser(user);
      if (protocol !== PROTOCOL) {
        this.state.value = { kind: "outdated", protocol };
        return;
      }
    } catch (error) {
      if (attempt !== this.#attempt) return;
      if (error instanceof ApiError && (error.status === 401 || error.status === 403))
        this.#refuse();
      else this.#retry(error instanceof ApiError && error.status === 429);
      return;
    }
    const socket = env.openSocket("/ws", SUBPROTOCOL);
    this.#socket = socket;
    socket.onopen = () => {
      const token = session.token.value;
      if (token !== undefined) socket.send(JSON.stringify({ type: "auth", token }));
    };
    socket.onmessage = ({ data }) => this.#take(data);
    socket.onclose = ({ code }) => {
      if (attempt !== this.#attempt) return;
      this.#drop();
      if (code === NO_ACCESS) this.#refuse();
      else this.#retry();
    };
  }

  #take(data: unknown): void {
    this.#awaitFrame();
    const frame = JSON.parse(String(data)) as ServerFrame; // of the server of this page
    if (frame.type === "hello") {
      this.#failures = 0;
      this.#needs.clock.adjust(frame.serverTimeMs);
      this.#needs.session.setUser(frame.user);
      this.epoch.value = frame.epoch;
      this.state.value = { kind: "live" };
    } else if (frame.type === "heartbeat") this.#needs.clock.adjust(frame.serverTimeMs);
    else if (frame.type === "closing")
      this.state.value = {
        kind: "ended",
        reason: frame.reason,
        sinceMs: this.#needs.clock.now(),
      };
    for (const listener of [...this.#listeners]) listener(frame);
  }

  /** Closes the connection if no further frame arrives in time. */
  #awaitFrame(): void {
    this.#cancelSilence();
    this.#cancelSilence = this.#needs.env.later(() => {
      this.#attempt++;
      this.#drop();
      this.#retry();
    }, SILENCE_MS);
  }

  #refuse(): void {
    const { session } = this.#needs;
    this.state.value = { kind: "refused", wrongToken: session.token.value !== undefined };
    session.setToken(undefined);
  }

  /** Tries again after 0.5 to 15 s, with a random deviation of up to a quarter. */
  #retry(isBusy = false): void {
    const { env, clock } = this.#needs;
    const delay = DELAYS_MS[Math.min(this.#failures++, DELAYS_MS.length - 1)] ?? 0;
    const wait = Math.round(delay * (0.75 + env.random() / 2));
    const now = clock.now();
    const present = this.state.value;
    if (present.kind !== "ended")
      this.state.value = {
        kind: "lost",
        sinceMs: present.kind === "lost" ? present.sinceMs : now,
        retryAtMs: now + wait,
        isBusy,
      };
    this.#cancelRetry = env.later(() => this.connect(), wait);
  }

  #drop(): void {
    this.#cancelSilence();
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket === undefined) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }
}
