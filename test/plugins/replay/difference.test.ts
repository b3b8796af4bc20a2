import { expect } from "chai";
import type { ChatMessage } from "../../../src/contracts/chat-model.js";
import {
  conversationDifference,
  differenceOf,
  nearestCall,
} from "../../../src/plugins/replay/difference.js";
import {
  missingStep,
  unknownCall,
  unknownOutside,
  unknownTool,
  unused,
} from "../../../src/plugins/replay/mismatch.js";
import { StepNames } from "../../../src/plugins/replay/step-names.js";

const user = (content: string): ChatMessage => ({ role: "user", content });
const place = { run: "r", task: "a", iteration: 0, provider: "p", modelId: "m", purpose: "task" };

function recorded(fields: object = {}): never {
  return { ...place, messages: [user("Hello")], request: {}, ...fields } as never;
}

function asked(fields: object = {}, options: object = {}): never {
  return { ...place, request: { messages: [user("Hello")], ...options }, ...fields } as never;
}

describe("the differences between a request and a recorded one", () => {
  it("is the model, then the purpose, then the conversation, then an option", () => {
    expect(differenceOf(recorded({ modelId: "n" }), asked())).to.contain("the model");
    expect(differenceOf(recorded({ purpose: "summary" }), asked())).to.equal(
      'the purpose: recorded "summary", now "task"',
    );
    expect(differenceOf(recorded({ messages: undefined }), asked())).to.equal(
      'message 1: not recorded, now "user: Hello"',
    );
    expect(differenceOf(recorded({ messages: [user("Hello"), user("you")] }), asked())).to.equal(
      'message 2: recorded "user: you", now not sent',
    );
    expect(differenceOf(recorded(), asked({}, { temperature: 1 }))).to.equal(
      "'temperature': not recorded, now \"1\"",
    );
    expect(
      differenceOf(recorded({ request: { temperature: 2 } }), asked({}, { temperature: 1 })),
    ).to.equal('\'temperature\': recorded "2", now "1"');
    expect(differenceOf(recorded({ request: undefined }), asked())).to.equal(undefined);
  });

  it("is a file if the words are the same", () => {
    const image = (data: string): ChatMessage =>
      ({ role: "user", content: [{ type: "image", mediaType: "image/png", data }] }) as never;
    const differs = differenceOf(
      recorded({ messages: [user("Hello"), image("AAAA")] }),
      asked({ request: { messages: [user("Hello"), image("BBBB")] } }),
    );
    expect(differs).to.equal("an image or a file of message 2");
  });

  it("is shown from shortly before its position", () => {
    const long = "x".repeat(100);
    expect(conversationDifference([user(`${long}a`)], [user(`${long}b`)])).to.match(
      /recorded "\.\.\.x{40}a", now "\.\.\.x{40}b"$/,
    );
  });

  it("names the most similar call", () => {
    const [first, second] = [recorded({ iteration: 1 }), recorded({ purpose: "summary" })];
    expect(nearestCall([first, second], asked())).to.equal(second);
    expect(nearestCall([first, second], asked({ run: undefined }))).to.equal(second);
    const bare = recorded({ messages: undefined, task: "b" });
    expect(nearestCall([bare], asked())).to.equal(bare);
    expect(nearestCall([], asked())).to.equal(undefined);
  });
});

describe("the error of a replay for a request that was not recorded", () => {
  const run = { redact: (text: string) => text } as never;
  const recording = (fields: object): never =>
    ({ source: "file", kind: "recording", allCalls: [], allTools: [], ...fields }) as never;
  const messageOf = (fields: object, request = asked()): string =>
    unknownCall(recording(fields), request, run).message;

  it("reports the known facts of the nearest call", () => {
    expect(messageOf({})).to.equal(
      "Call 1 of task 'a' to p:m is not in file. It contains no model calls.",
    );
    const summary = { purpose: "summary" };
    expect(messageOf({ allCalls: [recorded(summary)] })).to.contain("differs in the purpose");
    expect(messageOf({ allCalls: [recorded()] })).to.contain("has been given back already");
    const trace = (fields: object): object => ({ kind: "trace", allCalls: [recorded(fields)] });
    expect(messageOf(trace(summary))).to.contain("has been given back already");
    expect(messageOf(trace({ task: "b" }))).to.contain("a trace finds calls by their task");
    expect(messageOf(trace({ messages: undefined }))).to.contain("differs in message 1");
    expect(unknownCall(recording({}), asked(), run, "It is late.").message).to.match(
      / It is late\.$/,
    );
  });

  it("names the nearest call of a tool", () => {
    const call = { run, tool: { name: "look" }, call: { arguments: "{}" }, taskId: "a" } as never;
    const tools = (...allTools: readonly object[]): string =>
      unknownTool(recording({ allTools }), call).message;
    expect(tools({ tool: "other" })).to.contain("It contains no call of that tool.");
    const [ofB, ofA] = [{ task: "b" }, { task: "a" }].map((one) => ({
      ...{ tool: "look", arguments: "[]" },
      ...one,
    }));
    expect(tools(ofB ?? {}, ofA ?? {})).to.contain("look([]) of task 'a'");
    expect(tools(ofB ?? {})).to.contain("look([]) of task 'b'");
  });

  it("names questions and steps in plain language", () => {
    const outside = (kind: string, taskId?: string): string =>
      unknownOutside(recording({}), { kind, name: "n", taskId } as never).message;
    expect(outside("review", "a")).to.match(/^The decision of task 'a' \(n\) is not in file/);
    expect(outside("value")).to.match(/^What was read \(n\) is not in file/);
    const step = (key: string, phase: string): string =>
      missingStep(recording({}), { key, phase } as never).message;
    expect(step("r/K:look", "start")).to.match(/^Step tool call 'look' of file did not start/);
    expect(step("other", "end")).to.match(/^Step step 'other' of file did not end/);
  });

  it("counts unused entries", () => {
    const calls = Array.from({ length: 6 }, () => ({ task: "a", iteration: 0 }));
    expect(unused(recording({}), calls as never)).to.match(/^6 .* and 1 more\.$/);
    expect(unused(recording({}), [{ tool: "look", task: "a" }] as never)).to.equal(
      "1 recorded call(s) of file were not requested: tool look of task 'a'.",
    );
  });
});

describe("the names of steps", () => {
  it("count steps with the same name, and use the id of a task that never began", () => {
    const names = new StepNames("r");
    const task = { taskId: "a", identity: "first", attempt: 1 } as never;
    expect(names.nextAttempt({ taskId: "a", attempt: 0 })).to.equal("r/T:a@1");
    expect(names.taskStarts(task)).to.deep.equal({ key: "r/T:first@1", owner: undefined });
    expect(names.nextAttempt({ taskId: "a", attempt: 0 })).to.equal("r/T:first@1~2");
    expect(names.taskStarts(task).key).to.equal("r/T:first@1~2");
    const child = { taskId: "b", identity: "b", attempt: 1, parentTaskId: "a" } as never;
    expect(names.taskStarts(child).owner).to.equal("r/T:first@1~2");
    const outside = (taskId?: string): object =>
      names.outside({ taskId, kind: "review", name: "n" } as never);
    expect(outside()).to.deep.equal({ key: "r/O:/review/n", owner: undefined });
    expect(outside()).to.deep.equal({ key: "r/O:/review/n~2", owner: undefined });
    expect(outside("x")).to.deep.equal({ key: "r/O:x/review/n", owner: undefined });
    expect(outside("b")).to.deep.equal({ key: "r/O:r/T:b@1/review/n", owner: "r/T:b@1" });
  });
});
