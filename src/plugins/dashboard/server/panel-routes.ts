import type { DashboardPanel } from "../../../contracts/dashboard-panel.js";
import type { HttpRoute } from "../../../contracts/http-route.js";
import type { Board } from "../board.js";
import type { PanelBody, PanelInfo, PanelListBody } from "../protocol/control-bodies.js";
import type { BoardExchange } from "./answers.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";
import { HttpRefusal, notFoundRefusal } from "../../shared/http/http-refusal.js";
import { boardJson, boardRoute } from "./answers.js";
import { runOfId } from "./found-run.js";

/** Time limit of a plugin for a view, in milliseconds. */
const READ_MS = 20_000;

/** Returns the routes of the views that plugins contribute. */
export function panelRoutes(board: Board): readonly HttpRoute[] {
  return [
    boardRoute("GET", "/api/panels", "viewer", ({ request }) => {
      const body: PanelListBody = { panels: board.panels.map(infoOf) };
      return boardJson(JSON.stringify(body), request);
    }),
    boardRoute("GET", "/api/panels/{name}", "viewer", (asked) => answerPanel(board, asked)),
  ];
}

function infoOf({ name, title, view }: DashboardPanel): PanelInfo {
  return { name, title, view };
}

async function answerPanel(board: Board, asked: BoardExchange): Promise<Response> {
  const { parameters, query, request } = asked;
  const panel = board.panels.find(({ name }) => name === parameters["name"]);
  if (panel === undefined) throw notFoundRefusal("PANEL_NOT_FOUND", "There is no such panel");
  const { summary } = await runOfId(board, query.get("run") ?? "");
  const data = board.shownValue(await readPanel(panel, summary.runId), { hidesFields: true });
  if (panel.view === "markdown" && typeof data !== "string") throw panelFailed("no text");
  if (panel.view === "table" && !Array.isArray(data)) throw panelFailed("no list of rows");
  const body: PanelBody = { ...infoOf(panel), data };
  return boardJson(JSON.stringify(body), request);
}

/** @throws HttpRefusal 502 */
async function readPanel(panel: DashboardPanel, runId: string): Promise<unknown> {
  try {
    const late = (): never => {
      throw new Error(`no answer within ${READ_MS} ms`);
    };
    return await withTimeout(async () => panel.read(runId), { ms: READ_MS, late });
  } catch (error) {
    throw panelFailed(messageOf(error));
  }
}

function panelFailed(reason: string): HttpRefusal {
  return new HttpRefusal(502, "PANEL_FAILED", `The plugin of the panel failed: ${reason}`);
}
