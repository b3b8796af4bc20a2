import { expect } from "chai";
import type { ContentPart } from "agentensemble";
import { countMessageTokens } from "../../../src/conversation/count-tokens.js";
import { messageSize } from "../../../src/plugins/shared/message-size.js";
import { RequestTokens } from "../../../src/plugins/resilience/shared/request-tokens.js";

const zeros = (bytes: number): string => Buffer.alloc(bytes).toString("base64");
const PDF = "application/pdf";

describe("the size of a message", () => {
  for (const [what, part, text, fileTokens] of [
    ["text", { type: "text", text: "four" }, "four", 0],
    ["an image", { type: "image", data: zeros(10), mediaType: "image/png" }, "", 1_600],
    ["the URL of an image", { type: "image", data: new URL("https://a.test/b") }, "", 1_600],
    ["a PDF of 100 kB", { type: "file", data: zeros(100_000), mediaType: PDF }, "", 2_500],
    [
      "a data: URL of a PDF",
      { type: "file", data: `data:${PDF};base64,${zeros(200_000)}`, mediaType: PDF },
      "",
      5_000,
    ],
    ["the URL of a PDF", { type: "file", data: "https://a.test/b", mediaType: PDF }, "", 2_500],
    ["audio of 64 kB", { type: "audio", data: zeros(64_000), mediaType: "audio/wav" }, "", 50],
    [
      "a text file",
      { type: "file", data: Buffer.from("a,b").toString("base64"), mediaType: "text/csv" },
      "a,b",
      0,
    ],
  ] as const satisfies readonly (readonly [string, ContentPart, string, number])[]) {
    it(`counts ${what} in a message of the user`, () =>
      expect(messageSize({ role: "user", content: [part] })).to.deep.equal({ text, fileTokens }));
    it(`counts ${what} in the result of a tool`, () => {
      const answer = {
        role: "tool",
        toolCallId: "c",
        toolName: "t",
        content: "ok",
        parts: [part],
      } as const;
      expect(messageSize(answer)).to.deep.equal({
        text: fileTokens > 0 ? "ok" : `ok\n${text}`,
        fileTokens,
      });
    });
  }

  it("is used by windows, budgets and limits of the context", async () => {
    const image = { type: "image", data: zeros(10), mediaType: "image/png" } as const;
    const messages = [
      { role: "user", content: [image, { type: "text", text: "abc" }] },
      { role: "tool", toolCallId: "c", toolName: "t", content: "", parts: [image] },
    ] as const;
    const counter = { count: (text: string) => text.replaceAll("\n", "").length };
    expect(await countMessageTokens(messages, counter)).to.equal(3_203);
    expect(new RequestTokens().of({ messages }, counter)).to.equal(3_203 + 2 * 4);
  });
});
