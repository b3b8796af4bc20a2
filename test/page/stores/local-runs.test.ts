import { expect } from "chai";
import { createLocalRunsStore, withLocalRuns } from "../../../page/src/stores/local-runs-store.js";
import { recordedLog } from "../../plugins/dashboard/logs.js";
import { TestBrowser } from "./environment.js";

describe("runs of the page from files", () => {
  it("are answered in the page, and all other requests by the program", async () => {
    const local = createLocalRunsStore();
    const log = await recordedLog("parallel");
    local.add("file:a b", log);
    const browser = new TestBrowser();
    browser.answer(/api\/runs\/other/, { is: "other" });
    const env = withLocalRuns(browser.env, local);
    const get = async (path: string): Promise<Record<string, unknown>> =>
      (await (await env.fetch(path, {})).json()) as Record<string, unknown>; // an object by every route
    const run = "/api/runs/file%3Aa%20b";
    const { summary, snapshot, epoch } = await get(run);
    expect(summary).to.include({ runId: "file:a b", state: "done" });
    expect(snapshot).to.include({ v: 1 });
    expect(epoch).to.equal("file");
    const first = await get(`${run}/log?after=-1&limit=3`);
    expect(first).to.include({ next: 2 });
    const rest = await get(`${run}/log?after=2`);
    expect(rest["entries"]).to.have.lengthOf(log.length - 3);
    const id = log.find(({ type }) => type === "task_started")?.taskId ?? "";
    const task = await get(`${run}/tasks/${encodeURIComponent(id)}`);
    expect(task["entries"]).to.have.lengthOf(log.filter(({ taskId }) => taskId === id).length);
    const { rows } = (await get(`${run}/bars?from=0&to=1`)) as { rows: { bars: unknown[] }[] };
    expect(rows).to.have.lengthOf(1);
    expect(rows[0]?.bars.length).to.be.above(2);
    expect(await get(`${run}/actions`)).to.deep.include({ actions: [] });
    const search = `/api/search?run=file%3Aa%20b&q=${encodeURIComponent(id.toUpperCase())}`;
    const { hits } = (await get(search)) as { hits: { taskId: string; where: string }[] };
    expect(hits).to.deep.include.members([{ ...hits[0], taskId: id, where: "name" }]);
    for (const path of [`${run}/tasks/none`, `${run}/trace`])
      expect((await env.fetch(path, {})).status).to.equal(404);
    expect(await get("/api/runs/other")).to.deep.equal({ is: "other" });
    const socket = env.openSocket("/ws", "agentensemble.v1");
    socket.send(JSON.stringify({ type: "subscribe", runId: "file:a b" }));
    socket.send(JSON.stringify({ type: "subscribe", runId: "other" }));
    expect(browser.sockets[0]?.sent).to.deep.equal(['{"type":"subscribe","runId":"other"}']);
  });
});
