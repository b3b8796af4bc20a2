import { definePlugin, Tokens, type DashboardPanel } from "agentensemble";
import { expect } from "chai";
import type {
  PanelBody,
  PanelListBody,
} from "../../../../src/plugins/dashboard/protocol/control-bodies.js";
import type { ErrorBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import { Boards } from "./boards.js";
import { ask, askJson } from "./client.js";

const KEY = "sk-proj-0123456789abcdefghijklmnopqrstuv";

const PANELS: readonly DashboardPanel[] = [
  {
    name: "rows",
    title: "Rows",
    view: "table",
    read: (runId) => [{ runId, note: KEY, password: "x" }],
  },
  { name: "text", title: "Text", view: "markdown", read: () => Promise.resolve("# Hello") },
  { name: "odd", title: "Odd", view: "json", read: () => ({ at: new Date(0), big: 1n }) },
  { name: "no-text", title: "No text", view: "markdown", read: () => 7 },
  { name: "no-rows", title: "No rows", view: "table", read: () => "none" },
  {
    name: "broken",
    title: "Broken",
    view: "json",
    read: () => Promise.reject(new Error("the service is away")),
  },
];

describe("the panels of a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("are checked when the kernel starts", async () => {
    const whole: DashboardPanel = { name: "a", title: "A", view: "json", read: () => 1 };
    for (const [wrong, words] of [
      [{ ...whole, name: "a/b" }, "letters, digits"],
      [{ ...whole, title: " " }, "title"],
      [{ ...whole, view: undefined }, "view"],
      [{ ...whole, read: undefined }, "read"],
      [{ ...whole, render: () => 1 }, "render"],
    ] as const) {
      let message = "";
      const run = withPanels({}, [wrong as unknown as DashboardPanel]);
      await run.catch((error: unknown) => (message = String(error)));
      expect(message).to.include("dashboard panel").and.include(words);
    }
  });

  /** Runs a team whose kernel has the panels. */
  async function withPanels(
    o: { readonly contents?: boolean } = {},
    panels = PANELS,
  ): Promise<{ readonly url: string; readonly runId: string }> {
    const { board, url } = await boards.listening(o);
    const plugin = definePlugin({
      name: "panels",
      bind: (bind) => {
        for (const panel of panels) bind.many(Tokens.DashboardPanel).toConstantValue(panel);
      },
    });
    const { runId } = await boards.ensemble(boards.kernel(board, plugin)).run();
    return { url, runId };
  }

  it("show a plugin's data of a run without secrets", async () => {
    const { url, runId } = await withPanels();
    const { panels } = await askJson<PanelListBody>(url, "/api/panels");
    expect(panels[0]).to.deep.equal({ name: "rows", title: "Rows", view: "table" });
    const rows = await askJson<PanelBody>(url, `/api/panels/rows?run=${runId}`);
    const [row] = rows.data as readonly Readonly<Record<string, string>>[];
    expect(row).to.include({ runId });
    expect(row?.["note"]).to.not.include(KEY);
    expect(row?.["password"]).to.not.equal("x");
    const text = await askJson<PanelBody>(url, `/api/panels/text?run=${runId}`);
    expect(text).to.include({ view: "markdown", data: "# Hello" });
    const odd = await askJson<PanelBody>(url, `/api/panels/odd?run=${runId}`);
    expect(odd.data).to.have.property("at", "1970-01-01T00:00:00.000Z");
  });

  it("are refused for unknown names and runs, and for invalid results of a plugin", async () => {
    const { url, runId } = await withPanels();
    for (const [path, status, error] of [
      [`/api/panels/none?run=${runId}`, 404, "PANEL_NOT_FOUND"],
      ["/api/panels/rows?run=none", 404, "RUN_NOT_FOUND"],
      ["/api/panels/rows", 404, "RUN_NOT_FOUND"],
      [`/api/panels/broken?run=${runId}`, 502, "PANEL_FAILED"],
      [`/api/panels/no-text?run=${runId}`, 502, "PANEL_FAILED"],
      [`/api/panels/no-rows?run=${runId}`, 502, "PANEL_FAILED"],
    ] as const) {
      const answer = await ask(url, path);
      expect([answer.status, (JSON.parse(answer.text) as ErrorBody).error], path).to.deep.equal([
        status,
        error,
      ]);
    }
  });

  it("are not available with contents: false", async () => {
    const { url, runId } = await withPanels({ contents: false });
    expect(await askJson(url, "/api/panels")).to.deep.equal({ panels: [] });
    expect((await ask(url, `/api/panels/text?run=${runId}`)).status).to.equal(404);
  });

  it("prevent the start of a kernel if they can't be shown", async () => {
    for (const panel of [
      { ...PANELS[0], name: " " },
      { ...PANELS[0], title: "" },
      { ...PANELS[0], view: "chart" },
    ]) {
      const error: unknown = await withPanels({}, [panel as DashboardPanel]).catch(
        (e: unknown) => e,
      );
      expect(String(error)).to.match(/panel/);
    }
  });
});
