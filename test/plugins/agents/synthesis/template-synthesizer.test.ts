import { expect } from "chai";
import type { Agent } from "../../../../src/contracts/agent.js";
import type { AgentSynthesizer } from "../../../../src/contracts/executors.js";
import type { Run } from "../../../../src/contracts/run.js";
import { Task } from "../../../../src/contracts/task.js";
import { tool } from "../../../../src/contracts/tool.js";
import { templateSynthesizer } from "../../../../src/plugins/agents/synthesis/template-synthesizer.js";
import { fakeScope, templates } from "../../../support/fake-scope.js";

const synthesizer: AgentSynthesizer = templateSynthesizer();

function synthesize(task: Task, ...contributions: readonly object[]): Agent {
  const scope = fakeScope({ contributions: templates(...contributions) });
  const run = { ...scope, id: "run-1" } as unknown as Run; // the synthesizer reads only `all` of a run
  return synthesizer.synthesize(task, { model: scope.model, run }) as Agent;
}

const TABLE: Readonly<Record<string, string>> = {
  Researcher: "research investigate find discover search",
  Writer: "write draft compose document",
  Creator: "create",
  Generator: "generate",
  Analyst: "analyze analyse evaluate assess compare",
  Reviewer: "review",
  Auditor: "audit",
  Designer: "design",
  Planner: "plan",
  Developer: "build implement develop code program",
  Tester: "test verify",
  Validator: "validate",
  Summarizer: "summarize summarise",
  Translator: "translate",
  Classifier: "classify categorize",
  Extractor: "extract",
  Monitor: "monitor",
  Tracker: "track",
  Collector: "scrape",
  Parser: "parse",
  Converter: "convert",
  Calculator: "calculate compute",
  Formatter: "format",
  Cleaner: "clean",
  Processor: "process",
};

describe("templateSynthesizer", () => {
  for (const [role, verbs] of Object.entries(TABLE)) {
    it(`creates a ${role} for ${verbs}`, () => {
      for (const verb of verbs.split(" "))
        expect(synthesize(Task.of(`${verb} it`)).role).to.equal(role);
    });
  }

  it("calls no model", () => {
    expect(synthesizer.usesModel).to.equal(false);
  });

  it("uses the description as the goal, and creates a background from the role", () => {
    const agent = synthesize(Task.of("Please, WRITE! a poem"));
    expect(agent).to.include({
      role: "Writer",
      goal: "Please, WRITE! a poem",
      background: "An expert Writer with extensive domain knowledge and professional experience.",
      maxIterations: 25,
      model: undefined,
    });
  });

  it("chooses the role by the first known verb among the first eight words", () => {
    expect(synthesize(Task.of("Then review what they write")).role).to.equal("Reviewer");
    expect(synthesize(Task.of("  one two\nthree four five six seven plan it")).role).to.equal(
      "Planner",
    );
    expect(synthesize(Task.of("one two three four five six seven eight plan")).role).to.equal(
      "Agent",
    );
  });

  it("matches complete words only, and no property names of Object", () => {
    expect(synthesize(Task.of("Planning constructor toString")).role).to.equal("Agent");
  });

  it("passes the task's tools and its limit of iterations to the agent", () => {
    const look = tool({ name: "look", description: "Looks", execute: () => "" });
    const agent = synthesize(new Task({ description: "Find it", tools: [look], maxIterations: 3 }));
    expect(agent.tools).to.deep.equal([look]);
    expect(agent.maxIterations).to.equal(3);
  });

  it("uses a contributed text for the background", () => {
    expect(
      synthesize(Task.of("Plan it"), { "synthesis.background": "A {role}." }).background,
    ).to.equal("A Planner.");
  });
});
