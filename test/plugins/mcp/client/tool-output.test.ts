import { expect } from "chai";
import type { McpStructuredOutput } from "../../../../src/plugins/mcp/client/index.js";
import { PromptLibrary } from "../../../../src/plugins/shared/prompts/prompt-library.js";
import { MCP_TEMPLATES } from "../../../../src/plugins/mcp/client/mcp-client-prompts.js";
import { resultOfServer } from "../../../../src/plugins/mcp/client/tool-output.js";
import { fakeRun } from "../../../support/fake-scope.js";

const words = new PromptLibrary(MCP_TEMPLATES).textsOf([], fakeRun);
const convert = (
  result: Parameters<typeof resultOfServer>[0],
  limit = 1_000,
): ReturnType<typeof resultOfServer> => resultOfServer(result, limit, words);

describe("results of MCP tools", () => {
  it("join the texts", () => {
    const { output, structured } = convert({
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    });
    expect([output, structured]).to.deep.equal(["a\nb", undefined]);
  });

  it("may be empty", () => {
    expect(convert({ content: [] })).to.include({ ok: true, output: "" });
  });

  it("show structured content as text if the server sends none", () => {
    expect(convert({ content: [], structuredContent: { a: 1 } })).to.deep.include({
      output: '{"a":1}',
      structured: { a: 1 },
    });
    expect(
      convert({ content: [{ type: "text", text: "one" }], structuredContent: { a: 1 } }),
    ).to.deep.include({ output: "one", structured: { a: 1 } });
  });

  it("keep attachments next to structured content", () => {
    const { output, structured } = convert({
      content: [
        { type: "audio", data: "AAAA", mimeType: "audio/wav" },
        { type: "resource", resource: { uri: "file:///a.bin", blob: "AAA=" } },
      ],
      structuredContent: { a: 1 },
    });
    expect(output).to.equal(
      "[audio, audio/wav, 3 bytes: not shown]\n[resource file:///a.bin, application/octet-stream, 2 bytes: not shown]",
    );
    expect(structured).to.deep.equal({
      structuredContent: { a: 1 },
      attachments: [
        { kind: "audio", mimeType: "audio/wav", bytes: 3, data: "AAAA" },
        { kind: "resource", mimeType: undefined, uri: "file:///a.bin", bytes: 2, data: "AAA=" },
      ],
    });
  });

  it("contain images, audio and files as parts for the model", () => {
    const base64 = (bytes: string): string => Buffer.from(bytes, "latin1").toString("base64");
    const [png, pdf, mp3] = [
      base64("\x89PNG\r\n\x1a\n"),
      base64("%PDF-1.7"),
      base64("ID3\x04 etc"),
    ];
    const { output, parts, structured } = convert({
      content: [
        { type: "image", data: png, mimeType: "image/jpeg" },
        { type: "audio", data: mp3, mimeType: "audio/mpeg" },
        { type: "resource", resource: { uri: "a:1", blob: pdf, mimeType: "application/pdf" } },
        { type: "resource", resource: { uri: "a:2", blob: pdf, mimeType: "image/png" } },
        { type: "image", data: pdf, mimeType: "image/png" },
        { type: "image", data: "?", mimeType: "image/png" },
      ],
    });
    expect(parts).to.deep.equal([
      { type: "image", data: png, mediaType: "image/png" },
      { type: "audio", data: mp3, mediaType: "audio/mpeg" },
      { type: "file", data: pdf, mediaType: "application/pdf" },
    ]);
    expect(output.split("\n")).to.deep.equal([
      "[image, image/jpeg, 8 bytes]",
      "[audio, audio/mpeg, 8 bytes]",
      "[resource a:1, application/pdf, 8 bytes]",
      "[resource a:2, image/png, 8 bytes: not shown]",
      "[image, image/png, 8 bytes: not shown]",
      "[image, image/png, 0 bytes: not shown]",
    ]);
    const { attachments } = structured as McpStructuredOutput;
    expect(attachments.map(({ data }) => data)).to.deep.equal([
      ...[undefined, undefined, undefined, pdf, pdf, "?"],
    ]);
  });

  it("have no more parts than a message may have", () => {
    const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
    const { output, parts } = convert({ content: Array.from({ length: 40 }, () => image) }, 10_000);
    expect(parts).to.have.lengthOf(32);
    expect(output.match(/not shown/g)).to.have.lengthOf(8);
  });

  it("mention data that is too large to keep, and keep the rest", () => {
    const image = { type: "image" as const, data: "A".repeat(1_500_000), mimeType: "image/png" };
    const { attachments } = convert({ content: [image, image] }).structured as McpStructuredOutput;
    expect(attachments.map(({ bytes, data }) => [bytes, data?.length])).to.deep.equal([
      [1_125_000, 1_500_000],
      [1_125_000, undefined],
    ]);
  });

  it("are cut with a note of the full length, never within a character, also for failures", () => {
    const content = [{ type: "text" as const, text: "ab😀cd" }];
    expect(convert({ content }, 3).output).to.equal("ab... [truncated, full length: 6 chars]");
    expect(convert({ content }, 4).output).to.equal("ab😀... [truncated, full length: 6 chars]");
    expect(convert({ content }, 6).output).to.equal("ab😀cd");
    expect(convert({ content, isError: true }, 2).errorMessage).to.equal(
      "ab... [truncated, full length: 6 chars]",
    );
  });

  it("fail with the message of the server, or with a default message", () => {
    expect(
      convert({ content: [{ type: "text", text: "No such file" }], isError: true }),
    ).to.include({ ok: false, errorMessage: "No such file" });
    expect(convert({ content: [{ type: "text", text: " " }], isError: true })).to.include({
      ok: false,
      errorMessage: "MCP tool returned an error",
    });
  });
});
