import type { Principal } from "../../../contracts/http-route.js";
import type { Fields } from "../../../util/objects.js";
import type { Board } from "../board.js";
import type { ProcessRequest } from "../protocol/report-messages.js";
import { firstEnding } from "../../../util/abort/timeouts.js";
import { userOf } from "../server/board-user.js";
import { withWholeIds } from "./board-process.js";

/** Maximum wait of an answer for the first entry of a started run. */
const ENTRY_MS = 2_000;

/** Returns the user on whose behalf a process acts. */
export function askingPerson(principal: Principal): ProcessRequest["user"] {
  const { owner } = principal;
  return { ...userOf(principal), ...(owner !== undefined && { owner }) };
}

/**
 * Parses the JSON answer of a process, which has the ids of the process.
 * @throws HttpRefusal 502
 */
export function processAnswer(text: string): Fields {
  return withWholeIds(text, (id) => id);
}

/** Waits for a limited time until a run that a process has started is on the board. */
export async function onceOnBoard({ feed }: Pick<Board, "feed">, runId: string): Promise<void> {
  if (feed.get(runId) !== undefined) return;
  let stop = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    stop = feed.listen({ onEntry: (log) => (log.runId === runId ? resolve() : undefined) });
  });
  await firstEnding(begun, { timeoutMs: ENTRY_MS });
  stop();
}
