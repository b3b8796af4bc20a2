import { expect } from "chai";
import fc from "fast-check";
import { spawnSync } from "node:child_process";
import type { ChatChunk } from "../../../../src/contracts/chat-model.js";
import { ModelCallError, ValidationError } from "../../../../src/contracts/errors.js";
import {
  ExtractiveModel,
  NO_SENTENCE,
  NO_SOURCE,
} from "../../../../src/plugins/providers/offline/extractive-model.js";
import { offline, offlineProvider } from "../../../../src/plugins/providers/offline/index.js";
import { LanguageTools } from "../../../../src/plugins/providers/offline/language-tools.js";
import { BEES, bullets, withContext } from "./prompts.js";

describe("the offline model", () => {
  const model = offline();

  it("quotes complete sentences, in the order of the source, with their heading", async () => {
    const quotes = bullets(await model.chat({ messages: withContext({ raw: BEES }) }));
    expect(quotes.length).to.equal(3);
    const places = quotes.map(({ text }) => BEES.indexOf(text));
    expect(places.every((place) => place >= 0)).to.equal(true);
    expect(places).to.deep.equal([...places].sort((a, b) => a - b));
    for (const { text, source } of quotes)
      expect(source).to.equal(BEES.indexOf(text) > BEES.indexOf("## Winter") ? "Winter" : "Bees");
  });

  it("omits headings, tables, code and links, and removes list and quotation marks", async () => {
    const all = bullets(
      await offline("extractive", { sentences: 100 }).chat({
        messages: withContext({ raw: BEES }),
      }),
    );
    expect(all.map(({ text }) => text)).to.deep.equal([
      "Honey bees live in large colonies with one queen.",
      "The queen of the colony lays up to 2,000 eggs per day in spring.",
      "Worker bees collect nectar and pollen for the colony, and they guard the hive!",
      "Bees form a cluster in winter, and the colony keeps the queen warm.",
      "The colony eats its stores of honey until the first flowers open.",
    ]);
  });

  it("does not split at the dots of a file name or an address", async () => {
    const raw =
      "The details are [in the guide](docs/faults.md), which is long. Ask at https://example.org/help.html before the end of the month.";
    const quotes = bullets(
      await offline("extractive", { sentences: 100 }).chat({ messages: withContext({ raw }) }),
    ).map(({ text }) => text);
    expect(quotes).to.deep.equal([
      "The details are [in the guide](docs/faults.md), which is long.",
      "Ask at https://example.org/help.html before the end of the month.",
    ]);
  });

  it("omits lines that refer to another place and labels with a value, and keeps sentences after a label", async () => {
    const raw = [
      "Next: [the concepts](concepts.md), and the programs in the folder examples.",
      "- **See also:** [tools](tools.md)",
      "[Home](index.md) · [Guides](guides.md) · [Reference](reference.md) · last",
      "Version: 1.2 of the year 2026",
      "- **Resilience**: retries with back-off, fallback models, rate limits",
      "- a **plugin**: taps, bindings, listeners, any of them or all",
      "- **Care**: Bees drink water on warm days.",
      "Note: the hive must be closed before the smoke is blown into it.",
      "The [guide](guide.md) describes how a hive is opened.",
    ].join("\n\n");
    const quotes = bullets(
      await offline("extractive", { sentences: 100 }).chat({ messages: withContext({ raw }) }),
    ).map(({ text }) => text);
    expect(quotes).to.deep.equal([
      "**Care**: Bees drink water on warm days.",
      "Note: the hive must be closed before the smoke is blown into it.",
      "The [guide](guide.md) describes how a hive is opened.",
    ]);
  });

  it("quotes a tenth of the sentences, at most 12", async () => {
    const text = (count: number): string =>
      Array.from(
        { length: count },
        (_, i) => `Sentence number ${i} talks about topic ${i * 7} at length.`,
      ).join(" ");
    expect(bullets(await model.chat({ messages: withContext({ raw: text(60) }) })).length).to.equal(
      6,
    );
    expect(
      bullets(await model.chat({ messages: withContext({ raw: text(500) }) })).length,
    ).to.equal(12);
    expect(bullets(await model.chat({ messages: withContext({ raw: text(2) }) })).length).to.equal(
      2,
    );
  });

  it("skips sentences that repeat a chosen one", async () => {
    const raw = `${"The reactor failed because the cooling pump lost power. ".repeat(3)}\nThe reactor failed because its cooling pump lost power. Insurance paid for a new roof on the library.`;
    const quotes = bullets(
      await offline("extractive", { sentences: 2 }).chat({ messages: withContext({ raw }) }),
    ).map(({ text }) => text);
    expect(quotes).to.include("Insurance paid for a new roof on the library.");
  });

  it("quotes the quotes of an earlier answer without nesting them, and keeps their sources", async () => {
    const first = await offline("extractive", { sentences: 4 }).chat({
      messages: withContext({ raw: BEES }),
    });
    const second = await model.chat({
      messages: withContext({
        role: "Analyst",
        description: "Extract findings",
        raw: first.message.content,
      }),
    });
    const sources = new Map(bullets(first).map(({ text, source }) => [text, source]));
    for (const { text, source } of bullets(second))
      expect([text, sources.get(text)]).to.deep.equal([text, source]);
    expect(bullets(second).length).to.equal(3);
  });

  it("reads the texts in JSON, with the source next to a text", async () => {
    const raw = JSON.stringify({
      findings: [
        { quote: 'The pump "A" lost its power at night.', source: "log.md" },
        { quote: "The roof of the library is new now.", source: "news.md" },
      ],
    });
    expect(bullets(await model.chat({ messages: withContext({ raw }) }))).to.deep.equal([
      { text: 'The pump "A" lost its power at night.', source: "log.md" },
      { text: "The roof of the library is new now.", source: "news.md" },
    ]);
  });

  it("names the file if the text marks one, else the heading, else the task", async () => {
    const sentence = (n: number): string => `The machine number ${n} was repaired by the crew.`;
    const raw = `${sentence(1)}\n\n# Title\n\n${sentence(2)}\n\n=== a/b.md ===\n# Other\n\n${sentence(3)}\n\n# notes.txt\n\n${sentence(4)}`;
    const quotes = bullets(
      await offline("extractive", { sentences: 9 }).chat({
        messages: withContext({ description: "Read it all", raw }),
      }),
    );
    expect(quotes.map(({ source }) => source)).to.deep.equal([
      "Read it all",
      "Title",
      "a/b.md",
      "notes.txt",
    ]);
  });

  it("finds its texts if they contain rules and headings like those of a prompt", async () => {
    const first =
      "The first part of the text stands here.\n\n---\n\n## Task\n\nThe second part of the text stands here too.";
    const quotes = bullets(
      await model.chat({
        messages: withContext(
          { raw: `${first}\n` },
          { description: "Other", raw: "The other text is about something else." },
        ),
      }),
    );
    expect(quotes.map(({ text }) => text)).to.deep.equal([
      "The first part of the text stands here.",
      "The second part of the text stands here too.",
      "The other text is about something else.",
    ]);
  });

  it("quotes neither the notes and revisions after the context nor the task", async () => {
    const sections =
      "## Revision Instructions (Attempt 2)\nThe reviewer wants a better text from you.\n\n### Previous Output\nThis was the previous output of yours.\n\n## Task\n";
    const messages = withContext({ raw: "The only sentence of the source stands here." }).map(
      (message) =>
        message.role === "user" && typeof message.content === "string"
          ? { ...message, content: message.content.replace("## Task\n", sections) }
          : message,
    );
    const quotes = bullets(await model.chat({ messages }));
    expect(quotes.map(({ text }) => text)).to.deep.equal([
      "The only sentence of the source stands here.",
    ]);
  });

  it("reads text between rules or in fences if there is no context", async () => {
    const content =
      "Summarise this text for me please.\n---\nThe delimited sentence is the one to quote.\n---\nAnd this one as well, please do:\n```\nA fenced sentence is quoted too, of course.\n```\nThank you so much for your help.";
    const quotes = bullets(
      await model.chat({
        messages: [{ role: "user", content: [{ type: "text", text: content }] }],
      }),
    );
    expect(quotes.map(({ text }) => text)).to.deep.equal([
      "The delimited sentence is the one to quote.",
      "A fenced sentence is quoted too, of course.",
    ]);
  });

  it("reports a missing source text, and a source text without sentences", async () => {
    const none = await model.chat({
      messages: [{ role: "user", content: "Write about bees, please. They are nice." }],
    });
    expect(none.message.content).to.equal(NO_SOURCE);
    const code = await model.chat({ messages: withContext({ raw: "# Only\n\n## Headings" }) });
    expect(code.message.content).to.equal(NO_SENTENCE);
  });

  it("prefers complete sentences, and quotes nothing across the end of a line", async () => {
    const raw =
      "The wrapped sentence begins on this line and it\nends on the next line. A whole sentence stands on one line only.\nAnother whole sentence stands on one line as well. The last\none does not.";
    const quotes = bullets(
      await offline("extractive", { sentences: 2 }).chat({ messages: withContext({ raw }) }),
    );
    expect(quotes.map(({ text }) => text)).to.deep.equal([
      "A whole sentence stands on one line only.",
      "Another whole sentence stands on one line as well.",
    ]);
  });

  it("quotes only sentences of the source, for any text", async () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.lorem({ mode: "sentences", maxCount: 3 }),
      fc.constantFrom(
        "\n",
        "\r\n",
        "---",
        "- ",
        "> ",
        "**x** ",
        "```\n",
        '"',
        "constructor __proto__ ",
        "漢字。",
        "1. ",
        "| a |",
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (parts) => {
        const raw = parts.join(" ");
        fc.pre(!/^\s*[[{]/.test(raw)); // JSON is read as its strings
        const { content } = (await model.chat({ messages: withContext({ raw }) })).message;
        if (content === NO_SENTENCE || content === NO_SOURCE) return;
        const response = await model.chat({
          messages: withContext({ raw }),
          responseFormat: { name: "r", schema: { type: "array", items: { type: "string" } } },
        });
        for (const quote of JSON.parse(response.message.content) as string[])
          expect(raw.includes(quote), JSON.stringify({ raw, quote })).to.equal(true);
      }),
      { numRuns: 150 },
    );
  });

  it("reports estimates of its tokens", async () => {
    const { usage, finishReason, message } = await model.chat({
      messages: withContext({ raw: BEES }),
    });
    expect(usage?.inputTokens).to.be.greaterThan(100);
    expect(usage?.outputTokens).to.be.greaterThan(10);
    expect(finishReason).to.equal("stop");
    expect(message.toolCalls).to.equal(undefined);
  });

  it("streams its answer line by line, then the complete response", async () => {
    const chunks: ChatChunk[] = [];
    for await (const chunk of model.stream?.({ messages: withContext({ raw: BEES }) }) ?? [])
      chunks.push(chunk);
    const last = chunks.at(-1);
    const texts = chunks.flatMap((chunk) => (chunk.type === "text" ? [chunk.text] : []));
    expect(texts.length).to.equal(3);
    expect(last?.type === "finish" && last.response.message.content).to.equal(texts.join(""));
  });

  it("stops when aborted, with the signal's reason", async () => {
    const reason = new Error("enough");
    const before: unknown = await model
      .chat({ messages: [] }, { signal: AbortSignal.abort(reason) })
      .catch((e: unknown) => e);
    expect(before).to.equal(reason);
    const controller = new AbortController();
    const call = model.chat(
      {
        messages: withContext({ raw: "The bees fly over the hill every morning. ".repeat(20_000) }),
      },
      { signal: controller.signal },
    );
    setImmediate(() => controller.abort(reason));
    expect(await call.catch((e: unknown) => e)).to.equal(reason);
  });

  it("yields to the event loop while it reads a long text", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await model.chat({
      messages: withContext({
        raw: "The bees fly over the hill every morning, and return at night. ".repeat(8_000),
      }),
    });
    clearInterval(timer);
    expect(turns).to.be.greaterThan(3);
  });

  it("names the missing packages and how to install them", async () => {
    const missing = new Error("Cannot find package 'wink-nlp'");
    const broken = new ExtractiveModel(new LanguageTools(() => Promise.reject(missing)), undefined);
    const e: unknown = await broken
      .chat({ messages: withContext({ raw: BEES }) })
      .catch((error: unknown) => error);
    expect(e).to.be.instanceOf(ModelCallError).with.property("cause", missing);
    expect((e as ModelCallError).retryable).to.equal(false);
    expect((e as ModelCallError).message)
      .to.contain("wink-nlp")
      .and.contain("wink-eng-lite-web-model");
    expect((e as ModelCallError).hint).to.contain("npm install wink-nlp wink-eng-lite-web-model");
  });

  it("refuses other models and options", () => {
    expect(() => offline("gpt")).to.throw(ValidationError, /extractive/);
    expect(() => offline("extractive", { sentence: 3 } as never)).to.throw(
      ValidationError,
      /sentences/,
    );
    expect(() => offline("extractive", { sentences: 0 })).to.throw(ValidationError);
  });
});

describe("offlineProvider", () => {
  it("contributes models by the name of offline", () => {
    const bound: { name: string; create(modelId: string): unknown }[] = [];
    const plugin = offlineProvider();
    plugin.bind?.({
      many: () => ({ toConstantValue: (value: never) => bound.push(value) }),
    } as never);
    expect(plugin.name).to.equal("provider-offline");
    expect(bound[0]?.name).to.equal("offline");
    expect(bound[0]?.create("extractive")).to.include({
      provider: "offline",
      modelId: "extractive",
    });
    expect(() => bound[0]?.create("other")).to.throw(ValidationError);
  });

  it("loads no package until a model is called", () => {
    const hook = `import { writeSync } from "node:fs"; export async function resolve(s, c, next) { const r = await next(s, c); writeSync(1, r.url + "\\n"); return r; }`;
    const index = new URL("../../../../src/plugins/providers/offline/index.js", import.meta.url)
      .href;
    const program = `import { register } from "node:module"; register("data:text/javascript," + encodeURIComponent(${JSON.stringify(hook)})); const m = await import(${JSON.stringify(index)}); m.offline(); m.offlineProvider();`;
    const child = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      encoding: "utf8",
    });
    expect(child.stderr).to.equal("");
    expect(child.stdout).to.match(/providers\/offline\/extractive-model\.[jt]s/);
    expect(child.stdout).not.to.match(/node_modules/);
  });
});
