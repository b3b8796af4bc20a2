import { Ensemble, Task } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { uiMessageChunkSchema } from "ai";
import { expect } from "chai";
import { Boards } from "./boards.js";
import { ask } from "./client.js";

interface Part {
  readonly type: string;
  readonly delta?: string;
}

/** The parts in a stream of server-sent events. */
function partsIn(text: string): readonly Part[] {
  const lines = text.split("\n\n").filter((line) => line !== "");
  expect(lines.at(-1)).to.equal("data: [DONE]");
  return lines.slice(0, -1).map((line) => JSON.parse(line.slice("data: ".length)) as Part);
}

/** The text in the parts. */
function textIn(parts: readonly Part[]): string {
  return parts.flatMap(({ type, delta = "" }) => (type === "text-delta" ? [delta] : [])).join("");
}

/** Waits after the first piece of each answer. */
class HeldModel extends ScriptedModel {
  readonly #until: Promise<void>;

  constructor(steps: ConstructorParameters<typeof ScriptedModel>[0], until: Promise<void>) {
    super(steps);
    this.#until = until;
  }

  override async *stream(
    ...call: Parameters<ScriptedModel["stream"]>
  ): ReturnType<ScriptedModel["stream"]> {
    for await (const chunk of super.stream(...call)) {
      yield chunk;
      await this.#until;
    }
  }
}

describe("the UI message stream of a run on a dashboard", () => {
  const boards = new Boards();
  afterEach(() => boards.end());
  const tasks = (): readonly Task[] => [
    new Task({ name: "one", description: "Begin" }),
    new Task({ name: "two", description: "End" }),
  ];

  it("contains the text of every agent, also of an ended run, in parts that the AI SDK accepts", async () => {
    const { board, url } = await boards.listening();
    const team = new Ensemble({
      kernel: boards.kernel(board),
      model: new ScriptedModel(["First text", "Second text"]),
      tasks: tasks(),
    });
    const { runId } = await team.run();
    const { headers, text } = await ask(url, `/api/runs/${runId}/ui-stream`);
    expect(headers["x-vercel-ai-ui-message-stream"]).to.equal("v1");
    const parts = partsIn(text);
    expect(parts[0]?.type).to.equal("start");
    expect(parts.at(-1)?.type).to.equal("finish");
    expect(textIn(parts)).to.include("First text").and.include("Second text");
    const { validate } = uiMessageChunkSchema();
    for (const part of parts)
      expect((await validate?.(part))?.success, JSON.stringify(part)).to.equal(true);
    const one = await ask(url, `/api/runs/${runId}/ui-stream?task=one`);
    expect(textIn(partsIn(one.text)))
      .to.include("First text")
      .and.not.include("Second text");
    expect((await ask(url, "/api/runs/none/ui-stream")).status).to.equal(404);
  });

  it("follows a run, and the text that a model streams", async () => {
    const { board, url } = await boards.listening();
    let begin = (): void => undefined;
    const begun = new Promise<string>((resolve) => (begin = () => resolve("done")));
    let write = (): void => undefined;
    const writing = new Promise<void>((resolve) => (write = resolve));
    const team = new Ensemble({
      kernel: boards.kernel(board),
      model: new HeldModel([{ chunks: ["one ", "two ", "three"] }], writing),
      tasks: [
        new Task({ name: "zero", description: "Wait", handler: () => begun }),
        new Task({ name: "one", description: "Write" }),
      ],
    });
    const run = team.run({}, { runId: "live" });
    while ((await ask(url, "/api/runs/live")).status !== 200);
    const response = await fetch(new URL("/api/runs/live/ui-stream", url));
    begin();
    let text = "";
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes as Uint8Array).toString();
      if (text.includes("text-delta")) write(); // the model continues after the first text has arrived
    }
    await run;
    expect(textIn(partsIn(text))).to.include("one two three");
    expect(partsIn(text).at(-1)?.type).to.equal("finish");
  });

  it("reports a failed run, and does not affect the run when its reader disconnects", async () => {
    const { board, url } = await boards.listening();
    let go = (): void => undefined;
    const held = new Promise<string>((resolve) => (go = () => resolve("done")));
    const run = boards.ensemble(boards.kernel(board), () => held).run({}, { runId: "left" });
    while ((await ask(url, "/api/runs/left")).status !== 200);
    const leaving = new AbortController();
    const response = await fetch(new URL("/api/runs/left/ui-stream", url), {
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    go();
    expect((await run).exitReason).to.equal("COMPLETED");
    const fail = (): never => {
      throw new Error("broken");
    };
    await boards
      .ensemble(boards.kernel(board), fail)
      .run({}, { runId: "bad" })
      .catch(() => undefined);
    expect(partsIn((await ask(url, "/api/runs/bad/ui-stream")).text).at(-1)?.type).to.equal(
      "error",
    );
  });

  it("contains no text with contents: false", async () => {
    const { board, url } = await boards.listening({ contents: false });
    const team = new Ensemble({
      kernel: boards.kernel(board),
      model: new ScriptedModel(["First text", "Second text"]),
      tasks: tasks(),
    });
    const { runId } = await team.run();
    const { text } = await ask(url, `/api/runs/${runId}/ui-stream`);
    expect(text).to.not.include("First").and.not.include("Begin");
  });
});
