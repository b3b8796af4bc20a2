import { Agent, Ensemble, Task, tool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import type { Dag } from "../../../../src/contracts/dag.js";
import { planText } from "../../../../src/plugins/dashboard/exports/plan-text.js";
import { Boards } from "./boards.js";
import { ask, askJson, fromPage } from "./client.js";

const KEY = "sk-proj-0123456789abcdefghijklmnopqrstuv";

/** Runs a team with a tool, a formula and a key in its texts. */
async function runOf(
  boards: Boards,
  o: { readonly contents?: boolean } = {},
): Promise<{ readonly url: string; readonly runId: string }> {
  const { board, url } = await boards.listening(o);
  const look = tool({
    name: "look",
    description: "Looks",
    input: z.object({ at: z.string() }),
    execute: () => `seen ${KEY}`,
  });
  const team = new Ensemble({
    name: "team",
    kernel: boards.kernel(board),
    model: new ScriptedModel([
      { toolCalls: [{ name: "look", arguments: { at: "the sky" } }] },
      "A ```fence``` in it",
    ]),
    tasks: [
      new Task({
        name: "watch",
        description: "=1+1 a 'bird', \"now\"",
        tools: [look],
        agent: new Agent({ role: "Watcher", goal: "See" }),
      }),
      new Task({ name: "break", description: "Break", handler: () => "whole" }),
    ],
  });
  return { url, runId: (await team.run()).runId };
}

describe("the files of a run", () => {
  const boards = new Boards();
  afterEach(() => boards.end());

  it("include its log, with one entry per line", async () => {
    const { url, runId } = await runOf(boards);
    const { headers, text } = await ask(url, `/api/runs/${runId}/export?as=log`);
    expect(headers["content-type"]).to.equal("application/x-ndjson");
    expect(headers["content-disposition"]).to.equal(`attachment; filename="${runId}.log.jsonl"`);
    const lines = text.trimEnd().split("\n");
    const entries = lines.map((line) => JSON.parse(line) as { n: number; type: string });
    expect(entries.map(({ n }) => n)).to.deep.equal(Array.from(entries.keys()));
    expect(entries.at(-1)?.type).to.equal("ensemble_completed");
    expect(text).to.include("the sky").and.not.include(KEY);
  });

  it("are its tasks as a table without formulas", async () => {
    const { url, runId } = await runOf(boards);
    const { text } = await ask(url, `/api/runs/${runId}/export?as=csv`);
    const [head = "", first = "", second = ""] = text.split("\r\n");
    expect(head).to.match(/^task,description,agent,model,state,/);
    expect(first).to.match(/^watch,"'=1\+1 a 'bird', ""now""",Watcher,/);
    expect(second).to.match(/^break,/);
  });

  it("are its plan as a flowchart", async () => {
    const { url, runId } = await runOf(boards);
    const { text } = await ask(url, `/api/runs/${runId}/export?as=mermaid`);
    expect(text).to.match(/^flowchart TD\n/);
    expect(text)
      .to.include("watch")
      .and.match(/n1 -.-> n2/);
  });

  it("include the conversation of one task, or of all tasks", async () => {
    const { url, runId } = await runOf(boards);
    const path = `/api/runs/${runId}/export?as=markdown`;
    const one = (await ask(url, `${path}&task=watch`)).text;
    expect(one).to.include("## watch").and.include("### Tool call look").and.not.include(KEY);
    expect(one).to.include("````text\nA ```fence``` in it\n````").and.not.include("## break");
    expect((await ask(url, path)).text)
      .to.include("## watch")
      .and.include("## break");
    expect(await askJson(url, `${path}&task=none`)).to.include({ error: "TASK_NOT_FOUND" });
  });

  it("are recorded in the audit, and refused in other forms", async () => {
    const { url, runId } = await runOf(boards);
    await ask(url, `/api/runs/${runId}/export?as=csv`);
    const { entries } = await askJson<{ entries: readonly object[] }>(url, "/api/audit");
    expect(entries[0]).to.include({ action: "export", subject: runId, detail: "csv" });
    for (const query of ["", "?as=pdf", "?as=__proto__", "?as=csv&task=watch"])
      expect((await ask(url, `/api/runs/${runId}/export${query}`)).status, query).to.equal(400);
    const o = { method: "POST", headers: fromPage(url), body: "{}" };
    expect((await ask(url, `/api/runs/${runId}/export`, o)).status).to.equal(405);
  });

  it("contain no texts of the run with contents: false", async () => {
    const { url, runId } = await runOf(boards, { contents: false });
    for (const form of ["log", "csv", "mermaid", "markdown"]) {
      const { status, text } = await ask(url, `/api/runs/${runId}/export?as=${form}`);
      expect(status).to.equal(200);
      for (const word of ["the sky", "fence", "1+1", "bird", "whole"])
        expect(text, form).to.not.include(word);
    }
  });
});

describe("a plan as a flowchart", () => {
  const dagOf = async (team: Ensemble): Promise<Dag> => {
    const dag = team.toDag();
    await team.dispose();
    return dag;
  };
  const hand = (name: string, context: readonly Task[] = []): Task =>
    new Task({ name, description: name, handler: () => name, context });

  it("has a box for each phase and loop, and the transitions of a graph", async () => {
    const { Graph, Loop, Phase } = await import("agentensemble");
    const [a, b] = [hand("a"), hand("b")];
    const one = new Phase({ name: "one", tasks: [a] });
    const two = new Phase({ name: "two", tasks: [b], after: [one] });
    const phases = await dagOf(new Ensemble({ phases: [one, two] }));
    expect(planText(phases)).to.include('["phase one"]').and.include("-.->");
    const loops = await dagOf(
      new Ensemble({ loops: [new Loop({ name: "again", tasks: [hand("c")], maxIterations: 2 })] }),
    );
    expect(planText(loops)).to.include('["loop again"]').and.include("repeats");
    const graph = await dagOf(
      new Ensemble({
        graph: new Graph({
          name: "g",
          start: "x",
          states: { x: hand("x"), y: hand("y") },
          edges: [
            { from: "x", to: "y", when: () => true, label: 'it is "well"' },
            { from: "y", to: Graph.END },
          ],
        }),
      }),
    );
    expect(planText(graph)).to.include("it is #34;well#34;");
    expect(planText(undefined)).to.equal("flowchart TD\n\n");
  });
});
