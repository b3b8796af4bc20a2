import { join } from "node:path";
import { expect } from "chai";
import type {
  RunListBody,
  RunBody,
} from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { AuditPage } from "../../../../src/contracts/run-store.js";
import { RunStore } from "../../../../src/plugins/dashboard/stores/run-store.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { Boards } from "./boards.js";

async function jsonAt<T>(url: string, path: string): Promise<T> {
  const response = await fetch(new URL(path, url));
  expect(response.status, path).to.equal(200);
  return (await response.json()) as T; // the test looks at it
}

describe("the history of a dashboard", () => {
  const boards = new Boards();

  afterEach(() => boards.end());

  it("lists a run that has just ended, with its last state, totals and sums", async () => {
    const store = RunStore.file(join(temporaryFolder(), "runs"));
    const { board, url } = await boards.listening({ store });
    const ensemble = boards.ensemble(boards.kernel(board));
    for (const customer of ["acme", "other", "acme"])
      await ensemble.run({}, { tags: { customer } });
    const list = await jsonAt<RunListBody>(url, "/api/runs?state=done&tag=customer:acme&limit=1");
    expect(list.total).to.equal(2);
    expect(list.runs[0]).to.include({ state: "done", ensemble: "team" });
    expect(list.sums?.states).to.deep.equal({ done: 2 });
    expect((await jsonAt<RunListBody>(url, "/api/runs?state=running")).total).to.equal(0);
  });

  it("keeps the actions of users across a restart", async () => {
    const folder = join(temporaryFolder(), "runs");
    const first = await boards.listening({ store: RunStore.file(folder) });
    const { runId } = await boards.ensemble(boards.kernel(first.board)).run();
    await jsonAt(first.url, `/api/runs/${runId}/trace`);
    await first.board.close();
    const { url } = await boards.listening({ store: RunStore.file(folder) });
    await jsonAt(url, `/api/runs/${runId}/export?as=csv`).catch(() => undefined); // no JSON
    const { entries } = await jsonAt<AuditPage>(url, "/api/audit");
    expect(entries.map(({ action, subject, detail }) => [action, subject, detail])).to.deep.equal([
      ["export", runId, "csv"],
      ["export", runId, undefined],
    ]);
    expect((await jsonAt<AuditPage>(url, "/api/audit?before=1")).entries).to.have.lengthOf(1);
  });

  it("shows the runs of an earlier dashboard, and the runs that its end interrupted", async () => {
    const folder = join(temporaryFolder(), "runs");
    const first = await boards.listening({ store: RunStore.file(folder) });
    const kernel = boards.kernel(first.board);
    await boards.ensemble(kernel).run({}, { runId: "ended" });
    let go = (): void => undefined;
    const waits = new Promise<string>((resolve) => (go = () => resolve("done")));
    const running = boards.ensemble(kernel, () => waits).run({}, { runId: "at work" });
    await first.board.close();
    const { url } = await boards.listening({ store: RunStore.file(folder) });
    const { runs } = await jsonAt<RunListBody>(url, "/api/runs");
    expect(runs.map(({ runId, state }) => `${runId} ${state}`)).to.have.members([
      "ended done",
      "at work interrupted",
    ]);
    const { summary, snapshot } = await jsonAt<RunBody>(url, "/api/runs/ended");
    expect(summary.state).to.equal("done");
    expect(snapshot.n).to.equal(summary.n);
    go();
    await running;
  });
});
