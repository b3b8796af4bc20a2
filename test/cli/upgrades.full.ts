import { expect } from "chai";
import { needPostgres } from "../support/postgres.js";
import { until } from "../support/time.js";
import { executedIn, Press, program, THIRD } from "./press.js";

describe("workers of two versions", function () {
  this.timeout(120_000);
  const press = new Press();
  before(async function () {
    await needPostgres(this);
    await press.open();
  });
  afterEach(() => press.rest());
  after(() => press.close());

  it("finish requests that a stopped older worker returned to the queue", async () => {
    const project = press.project();
    project.write("newer.mjs", program(THIRD));
    const older = press.startWorker(project);
    await press.submit(project, "report", "--run-id", "two");
    await until(() => executedIn(project).includes("second"), undefined, 60_000);
    older.child.kill("SIGTERM");
    expect((await older.ended).code).to.equal(0);
    project.write("go", "");
    press.startWorker(project, "newer.mjs");
    const { code, stdout } = await press.submit(
      project,
      "report",
      "--run-id",
      "two",
      "--wait",
      "--json",
    );
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.include({ result: "one and two and three", attempt: 1 });
    expect(executedIn(project)).to.deep.equal(["first", "second", "second"]);
  });
});
