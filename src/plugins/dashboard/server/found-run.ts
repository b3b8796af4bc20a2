import type { Board } from "../board.js";
import type { ReadableRun } from "../stores/board-runs.js";
import type { BoardExchange } from "./answers.js";
import { HttpRefusal, notFoundRefusal } from "../../shared/http/http-refusal.js";

/** Returns the run in the path. @throws HttpRefusal 404; RunStoreError */
export function foundRun(
  board: Pick<Board, "runs">,
  { parameters }: Pick<BoardExchange, "parameters">,
): Promise<ReadableRun> {
  return runOfId(board, parameters["runId"] ?? "");
}

/** Returns the run with this id. @throws HttpRefusal 404; RunStoreError */
export async function runOfId({ runs }: Pick<Board, "runs">, runId: string): Promise<ReadableRun> {
  const run = await runs.find(runId);
  if (run === undefined) throw notFoundRefusal("RUN_NOT_FOUND", "There is no such run");
  return run;
}

/**
 * Returns whether a run is in progress, in this process or in another process that writes to the
 * store.
 */
export function goesOn({ ended, summary: { state, exitReason } }: ReadableRun): boolean {
  const isOpen = (state === "running" || state === "waiting") && exitReason !== "SUSPENDED";
  return !ended || isOpen;
}

/** Like `foundRun`, for a run that has ended. @throws HttpRefusal 404, 409; RunStoreError */
export async function endedRun(
  board: Pick<Board, "runs">,
  asked: Pick<BoardExchange, "parameters">,
): Promise<ReadableRun> {
  const run = await foundRun(board, asked);
  if (goesOn(run)) throw new HttpRefusal(409, "RUN_NOT_ENDED", "The run has not ended yet");
  return run;
}

export function noTrace(): HttpRefusal {
  return notFoundRefusal("TRACE_NOT_FOUND", "There is no trace of the run here");
}

/** Returns the headers of a file about a run. */
export function attachmentOf(runId: string, ending: string): Readonly<Record<string, string>> {
  const name = runId.replace(/[^\w.-]/g, "_").slice(0, 100);
  return { "Content-Disposition": `attachment; filename="${name}.${ending}"` };
}
