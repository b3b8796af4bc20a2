import { readdir } from "node:fs/promises";
import type { AnyTool } from "agentensemble";
import { Agent, ReviewDecision, Task, tool } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import {
  codeEditTool,
  fileWriteTool,
  gitTool,
  httpTool,
  processTool,
  ToolPipeline,
} from "agentensemble/tools";
import { humanInputTool } from "agentensemble/review";
import { expect } from "chai";
import { runToEnd } from "../../support/kernel-fixtures.js";
import { person } from "./fixtures.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

async function told(
  used: AnyTool,
  args: object,
  decision = ReviewDecision.exitEarly(),
): Promise<{ readonly text: unknown; readonly asked: readonly string[] }> {
  const { handler, asked } = person(decision);
  const model = new ScriptedModel([{ toolCalls: [{ name: used.name, arguments: args }] }, "done"]);
  const agent = new Agent({ role: "Clerk", goal: "Do it", tools: [used], model });
  await runToEnd({ tasks: [new Task({ description: "Use it", agent })], reviewHandler: handler });
  const text = model.requests.at(-1)?.messages.findLast(({ role }) => role === "tool")?.content;
  return { text, asked: asked.map(({ taskDescription }) => taskDescription) };
}

describe("approval of the built-in tools", () => {
  let baseDir = "";
  before(() => (baseDir = temporaryFolder()));

  it("reports the refusal of a review in the text of each tool, and does nothing", async () => {
    const named = { name: "use", description: "Uses" };
    const rows: readonly (readonly [AnyTool, object, string])[] = [
      [
        fileWriteTool({ baseDir, requireApproval: true }),
        { path: "a.txt", content: "x" },
        "File write rejected by reviewer: a.txt",
      ],
      [
        codeEditTool({ baseDir, requireApproval: true }),
        { path: "b.txt", command: "write", content: "x" },
        "Edit rejected by reviewer: b.txt",
      ],
      [
        gitTool({ baseDir }),
        { command: "commit", message: "all" },
        "Git operation rejected by reviewer: git commit",
      ],
      [
        processTool({ ...named, command: ["touch", "c"], cwd: baseDir, requireApproval: true }),
        { input: "" },
        "Command execution rejected by reviewer: touch c",
      ],
      [
        httpTool({ ...named, url: "https://example.com/pay", requireApproval: true }),
        { input: "" },
        "HTTP request rejected by reviewer: POST https://example.com/pay",
      ],
    ];
    for (const [used, args, rejection] of rows)
      expect((await told(used, args)).text).to.include(`Error: ${rejection}`);
    expect(await readdir(baseDir)).to.deep.equal([]);
  });

  it("requests reviews of the steps of a pipeline, and uses an edit as the output of a step", async () => {
    const shout = tool({
      name: "shout",
      description: "Shouts",
      requireApproval: true,
      execute: (text) => text.toUpperCase(),
    });
    const { text, asked } = await told(
      new ToolPipeline({
        name: "steps",
        description: "Steps",
        steps: [{ tool: shout }, { tool: shout }],
      }),
      { input: "a" },
      ReviewDecision.continue(),
    );
    expect([text, asked]).to.deep.equal(["A", ["shout a", "shout A"]]);
    const got = tool({ name: "got", description: "Says it", execute: (answer) => `got ${answer}` });
    const human = new ToolPipeline({
      name: "ask",
      description: "Asks",
      steps: [{ tool: humanInputTool() }, { tool: got }],
    });
    expect((await told(human, { question: "Which?" }, ReviewDecision.edit("this"))).text).to.equal(
      "got this",
    );
  });
});
