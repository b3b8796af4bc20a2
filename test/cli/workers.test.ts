import { expect } from "chai";
import { postgres } from "agentensemble/network/postgres";
import { needPostgres } from "../support/postgres.js";
import { until } from "../support/time.js";
import { executedIn, Press, program } from "./press.js";

describe("workers", function () {
  this.timeout(120_000);
  const press = new Press();
  before(async function () {
    await needPostgres(this);
    await press.open();
  });
  afterEach(() => press.rest());
  after(() => press.close());

  it("execute requests submitted before they started, and continue the run of a killed worker", async () => {
    const project = press.project();
    const submitted = await press.submit(project, "report", "--run-id", "one");
    expect([submitted.code, submitted.stdout.trim()]).to.deep.equal([0, "one"]);
    const killed = press.startWorker(project);
    await until(() => executedIn(project).includes("second"), undefined, 60_000);
    killed.child.kill("SIGKILL");
    await killed.ended;
    press.startWorker(project);
    const waiting = press.submit(project, "report", "--run-id", "one", "--wait");
    await until(() => executedIn(project).length === 3, undefined, 60_000);
    project.write("go", "");
    const { code, stdout, stderr } = await waiting;
    expect([code, stdout.trim()]).to.deep.equal([0, "one and two"]);
    expect(stderr).to.match(/^Run one submitted to report$/m);
    expect(stderr).to.match(/done {2}second \(code\): [\d.]+ (s|ms|min)/);
    expect(executedIn(project)).to.deep.equal(["first", "second", "second"]);
    const shown = await project.run(["runs", "show", "one", "--json"], press.env);
    expect((JSON.parse(shown.stdout) as { run: object }).run).to.include({ status: "completed" });
    const { stdout: depth } = await project.run(["queue", "ls", "report", "--store", press.store]);
    expect(depth.trim()).to.equal("report: 0 queued, 0 leased, 0 dead");
  });

  it("end a run that is cancelled from another process", async () => {
    const project = press.project();
    press.startWorker(project);
    await press.submit(project, "report", "--run-id", "three");
    await until(() => executedIn(project).includes("second"), undefined, 60_000);
    const waiting = press.submit(project, "report", "--run-id", "three", "--wait", "--json");
    const cancelled = await project.run(["queue", "cancel", "report", "three"], press.env);
    expect(cancelled.code).to.equal(0);
    const { code, stdout } = await waiting;
    expect([code, (JSON.parse(stdout) as { status: string }).status]).to.deep.equal([
      ...[1, "CANCELLED"],
    ]);
    const again = await project.run(["queue", "cancel", "report", "three"], press.env);
    expect([again.code, again.stderr.includes("has ended, or is unknown")]).to.deep.equal([
      ...[2, true],
    ]);
  });

  it("receive requests with the priority of the command, else with the priority of the program's queue", async () => {
    const project = press.project();
    const queues = 'queues: { report: { priority: "HIGH" } }, ensembles: {';
    project.write("press.mjs", program().replace("ensembles: {", queues));
    await press.submit(project, "report", "--run-id", "p1");
    await press.submit(project, "report", "--run-id", "p2", "--priority", "critical");
    await press.submit(project, "greeting", "--run-id", "p3", "--input", "name=Ada");
    const backend = postgres({ url: press.store });
    try {
      const now = { timeoutMs: 0, leaseMs: 60_000 };
      for (const [queue, id, priority] of [
        ["report", "p2", "CRITICAL"],
        ["report", "p1", "HIGH"],
        ["greeting", "p3", undefined],
      ] as const) {
        const lease = await backend.queue.dequeue(queue, now);
        expect([lease?.request.requestId, lease?.request.priority]).to.deep.equal([id, priority]);
        if (lease !== undefined) await backend.queue.acknowledge(lease);
      }
    } finally {
      await backend.close();
    }
  });

  it("are refused without a shared store, and submissions without a known ensemble", async () => {
    const project = press.project();
    project.write(
      "odd.mjs",
      'import { Ensemble } from "agentensemble"; export default { one: new Ensemble({ name: "two" }) };',
    );
    const cases: readonly (readonly [args: readonly string[], text: string])[] = [
      [["worker", "press.mjs"], "none was given"],
      [["worker", "press.mjs", "--store", "file:x"], "one process at a time"],
      [["worker", "press.mjs", "--store", "mysql://x"], "got: mysql:"],
      [
        ["worker", "press.mjs", "--lease", "2", "--store", press.store],
        "--lease must be a duration",
      ],
      [["worker", "odd.mjs", "--store", press.store], "has the name two"],
      [["submit", "press.mjs", "--store", press.store], "has several ensembles"],
      [["submit", "press.mjs", "raport", "--store", press.store], "no ensemble with the name"],
      [["serve", "press.mjs", "--durable"], "--durable needs a --store"],
      [["queue", "cancel", "report", "x"], "needs --store"],
    ];
    const ends = await Promise.all(
      cases.map(async ([args, text]) => {
        const { code, stderr } = await project.run(args, { AGENTENSEMBLE_STORE: "" });
        return [args.join(" "), code, stderr.includes(text) ? text : stderr];
      }),
    );
    expect(ends).to.deep.equal(cases.map(([args, text]) => [args.join(" "), 2, text]));
  });
});
