import { expect } from "chai";
import { StreamedCompletion } from "../../../../src/plugins/providers/openai/chat/streamed-completion.js";

function streamed(...deltas: readonly unknown[]): StreamedCompletion {
  const answer = new StreamedCompletion();
  for (const delta of deltas) answer.add({ choices: [{ index: 0, delta }] });
  answer.add({ id: "r", choices: [{ finish_reason: "tool_calls" }, { index: 1, delta: {} }, 7] });
  return answer;
}

describe("a completion that arrives in chunks", () => {
  it("is refused if a tool call has another form", () => {
    expect(() => streamed({ tool_calls: ["look"] })).to.throw(
      "A tool call of the stream is not a JSON object",
    );
    expect(() => streamed({ tool_calls: [{ index: 0, id: "c" }] }).finish()).to.throw(
      "Tool call 0 of the stream names no function",
    );
    expect(() => new StreamedCompletion().finish()).to.throw(
      "The stream ended before the answer was complete",
    );
  });

  it("receives an id for a call without an id, and may have pieces without an index", () => {
    const part = (fields: object): object => ({ tool_calls: [{ function: fields }] });
    const answer = streamed(
      part({ name: "look", arguments: '{"a"' }),
      part({ arguments: ":1}" }),
      part({ arguments: null }),
    );
    const [call, ...more] = answer.finish().message.toolCalls ?? [];
    expect(more).to.have.length(0);
    expect(call).to.include({ name: "look", arguments: '{"a":1}' });
    expect(call?.id).to.be.a("string").and.not.equal("");
  });

  it("recognizes a second call by its id if the server gives all calls one index", () => {
    const part = (id: string): object => ({
      tool_calls: [{ index: 0, id, function: { name: "look", arguments: "{}" } }],
    });
    const calls = streamed(part("a"), part("b")).finish().message.toolCalls;
    expect(calls?.map(({ id }) => id)).to.deep.equal(["a", "b"]);
  });

  it("reads content that is a list of parts", () => {
    const answer = new StreamedCompletion();
    const list = (...content: unknown[]): Record<string, unknown> => ({
      choices: [{ delta: { content } }],
    });
    const chunks = [
      list({ type: "thinking", thinking: [{ type: "text", text: "Hm, " }] }),
      list({ type: "thinking", thinking: [{ type: "text", text: "two." }] }),
      list({ type: "text", text: "It is" }, { type: "reference", reference_ids: [1] }),
      { choices: [{ delta: { content: " 2." }, finish_reason: "stop" }] },
    ].flatMap((event) => answer.add(event));
    expect(chunks).to.deep.equal([
      { type: "reasoning", index: 0, text: "Hm, " },
      { type: "reasoning", index: 0, text: "two." },
      { type: "text", text: "It is" },
      { type: "text", text: " 2." },
    ]);
    expect(answer.finish()).to.include({ reasoning: "Hm, two." });
    expect(answer.finish().message.content).to.equal("It is 2.");
    expect(() => answer.add(list(7))).to.throw("content has a part that is not an object");
    expect(() => answer.add({ choices: [{ delta: { content: 7 } }] })).to.throw(
      "content is neither a text nor a list",
    );
  });

  it("reads reasoning under each name that servers use, and once if it has two names", () => {
    const answer = streamed(
      { reasoning: "a" },
      { reasoning_content: "b", reasoning: "b" },
      { reasoning_content: null, reasoning: "c" },
    );
    expect(answer.finish().reasoning).to.equal("abc");
  });

  it("adds nothing for events without choices", () => {
    const answer = new StreamedCompletion();
    expect(answer.add({ choices: null })).to.deep.equal([]);
    expect(answer.add({ choices: [{ delta: { content: "", refusal: "no" } }] })).to.deep.equal([
      { type: "text", text: "no" },
    ]);
    expect(answer.text).to.equal("no");
  });
});
