import { signal, type ReadonlySignal } from "@preact/signals";
import type { LogEntry, RunSummary } from "../../../src/contracts/run-store.js";
import type {
  BarsBody,
  EntriesBody,
  ErrorBody,
  RunActionsBody,
  RunBody,
} from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import {
  createRunState,
  type NumberedReducer,
} from "../../../src/plugins/dashboard/protocol/run-state.js";
import { TextSearch } from "../../../src/plugins/dashboard/protocol/text-search.js";
import { decoded } from "../lib/route.js";
import type { Environment, Socket } from "./environment.js";

/** Runs from files. The files do not leave the browser. */
export interface LocalRunsStore {
  /** The runs, newest first. */
  readonly list: ReadonlySignal<readonly RunSummary[]>;
  has(runId: string): boolean;
  /** Adds a run. Replaces a run with the same id. */
  add(runId: string, entries: readonly LogEntry[]): void;
  /**
   * Returns the answer to a request about one of these runs. Returns `undefined` for all other
   * requests.
   */
  answer(path: string): Response | undefined;
}

interface LocalRun {
  readonly state: NumberedReducer;
  readonly entries: readonly LogEntry[];
}

const MOST_ENTRIES = 1_000;

export function createLocalRunsStore(): LocalRunsStore {
  const runs = signal<ReadonlyMap<string, LocalRun>>(new Map());
  const list = signal<readonly RunSummary[]>([]);
  return {
    list,
    has: (runId) => runs.value.has(runId),
    add: (runId, entries) => {
      const state = createRunState({ maxBarTasks: Number.POSITIVE_INFINITY });
      for (const entry of entries)
        state.apply(entry.type === "ensemble_started" ? { ...entry, runId } : entry);
      runs.value = new Map([...runs.value, [runId, { state, entries }]]);
      list.value = [...runs.value.values()]
        .map((run) => run.state.view.summary)
        .sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
    },
    answer: (path) => {
      const url = new URL(path, "http://page.invalid");
      const [, id = "", rest = ""] = /^\/api\/runs\/([^/]+)(?:\/(.*))?$/.exec(url.pathname) ?? [];
      const isSearch = url.pathname === "/api/search";
      const runId = isSearch ? (url.searchParams.get("run") ?? "") : decoded(id);
      const run = runs.value.get(runId);
      if (run === undefined) return undefined;
      return answerOf(runId, run, { rest: isSearch ? "search" : rest, query: url.searchParams });
    },
  };
}

/** Returns the environment of a page with runs from files. It answers requests about these runs. */
export function withLocalRuns(env: Environment, local: LocalRunsStore): Environment {
  return {
    ...env,
    fetch: async (path, init) => local.answer(path) ?? env.fetch(path, init),
    openSocket: (path, protocol) => {
      const socket: Socket = env.openSocket(path, protocol);
      const send = socket.send.bind(socket);
      socket.send = (text) => {
        const { runId } = JSON.parse(text) as { readonly runId?: string }; // a frame of this page
        if (runId === undefined || !local.has(runId)) send(text);
      };
      return socket;
    },
  };
}

interface Asked {
  /** The rest of the path, after the id. */
  readonly rest: string;
  readonly query: URLSearchParams;
}

function answerOf(runId: string, { state, entries }: LocalRun, asked: Asked): Response {
  const { rest, query } = asked;
  const [kind = "", ...ids] = rest.split("/");
  if (rest === "") {
    const { summary } = state.view;
    return json({ summary, snapshot: state.snapshot(), epoch: "file" } satisfies RunBody);
  }
  if (rest === "log") return entriesAnswer(entries, query);
  if (rest === "search") {
    const search = new TextSearch(query.get("q") ?? "");
    entries.some((entry) => search.isFull(runId, entry));
    return json(search.body());
  }
  if (rest === "bars") return json(barsOf(state, query));
  if (rest === "actions")
    return json({ runId, actions: [], answers: [], doubts: [] } satisfies RunActionsBody);
  if (kind === "tasks") {
    const taskId = decoded(ids.join("/"));
    const own = entries.filter((entry) => entry.taskId === taskId);
    if (own.length > 0) return entriesAnswer(own, query);
  }
  const body: ErrorBody = {
    error: "NOT_FOUND",
    message: "This run is a file that was opened in the page; the program does not have it",
  };
  return json(body, 404);
}

function entriesAnswer(entries: readonly LogEntry[], query: URLSearchParams): Response {
  const after = Number(query.get("after") ?? -1);
  const limit = Number(query.get("limit") ?? MOST_ENTRIES);
  const rest = entries.filter(({ n }) => n > after);
  const page = rest.slice(0, limit);
  const next = rest.length > limit ? page.at(-1)?.n : undefined;
  return json({ entries: page, ...(next !== undefined && { next }) } satisfies EntriesBody);
}

function barsOf({ view }: NumberedReducer, query: URLSearchParams): BarsBody {
  const [from, to] = [Number(query.get("from") ?? 0), Number(query.get("to") ?? view.tasks.size)];
  return {
    rows: [...view.tasks.values()].slice(from, to).map(({ id, bars }) => ({
      taskId: id,
      bars: bars.flatMap(({ kind, startMs, endMs }) => [kind, startMs, endMs ?? null]),
    })),
  };
}

function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json" },
  });
}
