import type { HttpRoute } from "../../../contracts/http-route.js";
import type { Board } from "../board.js";
import { asFields, asText } from "../../../util/objects.js";

/** Refusals whose message is the text of an error of the program, a plugin or a store. */
const OF_PROGRAM: ReadonlySet<string> = new Set([
  "INPUTS_INVALID",
  "NOT_RUNNABLE",
  "NOT_REPLAYABLE",
  "PANEL_FAILED",
  "RUN_IN_USE",
  "STORE_UNAVAILABLE",
]);
const KEPT_BACK = "The text stays in the program, because contents are not shown";

/**
 * Returns a route whose refusals contain no secrets. Without contents, refusals also contain no
 * texts of the program. They then have only their code and the names of the refused inputs.
 */
export function shownRefusals(
  board: Pick<Board, "redacted" | "settings">,
  route: HttpRoute,
): HttpRoute {
  return {
    ...route,
    async handle(...asked) {
      const answer = await route.handle(...asked);
      if (answer.status < 400) return answer;
      const { status, headers } = answer;
      const body = asFields(board.redacted(await answer.json())) ?? {};
      const error = asText(body["error"]);
      if (board.settings.contents || !OF_PROGRAM.has(error))
        return Response.json(body, { status, headers });
      const names = Object.keys(asFields(body["fields"]) ?? {});
      const fields = Object.fromEntries(names.map((name) => [name, "does not fit"]));
      return Response.json(
        { error, message: KEPT_BACK, ...(names.length > 0 && { fields }) },
        { status, headers },
      );
    },
  };
}
