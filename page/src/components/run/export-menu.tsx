import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { LogEntry } from "../../../../src/contracts/run-store.js";
import type { EntriesBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import { ApiError } from "../../api.js";
import { errorWords } from "../../lib/api-words.js";
import { graphSvg } from "../../lib/graph-svg.js";
import { runName } from "../../lib/run-words.js";
import { visibleText } from "../../lib/visible-text.js";
import { logText, runPage } from "../../local/run-page.js";
import { useBoard, type Board } from "../../stores/board.js";
import type { OpenRun } from "../../stores/open-run-store.js";
import { Notice } from "../notice.js";

export interface ExportMenuProps {
  readonly run: OpenRun;
  /** The id of the open task. */
  readonly taskId: string | undefined;
}

interface Form {
  readonly title: string;
  readonly ending: string;
  /** Creates the file. @throws ApiError */
  readonly make: (board: Board, props: ExportMenuProps) => Promise<Blob>;
  readonly needsTask?: boolean;
  readonly needsEnd?: boolean;
}

const path = ({ runId }: OpenRun, rest: string): string =>
  `/api/runs/${encodeURIComponent(runId)}/${rest}`;

/** The export formats of a run. */
const FORMS: readonly Form[] = [
  {
    title: "Page to send (HTML)",
    ending: "html",
    make: async ({ api, env }, { run }) =>
      new Blob([await htmlOf({ api, env }, run)], { type: "text/html" }),
  },
  {
    title: "Trace (JSON)",
    ending: "trace.json",
    needsEnd: true,
    make: ({ api }, { run }) => api.file(path(run, "trace")),
  },
  {
    title: "Log (JSON lines)",
    ending: "log.jsonl",
    make: async ({ api }, { run }) => new Blob([logText(await allEntries(api, run))]),
  },
  {
    title: "Conversation of the task (Markdown)",
    ending: "md",
    needsTask: true,
    make: ({ api }, { run, taskId = "" }) =>
      api.file(path(run, `export?as=markdown&task=${encodeURIComponent(taskId)}`)),
  },
  {
    title: "Tasks (CSV)",
    ending: "csv",
    make: ({ api }, { run }) => api.file(path(run, "export?as=csv")),
  },
  {
    title: "Graph (Mermaid)",
    ending: "mmd",
    make: ({ api }, { run }) => api.file(path(run, "export?as=mermaid")),
  },
  {
    title: "Graph (SVG)",
    ending: "svg",
    make: (_, { run }) =>
      Promise.resolve(new Blob([graphSvg(run.view)], { type: "image/svg+xml" })),
  },
];

/** The formats in which a run is saved as a file. */
export function ExportMenu(props: ExportMenuProps): JSX.Element {
  const board = useBoard();
  const { run, taskId } = props;
  const [busy, setBusy] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const save = async ({ title, ending, make }: Form): Promise<void> => {
    setBusy(title);
    setError(undefined);
    try {
      const name = ending === "md" ? `${run.runId}-${taskId}` : run.runId;
      download(await make(board, props), `${fileName(name)}.${ending}`);
    } catch (reason) {
      if (!(reason instanceof ApiError)) throw reason;
      setError(reason);
    } finally {
      setBusy(undefined);
    }
  };
  const isOver = run.view.summary.endedAt !== undefined;
  return (
    <div class="menu" role="group" aria-label="Save the run as">
      {FORMS.map((form) => (
        <button
          key={form.title}
          type="button"
          class="btn bare"
          disabled={
            busy !== undefined ||
            (form.needsTask === true && taskId === undefined) ||
            (form.needsEnd === true && !isOver)
          }
          onClick={() => void save(form)}
        >
          {form.title}
        </button>
      ))}
      <CopyTraceId run={run} />
      {busy !== undefined && <p class="muted">{busy} …</p>}
      {error !== undefined && <Notice kind="failed">{visibleText(errorWords(error))}</Notice>}
    </div>
  );
}

/** Copies the OpenTelemetry id of a run from its trace. */
function CopyTraceId({ run }: Pick<ExportMenuProps, "run">): JSX.Element {
  const { api } = useBoard();
  const [word, setWord] = useState("Copy the OpenTelemetry trace id");
  const copy = async (): Promise<void> => {
    try {
      const { traceId } = await api.get<{ readonly traceId?: unknown }>(path(run, "trace"));
      if (typeof traceId !== "string") return setWord("The run has no OpenTelemetry trace");
      // The text below also shows it.
      await navigator.clipboard.writeText(traceId).catch(() => undefined);
      setWord(`Trace id ${traceId}`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setWord(errorWords(error));
    }
  };
  return (
    <button type="button" class="btn bare" onClick={() => void copy()}>
      {visibleText(word)}
    </button>
  );
}

/** Returns all entries of a run with their texts. */
async function allEntries(api: Board["api"], run: OpenRun): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  for (let after: number | undefined = -1; after !== undefined;) {
    const body: EntriesBody = await api.get(path(run, `log?after=${after}`));
    entries.push(...body.entries);
    after = body.next;
  }
  return entries;
}

async function htmlOf({ api, env }: Pick<Board, "api" | "env">, run: OpenRun): Promise<string> {
  const { files: names } = await api.get<{ readonly files: Readonly<Record<string, string>> }>(
    "/manifest.json",
  );
  const files = new Map<string, string>();
  for (const [address, name] of Object.entries(names))
    if (/\.(?:js|css)$/.test(name))
      files.set(name, await (await env.fetch(address, { method: "GET" })).text());
  const main = [...files.keys()].find((name) => /^app-.*\.js$/.test(name)) ?? "";
  const entries = await allEntries(api, run);
  const title = `${runName(run.view.summary)} ${run.runId}`;
  return runPage({ title, run: { runId: run.runId, entries }, files, main });
}

/** Returns a file name that is valid on every system. */
function fileName(text: string): string {
  return text.replace(/[^\w.-]+/g, "-").slice(0, 80);
}

function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
