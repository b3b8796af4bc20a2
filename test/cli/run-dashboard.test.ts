import { expect } from "chai";
import { ProjectFolder, type Started } from "./project-folder.js";

const FILES = {
  "package.json": '{ "type": "module" }',
  "team.mjs": `import { Ensemble, Task } from "agentensemble";
export default new Ensemble({ name: "team", tasks: [new Task({ description: "x", handler: () => "the end" })] });`,
  "reviewed.mjs": `import { Ensemble, Review, Task } from "agentensemble";
export default new Ensemble({ tasks: [new Task({ description: "x", handler: () => "draft", review: Review.required() })] });`,
};

/** The address that a command has printed. */
async function linkOf(started: Started): Promise<string> {
  let text = "";
  started.child.stderr?.on("data", (part: string) => (text += part));
  for (;;) {
    const url = /Dashboard: (http:\/\/127\.0\.0\.1:\d+\/)/.exec(text)?.[1];
    if (url !== undefined) return url;
    await new Promise((resolve) => started.child.stderr?.once("data", resolve));
  }
}

describe("agentensemble run --dashboard", () => {
  let project: ProjectFolder;
  before(() => {
    project = new ProjectFolder(FILES);
  });

  it("prints the link, and accepts the answer to a review there", async () => {
    const started = project.start(["run", "reviewed.mjs", "--dashboard", "0"]);
    const url = await linkOf(started);
    let reviewId: string | undefined;
    while (reviewId === undefined) {
      const answer = await fetch(`${url}api/reviews`);
      const { reviews } = (await answer.json()) as {
        readonly reviews: readonly { readonly reviewId: string }[];
      };
      reviewId = reviews[0]?.reviewId;
    }
    const { status } = await fetch(`${url}api/reviews/${reviewId}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: new URL(url).origin },
      body: '{"decision":"edit","revisedOutput":"better"}',
    });
    expect(status).to.equal(200);
    const { code, stdout } = await started.ended;
    expect(code).to.equal(0);
    expect(stdout).to.equal("better\n");
  });

  it("stays open after the run if requested, until it is interrupted", async () => {
    const started = project.start(["run", "team.mjs", "--dashboard", "0", "--stay"]);
    const url = await linkOf(started);
    await started.said("The dashboard runs");
    const { runs } = (await (await fetch(`${url}api/runs`)).json()) as {
      readonly runs: readonly object[];
    };
    expect(runs[0]).to.include({ ensemble: "team", state: "done" });
    started.child.kill("SIGINT");
    const { code, stdout } = await started.ended;
    expect(code).to.equal(0);
    expect(stdout).to.equal("the end\n");
  });

  it("refuses an invalid port, and --stay without a dashboard, before the file is loaded", async () => {
    for (const [args, message] of [
      [["run", "none.mjs", "--stay"], "--stay needs --dashboard"],
      [["run", "none.mjs", "--dashboard", "65536"], "--dashboard must be a port"],
      [["run", "none.mjs", "--dashboard=team.mjs"], "Write the file before --dashboard"],
    ] as const) {
      const { code, stderr } = await project.start([...args]).ended;
      expect(code).to.equal(2);
      expect(stderr).to.include(message);
    }
  });
});
