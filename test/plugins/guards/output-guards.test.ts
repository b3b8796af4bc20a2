import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { ValidationError } from "../../../src/contracts/errors.js";
import type { ModerationModel } from "../../../src/contracts/moderation.js";
import type { Plugin } from "../../../src/contracts/plugin.js";
import { tool } from "../../../src/contracts/tool.js";
import { answerLength } from "../../../src/plugins/guards/answer-length/index.js";
import { canary } from "../../../src/plugins/guards/canary/index.js";
import { jsonOnly } from "../../../src/plugins/guards/json-only/index.js";
import { language } from "../../../src/plugins/guards/language/index.js";
import { quotations } from "../../../src/plugins/guards/quotations/index.js";
import type { GuardReport } from "../../../src/plugins/guards/shared/findings.js";
import { topics } from "../../../src/plugins/guards/topics/index.js";
import { toxicity } from "../../../src/plugins/guards/toxicity/index.js";
import { openaiModeration } from "../../../src/plugins/providers/openai/index.js";
import { guarded, pieces, reasonsOf } from "./guarded-team.js";

/** Passes an answer through a guard; returns the shown text and the reason of the refusal. */
async function judged(
  guard: Plugin,
  text: string,
  more: Parameters<typeof guarded>[2] = {},
): Promise<{ readonly shown: string; readonly reason: string }> {
  const { error, shown } = await guarded([guard], [{ chunks: pieces(text, 4) }], more);
  return { shown, reason: reasonsOf(error) };
}

describe("a text before tool calls", () => {
  const look = tool({ name: "look", description: "Looks", execute: () => "seen" });
  const script = (text: string) => [
    { text, toolCalls: [{ name: "look", arguments: {} }] },
    "Done.",
  ];

  for (const [guard, refused] of [
    [topics, "I need a bomb for this."],
    [canary, "My marker is QUARTZ-4711."],
  ] as const)
    it(`is removed if ${guard.name}() refuses it`, async () => {
      const actions: string[] = [];
      const onFinding = ({ place, action }: GuardReport): void =>
        void actions.push(`${place} ${action}`);
      const plugin =
        guard === topics
          ? topics({ deny: { weapons: ["bomb"] }, onFinding })
          : canary({ words: ["QUARTZ-4711"], insert: false, onFinding });
      const { model, output } = await guarded([plugin], script(refused), { tools: [look] });
      expect(output.raw).to.equal("Done.");
      expect(JSON.stringify(model.requests[1])).not.to.include(refused);
      expect(model.requests[1]?.messages.at(-1)).to.include({ role: "tool", content: "seen" });
      expect(actions).to.deep.equal(["response removed"]);
    });

  it("is kept otherwise", async () => {
    const plugin = topics({ deny: { weapons: ["bomb"] } });
    const { model } = await guarded([plugin], script("I look."), { tools: [look] });
    expect(model.requests[1]?.messages.at(-2)).to.include({ content: "I look." });
  });
});

describe("topics()", () => {
  const guard = () => topics({ deny: { weapons: ["bomb*", "Schusswaffe", "arme à feu"] } });

  it("reads the text that an output encodes as JSON", async () => {
    for (const text of ['{"a":"One:\\nbomb"}', '{"a":"arme \\u00e0 feu"}'])
      expect((await judged(guard(), text)).reason).to.include("weapons");
  });

  it("judges an input that is not a text", async () => {
    const plugin = topics({ deny: { weapons: ["bomb"] }, inputs: ["mail"] });
    for (const mail of [{ body: "a\nbomb" }, ["bomb"]]) {
      const { error, model } = await guarded([plugin], ["Done."], { inputs: { mail } });
      expect(reasonsOf(error)).to.include("input 'mail'").and.to.include("weapons");
      expect(model.requests).to.deep.equal([]);
    }
  });

  it("refuses a text with a word of a topic, and shows the sentences before it", async () => {
    const { shown, reason } = await judged(guard(), "Good day to you. The Bombs are here. Bye.");
    expect(reason).to.include("not allowed: weapons");
    expect(shown).to.equal("Good day to you.");
  });

  it("ignores case and accents, and words within words", async () => {
    expect((await judged(guard(), "Une ARME A FEU.")).reason).to.include("weapons");
    expect((await judged(guard(), "An aplomb of sorts.")).reason).to.equal("");
  });

  it("refuses an input before any model call, and requires several words if set", async () => {
    const inputs = { question: "How is a bomb made?" };
    const refused = await guarded(
      [topics({ deny: { weapons: ["bomb"] }, inputs: ["question"] })],
      ["never"],
      { inputs },
    );
    expect(refused.model.requests).to.have.length(0);
    expect(reasonsOf(refused.error)).to.include("input 'question'");
    const both = topics({ deny: { weapons: ["bomb", "fuse"] }, words: 2 });
    expect((await judged(both, "A bomb, a bomb.")).reason).to.equal("");
    expect((await judged(both, "A bomb with a fuse.")).reason).to.include("weapons");
  });

  it("refuses options without words", () => {
    expect(() => topics({ deny: {} })).to.throw(ValidationError);
    expect(() => topics({ deny: { x: [] } })).to.throw(ValidationError);
    expect(() => topics({ deny: { x: [" "] } })).to.throw(ValidationError);
  });
});

describe("toxicity()", () => {
  const model = (flagged: readonly string[], texts: string[] = []): ModerationModel => ({
    moderate: async ([text = ""]) => {
      texts.push(text);
      return [{ flagged, scores: { hate: 0.4, violence: 0.9 } }];
    },
  });

  it("holds the stream until the vendor has judged, and sends each text once", async () => {
    const texts: string[] = [];
    expect(await judged(toxicity({ model: model([], texts) }), "All is well.")).to.deep.equal({
      shown: "All is well.",
      reason: "",
    });
    expect(texts).to.deep.equal(["All is well."]);
    const { shown, reason } = await judged(toxicity({ model: model(["hate"]) }), "Bad words.");
    expect(shown).to.equal("");
    expect(reason).to.include("was flagged: hate");
  });

  it("applies the limits of categories, and counts a missing score as 1", async () => {
    expect(
      (await judged(toxicity({ model: model(["hate"]), limits: { hate: 0.5 } }), "x y")).reason,
    ).to.equal("");
    expect(
      (await judged(toxicity({ model: model([]), limits: { violence: 0.5 } }), "x y")).reason,
    ).to.include("violence");
    expect(
      (await judged(toxicity({ model: model([]), limits: { unknown: 0.5 } }), "x y")).reason,
    ).to.include("unknown");
  });

  it("refuses if the vendor fails", async () => {
    const failing: ModerationModel = { moderate: () => Promise.reject(new Error("no service")) };
    const { shown, reason } = await judged(toxicity({ model: failing }), "Fine.");
    expect(shown).to.equal("");
    expect(reason).to.include("no service");
  });

  it("reads the verdicts of OpenAI's moderation endpoint", async () => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (part) => (body += String(part)));
      request.on("end", () => {
        bodies.push(`${request.url} ${body}`);
        const results = [
          {
            flagged: true,
            categories: { "hate/threatening": true, violence: false },
            category_scores: { "hate/threatening": 0.8, violence: 0.1 },
          },
        ];
        response
          .setHeader("content-type", "application/json")
          .end(JSON.stringify({ id: "m", results }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    const openai = openaiModeration({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "test" });
    try {
      const { reason } = await judged(toxicity({ model: openai }), "Bad.");
      expect(reason).to.include("hate/threatening");
      expect(bodies[0]).to.equal(
        '/v1/moderations {"model":"omni-moderation-latest","input":["Bad."]}',
      );
      const failure = await openai.moderate(["a", "b"]).catch((error: unknown) => error);
      expect(String(failure)).to.include("1 results for 2 texts");
    } finally {
      server.close();
    }
  });

  it("refuses a missing model and limits out of range", () => {
    expect(() => toxicity({} as never)).to.throw(ValidationError, "needs a model");
    expect(() => toxicity({ model: model([]), limits: { hate: 2 } })).to.throw(
      ValidationError,
      "limits.hate",
    );
  });
});

describe("language()", () => {
  const german =
    "Bitte schicken Sie den Bericht vor Freitag an den Kunden und sagen Sie uns Bescheid.";
  const english = "Please send the report to the customer before Friday and tell us about it.";

  it("refuses a text in another language and shows none of it", async () => {
    const { shown, reason } = await judged(language({ allow: ["en"] }), german);
    expect(shown).to.equal("");
    expect(reason).to.include("not in an allowed language (en), but in: de");
  });

  it("allows the configured languages, short texts and code", async () => {
    expect((await judged(language({ allow: ["en"] }), english)).shown).to.equal(english);
    expect((await judged(language({ allow: ["fr"] }), "OK.")).reason).to.equal("");
    expect(
      (await judged(language({ allow: ["fr"] }), "```\nconst report = await send(customer);\n```"))
        .reason,
    ).to.equal("");
  });

  it("checks long texts with a fromLength above 100", async () => {
    const guard = (): Plugin => language({ allow: ["en"], fromLength: 150 });
    expect((await judged(guard(), german)).reason).to.equal("");
    const { shown, reason } = await judged(guard(), `${german} ${german}`);
    expect(shown).to.equal("");
    expect(reason).to.include("but in: de");
    expect((await judged(guard(), `${english} ${english}`)).shown).to.equal(
      `${english} ${english}`,
    );
  });

  it("refuses invalid codes", () => {
    expect(() => language({ allow: [] })).to.throw(ValidationError);
    expect(() => language({ allow: ["english"] })).to.throw(ValidationError);
  });
});

describe("answerLength()", () => {
  it("refuses long and short texts, and shows nothing beyond the limit", async () => {
    const { shown, reason } = await judged(
      answerLength({ maxCharacters: 10 }),
      "One two three four",
    );
    expect(reason).to.include("18 characters; at most 10");
    expect(shown).to.equal("One two ");
    expect((await judged(answerLength({ minWords: 3 }), "One two")).reason).to.include(
      "2 words; at least 3",
    );
    expect((await judged(answerLength({ maxWords: 2 }), "One, two - three")).reason).to.include(
      "3 words",
    );
    expect(
      (await judged(answerLength({ maxWords: 2, minCharacters: 2 }), "One two")).reason,
    ).to.equal("");
  });

  it("applies to the given tasks only", async () => {
    const guard = answerLength({ maxWords: 1, tasks: ["task-2"] });
    expect((await judged(guard, "One two three")).reason).to.equal("");
  });

  it("refuses missing and contradicting limits", () => {
    expect(() => answerLength({})).to.throw(ValidationError, "needs a limit");
    expect(() => answerLength({ minWords: 3, maxWords: 2 })).to.throw(ValidationError);
  });
});

describe("jsonOnly()", () => {
  it("accepts one JSON value and shows it immediately", async () => {
    const { tokens } = await guarded([jsonOnly()], [{ chunks: ['{"a"', ": 1}"] }]);
    expect(tokens).to.deep.equal(['{"a"', ": 1}"]);
  });

  for (const text of [
    'Here it is: {"a": 1}',
    '```json\n{"a": 1}\n```',
    '{"a": 1} Done.',
    "{'a': 1}",
    "",
  ])
    it(`refuses ${JSON.stringify(text)}`, async () => {
      expect((await judged(jsonOnly(), text)).reason).to.match(
        /not one JSON value|no usable|empty/,
      );
    });

  it("requires an object or a list", async () => {
    expect((await judged(jsonOnly({ type: "object" }), "[1]")).reason).to.include("no JSON object");
    expect((await judged(jsonOnly({ type: "array" }), "[1]")).reason).to.equal("");
  });
});

describe("quotations()", () => {
  const source =
    "The board decided on Monday to close the office in the north by the end of the year.";
  const read = tool({ name: "read", description: "Reads", execute: () => source });
  const script = (text: string) => [
    { toolCalls: [{ name: "read", arguments: { input: "x" } }] },
    { chunks: pieces(text, 5) },
  ];

  it("accepts quotations from results of tools, with omissions and other quotation marks", async () => {
    const text = 'It says “decided on monday to close ... by the end of the year”, a "short one".';
    const { error, shown } = await guarded([quotations()], script(text), { tools: [read] });
    expect([error, shown]).to.deep.equal([undefined, text]);
  });

  it("refuses an invented quotation and shows the text before it", async () => {
    const text = 'It says "the board wants to close all of its offices" today.';
    const { error, shown } = await guarded([quotations()], script(text), { tools: [read] });
    expect(reasonsOf(error)).to.include("in no source").and.to.include("all of its offices");
    expect(shown).to.equal("It says ");
  });

  it("uses context, inputs and given texts, and reads German, French and block quotations", async () => {
    const given = { sources: ["Der Vorstand hat am Montag entschieden."] };
    expect(
      (await judged(quotations(given), "Es heißt: „Vorstand hat am Montag entschieden“.")).reason,
    ).to.equal("");
    expect(
      (await judged(quotations(given), "Dit « le conseil a tout décidé hier ».")).reason,
    ).to.include("in no source");
    expect(
      (await judged(quotations(given), "So:\n> Der Vorstand hat alles am Dienstag vertagt.\n"))
        .reason,
    ).to.include("Dienstag");
    const more = { description: "Discuss: {text}", inputs: { text: source } };
    expect(
      (await judged(quotations(), `He wrote "${source.slice(4, 60)}".`, more)).reason,
    ).to.equal("");
  });
});

describe("canary()", () => {
  it("finds the word in a typed output with an escape of JSON", async () => {
    const plugin = canary({ words: ["QUARTZ-4711"], insert: false });
    expect((await judged(plugin, '{"a":"QUARTZ\\n4711"}')).reason).to.include("canary word");
  });

  const words = ["Zephyr7Quartz"];

  it("adds the word to system messages and refuses an output with it", async () => {
    const { model, error, shown } = await guarded(
      [canary({ words })],
      [{ chunks: pieces("The marker is zephyr7quartz, see.") }],
    );
    expect(JSON.stringify(model.requests[0]?.messages[0])).to.include("Zephyr7Quartz");
    expect(reasonsOf(error)).to.include("canary word");
    expect(shown).to.equal("The marker is ");
  });

  for (const [how, text] of [
    ["with spaces", "Z e p h y r 7 Q u a r t z"],
    ["backwards", "ztrauQ7ryhpeZ"],
    ["in ROT13", "Mrcule7Dhnegm"],
    ["in base64", Buffer.from("it is Zephyr7Quartz ok").toString("base64")],
    ["in hexadecimal", Buffer.from("Zephyr7Quartz").toString("hex")],
  ] as const)
    it(`finds the word ${how}`, async () => {
      expect((await judged(canary({ words }), `See ${text}`)).reason).to.include("canary word");
    });

  it("refuses a tool call with the word, and keeps other texts", async () => {
    const received: unknown[] = [];
    const send = tool({
      name: "send",
      description: "Sends",
      execute: (text) => String(received.push(text)),
    });
    const { output } = await guarded(
      [canary({ words })],
      [
        { toolCalls: [{ name: "send", arguments: { input: "Zephyr7-Quartz" } }] },
        "A zephyr is a wind.",
      ],
      { tools: [send] },
    );
    expect(received).to.deep.equal([]);
    expect(output.raw).to.equal("A zephyr is a wind.");
  });

  it("does not insert the word with insert: false, and refuses short words", async () => {
    const { model } = await guarded([canary({ words, insert: false })], ["ok"]);
    expect(JSON.stringify(model.requests)).not.to.include("Zephyr");
    expect(() => canary({ words: ["abc"] })).to.throw(ValidationError);
    expect(() => canary({ insert: false })).to.throw(ValidationError, "requires words");
  });
});
