import { expect } from "chai";
import { Client } from "pg";
import { OpenAIServer } from "../support/openai-server.js";
import type { RecordedRequest } from "../support/openai-server.js";
import { needPostgres, onServer, POSTGRES_URL } from "../support/postgres.js";
import type { CommandEnd } from "./project-folder.js";
import { ProjectFolder } from "./project-folder.js";

const FILES = {
  "package.json": '{ "type": "module" }',
  "team.mjs": `import { Ensemble, Review, Task } from "agentensemble";
const facts = new Task({ name: "facts", description: "Collect facts on {topic}" });
const text = new Task({ name: "text", description: "Write about {topic}", context: [facts], review: Review.of({ timeoutMs: 0 }) });
export default new Ensemble({ name: "desk", model: "openai:gpt-5-mini", tasks: [facts, text] });`,
  "list.mjs": `import { Ensemble, Task } from "agentensemble";
const steps = ["one", "two", "three", "four"].map((n) => new Task({ name: n, description: "Do step " + n }));
export default new Ensemble({ name: "list", model: "openai:gpt-5-mini", workflow: "SEQUENTIAL", tasks: steps });`,
};

/** The subject of a request: the tasks of the teams above have different words. */
const SUBJECTS = [
  "Collect facts",
  "Write about",
  "step one",
  "step two",
  "step three",
  "step four",
];

/** The subject of the task itself; its context may contain others. */
function subjectOf({ body }: RecordedRequest): string {
  const text = JSON.stringify(body["messages"]);
  const place = (subject: string): number => text.lastIndexOf(subject);
  return [...SUBJECTS].sort((a, b) => place(b) - place(a))[0] ?? "";
}

/** The number of requests to the vendor for each subject. */
function asked(vendor: OpenAIServer): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const request of vendor.requests) {
    const subject = subjectOf(request);
    counts[subject] = (counts[subject] ?? 0) + 1;
  }
  return counts;
}

interface RunJson {
  readonly raw: string;
  readonly reviews: readonly { readonly reviewId: string }[];
  readonly resume: string;
  readonly resumed: { readonly execution: number; readonly saved: { readonly llmCalls: number } };
}

function runJsonOf({ stdout }: CommandEnd): RunJson {
  return JSON.parse(stdout) as RunJson; // as the command prints it
}

/**
 * The tests of one kind of store. `died` waits until the process of a run counts as dead, if other
 * processes can't see it.
 */
function durableRuns(
  store: (project: ProjectFolder) => string,
  died: () => Promise<unknown> = () => Promise.resolve(),
): void {
  let project: ProjectFolder;
  let vendor: OpenAIServer;
  let environment: Readonly<Record<string, string>>;

  beforeEach(async () => {
    project = new ProjectFolder(FILES);
    vendor = await OpenAIServer.start();
    environment = {
      OPENAI_API_KEY: "test",
      OPENAI_BASE_URL: vendor.url,
      AGENTENSEMBLE_STORE: store(project),
    };
  });

  afterEach(() => vendor.close());

  it("ends with 75 while a review waits, accepts the answer of another process, and finishes in a third", async () => {
    vendor.reply({ kind: "answer", text: "draft" });
    const line = ["run", "team.mjs", "--input", "topic=otters", "--durable", "--run-id", "r-1"];
    const first = await project.run([...line, "--json"], environment);
    expect(first.code, first.stderr).to.equal(75);
    const [review] = runJsonOf(first).reviews;
    const reviewId = review?.reviewId ?? "";
    const edit = ["reviews", "answer", reviewId, "edit", "--text", "better", "--by", "ana"];
    const second = await project.run([...edit, "--json"], environment);
    expect(second.code, second.stderr).to.equal(0);
    expect(JSON.parse(second.stdout)).to.deep.include({ outcome: "resolved" });

    const third = await project.run([...line, "--json"], environment);
    expect(third.code, third.stderr).to.equal(0);
    const { raw, resumed } = runJsonOf(third);
    expect([raw, resumed.execution, resumed.saved.llmCalls]).to.deep.equal(["better", 2, 2]);
    expect(asked(vendor)).to.deep.equal({ "Collect facts": 1, "Write about": 1 });
  });

  it("continues after kill -9 without requesting a stored answer", async () => {
    vendor.reply((request) =>
      subjectOf(request) === "step three"
        ? { kind: "hang" }
        : { kind: "answer", text: `${subjectOf(request)} is done` },
    );
    const line = ["run", "list.mjs", "--durable", "--run-id", "r-2"];
    const first = project.start(line, environment);
    await vendor.received(3);
    first.child.kill("SIGKILL");
    await first.ended;
    await died();
    vendor.reply((request) => ({ kind: "answer", text: `${subjectOf(request)} is done` }));

    const second = await project.run(line, environment);
    expect(second.code, second.stderr).to.equal(0);
    expect(second.stdout).to.equal("step four is done\n");
    expect(second.stderr).to.include("Answered from the journal: 2 model calls");
    expect(asked(vendor)).to.deep.equal({
      "step one": 1,
      "step two": 1,
      "step three": 2,
      "step four": 1,
    });
  });
}

describe("agentensemble run --durable", () => {
  describe("with runs in a folder", () => {
    durableRuns(({ path }) => `file:${path}/kept`);

    it("prints the id and the command that resumes the run, which finishes it", async () => {
      const vendor = await OpenAIServer.start({ kind: "answer", text: "draft" });
      const project = new ProjectFolder(FILES);
      const environment = { OPENAI_API_KEY: "test", OPENAI_BASE_URL: vendor.url };
      const line = ["run", "team.mjs", "--input", "topic=otters", "--durable", "--tag", "person=ana"]; // prettier-ignore
      const first = await project.run(line, environment);
      expect(first.code, first.stderr).to.equal(75);
      const resume = /agentensemble (runs resume team\.mjs [\w-]+)\n/.exec(first.stderr)?.[1] ?? "";
      const answer =
        /agentensemble (reviews answer [\w-]+ continue)\n/.exec(first.stderr)?.[1] ?? "";
      const second = await project.run(answer.split(" "), environment);
      expect(second.code, second.stderr).to.equal(0);
      const third = await project.run(resume.split(" "), environment);
      expect([third.code, third.stdout], third.stderr).to.deep.equal([0, "draft\n"]);
      const deleted = ["bob", "ana"].map((person) =>
        project.run(["runs", "delete", "--tag", `person=${person}`], environment),
      );
      expect((await Promise.all(deleted)).map(({ stdout }) => stdout)).to.deep.equal([
        "Deleted 0 runs\n",
        "Deleted 1 run\n",
      ]);
      expect(asked(vendor)).to.deep.equal({ "Collect facts": 1, "Write about": 1 });
      await vendor.close();
    });
  });

  describe("with runs in PostgreSQL", () => {
    const database = `ae_cli_${process.pid}`;

    before(async function () {
      await needPostgres(this);
      await onServer(`create database ${database}`);
    });

    after(async () => {
      await onServer(`drop database if exists ${database} with (force)`).catch(() => undefined); // no server
    });

    const address = new URL(POSTGRES_URL);
    address.pathname = `/${database}`;

    async function endLeases(): Promise<void> {
      const client = new Client({ connectionString: address.href });
      await client.connect();
      await client.query("update agentensemble.leases set lease_until = now()");
      await client.end();
    }

    durableRuns(() => address.href, endLeases);
  });
});
