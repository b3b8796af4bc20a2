import type { HttpRoute } from "../../../contracts/http-route.js";
import type { Board } from "../board.js";
import type { ExportForm } from "../protocol/http-bodies.js";
import type { ReadableRun } from "../stores/board-runs.js";
import type { BoardExchange } from "./answers.js";
import { requireOneOf } from "../../../contracts/validation.js";
import { badRequest, notFoundRefusal } from "../../shared/http/http-refusal.js";
import { conversationText } from "../exports/conversation-text.js";
import { planText } from "../exports/plan-text.js";
import { taskTable } from "../exports/task-table.js";
import { entriesOf, readWhole, type WholeRun } from "../stores/whole-run.js";
import { boardRoute, boardText } from "./answers.js";
import { attachmentOf, foundRun } from "./found-run.js";

/** Number of characters after which lines are sent. */
const BATCH_LENGTH = 64 * 1024;

/** The conversion of a run to a file. */
interface FileForm {
  readonly ending: string;
  readonly type: string;
  /** Converts the run to a text. Absent for the log, which is sent entry by entry. */
  readonly text?: (run: WholeRun, taskId: string | undefined) => string;
}

const FORMS: Readonly<Record<ExportForm, FileForm>> = {
  log: { ending: "log.jsonl", type: "application/x-ndjson" },
  csv: { ending: "csv", type: "text/csv; charset=utf-8", text: taskTable },
  mermaid: {
    ending: "mmd",
    type: "text/plain; charset=utf-8",
    text: ({ view }) => planText(view.dag),
  },
  markdown: {
    ending: "md",
    type: "text/markdown; charset=utf-8",
    text: conversationText,
  },
};

/** Returns the routes that export a run as a file. */
export function exportRoutes(board: Board): readonly HttpRoute[] {
  return [
    boardRoute("GET", "/api/runs/{runId}/export", "viewer", (asked) => exportRun(board, asked)),
  ];
}

async function exportRun(board: Board, asked: BoardExchange): Promise<Response> {
  const { query, request, principal } = asked;
  const as = query.get("as");
  requireOneOf("as", as, Object.keys(FORMS));
  const form = FORMS[as as ExportForm]; // one of them
  const run = await foundRun(board, asked);
  const { runId } = run.summary;
  const taskId = query.get("task") ?? undefined;
  if (taskId !== undefined && as !== "markdown")
    throw badRequest("task is for as=markdown only: other files have all tasks");
  if (taskId !== undefined && run.numbersOf(taskId).length === 0)
    throw notFoundRefusal("TASK_NOT_FOUND", "The run has no entry of this task");
  board.audit.add({ user: principal.name, action: "export", subject: runId, detail: as ?? "" });
  const headers = { ...attachmentOf(runId, form.ending), "Content-Type": form.type };
  if (form.text === undefined) return new Response(logLines(run), { headers });
  return boardText(form.text(await readWhole(run), taskId), request, headers);
}

/** Returns one line per entry, at the pace of the client. */
function logLines(run: ReadableRun): ReadableStream<Uint8Array> {
  const entries = entriesOf(run);
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let text = "";
        while (text.length < BATCH_LENGTH) {
          const next = await entries.next();
          if (next.done === true) {
            if (text !== "") controller.enqueue(encoder.encode(text));
            return controller.close();
          }
          text += `${JSON.stringify(next.value)}\n`;
        }
        controller.enqueue(encoder.encode(text));
      },
    },
    { highWaterMark: 0 },
  );
}
