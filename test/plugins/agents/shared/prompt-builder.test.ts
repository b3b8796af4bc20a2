import { expect } from "chai";
import { Agent } from "../../../../src/contracts/agent.js";
import { Task } from "../../../../src/contracts/task.js";
import {
  buildSystemPrompt,
  buildUserPrompt,
} from "../../../../src/plugins/agents/shared/prompt-builder.js";
import { PromptLibrary } from "../../../../src/plugins/shared/prompts/prompt-library.js";
import { AGENT_TEMPLATES } from "../../../../src/plugins/agents/shared/agent-prompts.js";
import { fakeOutput, taskCall } from "../../../support/fake-scope.js";
import { fakeRun } from "../../../support/fake-scope.js";

const texts = new PromptLibrary(AGENT_TEMPLATES).textsOf([], fakeRun);
const task = new Task({ description: "Write it up", expectedOutput: "A page" });
const END = "## Task\nWrite it up\n\n## Expected Output\nA page";

describe("buildSystemPrompt", () => {
  const closing =
    "You must produce a final answer that satisfies the expected output described in the task.\n" +
    "Focus on quality and accuracy. Do not add unnecessary preamble or postscript to your final answer.";

  it("names the role and the goal", () => {
    expect(buildSystemPrompt(new Agent({ role: "Writer", goal: "Write well" }), texts)).to.equal(
      `You are Writer.\n\nYour personal goal is: Write well\n\n${closing}`,
    );
  });

  it("adds the background and the format instructions, if present", () => {
    const agent = new Agent({
      role: "Writer",
      goal: "Write well",
      background: "Ten years of it.",
      responseFormat: "Markdown",
    });
    expect(buildSystemPrompt(agent, texts)).to.equal(
      `You are Writer.\nTen years of it.\n\nYour personal goal is: Write well\n\n${closing}\nOutput format instructions: Markdown`,
    );
  });

  it("omits a blank background and strips white space at the end", () => {
    const agent = new Agent({
      role: "Writer",
      goal: "Write well",
      background: "  ",
      responseFormat: "Markdown \n",
    });
    expect(buildSystemPrompt(agent, texts)).to.equal(
      `You are Writer.\n\nYour personal goal is: Write well\n\n${closing}\nOutput format instructions: Markdown`,
    );
  });

  it("never reads a value as a template", () => {
    expect(buildSystemPrompt(new Agent({ role: "{goal}", goal: "{{role}}" }), texts)).to.match(
      /^You are \{goal\}\.\n\nYour personal goal is: \{\{role\}\}\n/,
    );
  });
});

describe("buildUserPrompt", () => {
  it("contains the task and the expected output", () => {
    expect(buildUserPrompt(taskCall(task), texts)).to.equal(END);
  });

  it("begins with the outputs of the tasks in context", () => {
    const first = fakeOutput(Task.of("Find facts"), "Researcher", "Fact {description}");
    const second = fakeOutput(Task.of("Check them"), "Checker", "All true");
    expect(buildUserPrompt(taskCall(task, { contextOutputs: [first, second] }), texts)).to.equal(
      "## Context from Previous Tasks\nThe following results from previous tasks may be relevant:\n" +
        "\n---\n### Researcher: Find facts\nFact {description}\n---\n" +
        "\n---\n### Checker: Check them\nAll true\n---\n\n" +
        END,
    );
  });

  it("asks for JSON of the schema at the end", () => {
    expect(buildUserPrompt(taskCall(task), texts, '{"type":"object"}')).to.equal(
      `${END}\n\n## Output Format\nYou MUST respond with ONLY valid JSON and nothing else. Do not include markdown fences, preamble, or explanation.\n` +
        'Your response must be ONLY valid JSON matching this schema (object, array, or scalar as appropriate):\n\n{"type":"object"}',
    );
  });

  it("includes the feedback of a revision with the number of the attempt and the previous output", () => {
    const call = taskCall(task, {
      attempt: 2,
      revision: { feedback: "Shorter", previousOutput: "Too long" },
    });
    expect(buildUserPrompt(call, texts)).to.equal(
      "## Revision Instructions (Attempt 2)\n" +
        "This task is being re-executed based on reviewer feedback. Incorporate the feedback below into your response.\n\n" +
        `### Feedback\nShorter\n\n### Previous Output\nToo long\n\n${END}`,
    );
  });

  it("omits the number of a first attempt and a missing previous output", () => {
    expect(buildUserPrompt(taskCall(task, { revision: { feedback: "Shorter" } }), texts)).to.equal(
      "## Revision Instructions\n" +
        "This task is being re-executed based on reviewer feedback. Incorporate the feedback below into your response.\n\n" +
        `### Feedback\nShorter\n\n${END}`,
    );
  });

  it("skips a revision without feedback", () => {
    expect(
      buildUserPrompt(taskCall(task, { attempt: 2, revision: { feedback: " " } }), texts),
    ).to.equal(END);
  });

  it("writes the slots in a fixed order, each followed by one blank line", () => {
    const slots = ["revision", "improvement", "entity", "longTerm", "context", "memory"] as const;
    const contextOutputs = [fakeOutput(Task.of("Find facts"), "Researcher", "Facts")];
    const prompt = buildUserPrompt(
      taskCall(task, {
        contextOutputs,
        promptSections: slots.map((slot) => ({ slot, text: `# ${slot}\n\n\n` })),
        revision: { feedback: "Shorter" },
      }),
      texts,
    );
    expect(
      prompt
        .replace(/## Context[^#]*### Researcher: Find facts\nFacts\n---\n\n/, "(outputs)\n\n")
        .replace(/## Revision[^#]*### Feedback\nShorter/, "(feedback)"),
    ).to.equal(
      `# memory\n\n(outputs)\n\n# context\n\n# longTerm\n\n# entity\n\n# improvement\n\n(feedback)\n\n# revision\n\n${END}`,
    );
  });

  it("shows the notes of the current run instead of the outputs of tasks", () => {
    const contextOutputs = [fakeOutput(Task.of("Find facts"), "Researcher", "Facts")];
    const prompt = buildUserPrompt(
      taskCall(task, {
        contextOutputs,
        promptSections: [{ slot: "shortTerm", text: "## Short-Term Memory (Current Run)" }],
      }),
      texts,
    );
    expect(prompt).to.equal(`## Short-Term Memory (Current Run)\n\n${END}`);
  });

  it("skips blank sections", () => {
    expect(
      buildUserPrompt(taskCall(task, { promptSections: [{ slot: "memory", text: "\n" }] }), texts),
    ).to.equal(END);
  });
});
