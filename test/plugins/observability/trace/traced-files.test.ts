import { expect } from "chai";
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { EnsembleOptions, ExecutionTrace } from "agentensemble";
import { Agent, attachment, Ensemble, Task, tool, ToolResult } from "agentensemble";
import { jsonTraceExporter, redacted } from "agentensemble/observability";
import { ScriptedModel } from "agentensemble/testing";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { setEnvironment } from "../../../support/environment.js";

const SECRET = "tide-7731-harbour";
const PNG = Buffer.from("\x89PNG\r\n\x1a\nchart", "latin1");
const PDF = Buffer.from("%PDF-1.7 statute");
const NOTES = Buffer.from(`The key is ${SECRET}.`);
const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const scan = tool({
  name: "scan",
  description: "Scans a page",
  execute: () =>
    ToolResult.success("scanned", undefined, {
      parts: [attachment.fromBytes(PDF, { name: "statute.pdf" })],
    }),
});

/** A run with reasoning. Its task has an image, a text file and a URL; a result has a PDF. */
async function run(more: Partial<EnsembleOptions> = {}): Promise<ExecutionTrace> {
  const thought = {
    type: "reasoning" as const,
    text: "Read it first.",
    provider: "scripted",
    modelId: "scripted",
    index: 0,
    data: { signature: "c2lnbmVkIGJsb2Nr" },
  };
  const steps = [
    {
      role: "assistant" as const,
      content: "",
      toolCalls: [{ id: "c1", name: "scan", arguments: "{}" }],
      reasoning: [thought],
    },
    { role: "assistant" as const, content: "Done", reasoning: [] },
  ];
  let turn = 0;
  const model = Object.assign(new ScriptedModel(["x"]), {
    stream: undefined,
    chat: () => {
      const message = steps[turn++ % 2] ?? { role: "assistant" as const, content: "" };
      return Promise.resolve({
        message,
        finishReason: "stop" as const,
        ...(turn === 2 && { reasoning: "It is a statute." }),
      });
    },
  });
  const task = new Task({
    name: "read",
    description: "Read",
    agent: new Agent({ role: "Reader", goal: "Reads", tools: [scan] }),
    attachments: [
      attachment.fromBytes(PNG),
      attachment.fromBytes(NOTES, { name: `notes-${SECRET}.txt` }),
      attachment.fromUrl("https://a.test/b.pdf?key=1", { mediaType: "application/pdf" }),
    ],
  });
  const { trace } = await new Ensemble({ model, tasks: [task], ...more }).run();
  return trace;
}

const image = { type: "image", mediaType: "image/png", bytes: PNG.length, sha256: hashOf(PNG) };
const notes = {
  type: "file",
  mediaType: "text/plain",
  bytes: NOTES.length,
  sha256: hashOf(NOTES),
  name: "notes-[redacted].txt",
};
const address = { type: "file", mediaType: "application/pdf" };
const pdf = {
  type: "file",
  mediaType: "application/pdf",
  bytes: PDF.length,
  sha256: hashOf(PDF),
  name: "statute.pdf",
};

describe("images and files in a trace", () => {
  beforeEach(() => setEnvironment({ HARBOUR_API_KEY: SECRET }));
  /** Texts that no trace may contain. */
  const isClean = (json: string): boolean =>
    [PNG, PDF, NOTES].every((bytes) => !json.includes(bytes.toString("base64"))) &&
    !json.includes("a.test") &&
    !json.includes("c2lnbmVk") &&
    !json.includes(SECRET);

  for (const captureMode of ["OFF", "STANDARD", "FULL"] as const)
    it(`are types, sizes and hashes in the mode ${captureMode}`, async () => {
      const trace = await run({ captureMode, traceExporter: () => undefined });
      const [task] = trace.taskTraces;
      expect(task?.prompts?.parts).to.deep.equal([image, notes, address]);
      expect(task?.llmInteractions[0]?.toolCalls[0]?.parts).to.deep.equal([pdf]);
      expect(isClean(trace.toJson())).to.equal(true);
      const messages = task?.llmInteractions[1]?.messages ?? [];
      if (captureMode === "OFF") {
        expect(messages).to.deep.equal([]);
        return;
      }
      expect(messages.map(({ parts }) => parts)).to.deep.equal([
        ...[undefined, [image, notes, address], undefined, [pdf], undefined],
      ]);
      expect(messages[1]?.content).to.match(
        /\[image: image\/png, 13 B\]\n\[file: text\/plain, \d+ B, notes/,
      );
      expect(messages[3]?.content).to.equal(
        `scanned\n[file: application/pdf, ${PDF.length} B, statute.pdf]`,
      );
      const isFull = captureMode === "FULL";
      expect(messages.map(({ reasoning }) => reasoning)).to.deep.equal([
        ...[undefined, undefined, isFull ? "Read it first." : undefined, undefined],
        isFull ? "It is a statute." : undefined,
      ]);
    });

  it("have neither names nor hashes in the mode NONE", async () => {
    const trace = await run({ captureMode: "NONE" });
    expect(trace.taskTraces[0]?.prompts?.parts).to.deep.equal([
      { type: "image", mediaType: "image/png", bytes: PNG.length },
      { type: "file", mediaType: "text/plain", bytes: NOTES.length },
      address,
    ]);
  });

  it("are written next to the trace in the mode FULL, text files without secrets", async () => {
    const dir = temporaryFolder();
    const trace = await run({ captureMode: "FULL", traceExporter: jsonTraceExporter({ dir }) });
    const folder = join(dir, `${trace.ensembleId}.files`);
    expect((await readdir(dir)).sort()).to.deep.equal(
      [`${trace.ensembleId}.files`, `${trace.ensembleId}.trace.json`].sort(),
    );
    expect((await readdir(folder)).sort()).to.deep.equal(
      [`${hashOf(PNG)}.png`, `${hashOf(PDF)}.pdf`, `${hashOf(NOTES)}.txt`].sort(),
    );
    expect(await readFile(join(folder, `${hashOf(PDF)}.pdf`))).to.deep.equal(PDF);
    expect(await readFile(join(folder, `${hashOf(NOTES)}.txt`), "utf8")).to.equal(
      "The key is [redacted].",
    );
    expect((await stat(join(folder, `${hashOf(PNG)}.png`))).mode & 0o777).to.equal(0o600);
    expect(isClean(await readFile(join(dir, `${trace.ensembleId}.trace.json`), "utf8"))).to.equal(
      true,
    );
  });

  it("are not written in other modes", async () => {
    const dir = temporaryFolder();
    await run({
      captureMode: "STANDARD",
      traceExporter: jsonTraceExporter({ file: join(dir, "t.json") }),
    });
    expect(await readdir(dir)).to.deep.equal(["t.json"]);
  });

  it("are summaries in events, which pass on no content", async () => {
    const seen: string[] = [];
    const parts: unknown[] = [];
    await run({
      on: (event) => {
        if (event.type === "task_input" || event.type === "tool_called") parts.push(event.parts);
        seen.push(JSON.stringify(redacted(event)));
      },
    });
    const { sha256: _, ...file } = pdf;
    expect(parts).to.deep.include([file]);
    expect(
      seen.filter((json) => !isClean(json.replaceAll("https://a.test/b.pdf?key=1", ""))),
    ).to.deep.equal([]);
    expect(seen.join("")).to.include("Read it first.").and.not.include(PDF.toString("base64"));
  });
});
