import type { LogEntry } from "../../../src/contracts/run-store.js";
import type { StatusBody } from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import {
  PROTOCOL,
  type BoardUser,
  type HelloFrame,
} from "../../../src/plugins/dashboard/protocol/messages.js";
import type { Environment, Socket } from "../stores/environment.js";
import type { LocalRunsStore } from "../stores/local-runs-store.js";

/** The element of a saved page that contains the run. */
export const SAVED_RUN = "saved-run";

/** The contents of the element, as JSON. */
export interface SavedRun {
  readonly runId: string;
  readonly entries: readonly LogEntry[];
}

const USER: BoardUser = { name: "file", role: "viewer" };

/** The part of a document that is read. */
interface Elements {
  getElementById(id: string): { readonly textContent: string | null } | null;
}

/** Returns the run in a saved page. Returns `undefined` in a page that a program serves. */
export function savedRunIn(document: Elements): SavedRun | undefined {
  const text = document.getElementById(SAVED_RUN)?.textContent;
  // The export wrote it.
  return text === undefined || text === null ? undefined : (JSON.parse(text) as SavedRun);
}

/** Returns the environment of a saved page. There is no program, and no request is made. */
export function savedEnvironment(env: Environment, local: LocalRunsStore): Environment {
  return {
    ...env,
    isSaved: true,
    fetch: (path) => Promise.resolve(answerTo(path, local)),
    openSocket: () => savedSocket(env, local),
  };
}

function answerTo(path: string, { list }: LocalRunsStore): Response {
  const { pathname } = new URL(path, "http://page.invalid");
  const json = (body: unknown, status = 200): Response =>
    new Response(JSON.stringify(body), { status });
  const board = { protocol: PROTOCOL, epoch: "file", clients: 0, runs: list.value.length };
  if (pathname === "/api/status")
    return json({ status: "UP", ...board, user: USER, board } satisfies StatusBody);
  if (pathname === "/api/runs") return json({ runs: list.value, total: list.value.length });
  return json({ error: "NOT_FOUND", message: "This page is a file without a program" }, 404);
}

/** Returns a connection that sends the first frame and answers pings. */
function savedSocket(env: Environment, { list }: LocalRunsStore): Socket {
  const frame = (data: unknown): void => {
    env.later(
      () => socket.onmessage?.(new MessageEvent("message", { data: JSON.stringify(data) })),
      0,
    );
  };
  const socket: Socket = {
    onopen: null,
    onmessage: null,
    onclose: null,
    send: (text) => {
      if (text.includes('"ping"')) frame({ type: "pong" });
    },
    close: () => undefined,
  };
  const hello = (): HelloFrame => ({
    type: "hello",
    protocol: PROTOCOL,
    epoch: "file",
    serverTimeMs: env.now(),
    user: USER,
    runs: list.value,
    reviews: [],
    answered: [],
    conversations: 0,
    services: 0,
  });
  env.later(() => frame(hello()), 0);
  return socket;
}
