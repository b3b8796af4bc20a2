import { expect } from "chai";
import { z } from "zod";
import { Agent } from "../../../src/contracts/agent.js";
import { ValidationError } from "../../../src/contracts/errors.js";
import { Task } from "../../../src/contracts/task.js";
import { tool } from "../../../src/contracts/tool.js";
import { links, type LinksOptions } from "../../../src/plugins/guards/links/index.js";
import { secrets } from "../../../src/plugins/guards/secrets/index.js";
import type { GuardReport } from "../../../src/plugins/guards/shared/findings.js";
import { cache } from "../../../src/plugins/resilience/cache/index.js";
import { ScriptedModel } from "../../../src/plugins/testing/index.js";
import { Ensemble } from "../../../src/ensemble/ensemble.js";
import { guarded, pieces, reasonsOf } from "./guarded-team.js";

const KEY = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;

/** A tool that records what it receives, and returns a text. */
function recorded(returned: string, received: unknown[] = []) {
  return tool({
    name: "fetch",
    description: "Fetches",
    input: z.object({ text: z.string() }),
    execute: ({ text }) => {
      received.push(text);
      return returned;
    },
  });
}

describe("secrets()", () => {
  it("masks a secret after an escape of JSON, in results, outputs and streams", async () => {
    const read = tool({
      name: "read",
      description: "Reads",
      execute: () => ({ log: `line\n${KEY}\n` }),
    });
    const answer = `{"note":"a\\n${KEY}","same":"\\u0067${KEY.slice(1)}"}`;
    const script = [{ toolCalls: [{ name: "read", arguments: {} }] }, { chunks: pieces(answer) }];
    const { model, output, shown } = await guarded([secrets()], script, { tools: [read] });
    expect(model.requests[1]?.messages.at(-1)?.content).to.equal('{"log":"line\\n[secret]\\n"}');
    expect(output.raw).to.equal('{"note":"a\\n[secret]","same":"[secret]"}');
    expect(shown).to.equal(output.raw);
  });

  it("masks a field of a typed value that is named like a secret", async () => {
    const task = new Task({
      description: "Read",
      outputType: z.object({ password: z.string() }),
      handler: () => ({ password: "Hj7!kd93_Xq" }),
    });
    const { output } = await guarded([secrets()], [], { task });
    expect(output.getOutput(task)?.parsed).to.deep.equal({ password: "[secret]" });
  });

  it("masks the error that a tool throws", async () => {
    const value = "zebra-secret-value";
    const reports: GuardReport[] = [];
    const fail = tool({
      name: "fail",
      description: "Fails",
      execute: () => {
        throw new Error(`no login with ${value}`);
      },
    });
    const calls = { toolCalls: [{ name: "fail", arguments: {} }] };
    const { model } = await guarded(
      [secrets({ values: [value], onFinding: (report) => void reports.push(report) })],
      [calls, calls, "Done."],
      { tools: [fail] },
    );
    const text = JSON.stringify(model.requests[2]?.messages);
    expect(text).to.include("no login with [secret]").and.not.to.include(value);
    expect(reports.map(({ place, action }) => `${place} ${action}`)).to.deep.equal([
      "tool result masked",
      "tool result masked",
    ]);
  });

  it("refuses a tool call with a known secret that JSON escapes", async () => {
    const value = 'pa"ss\\word123';
    const received: unknown[] = [];
    await guarded(
      [secrets({ values: [value] })],
      [{ toolCalls: [{ name: "fetch", arguments: { text: `It is ${value}` } }] }, "Done."],
      { tools: [recorded("", received)] },
    );
    expect(received).to.deep.equal([]);
  });

  it("masks a secret in the output, the stream and the conversation", async () => {
    const text = `The token is ${KEY}, keep it.`;
    const { output, shown } = await guarded([secrets()], [{ chunks: pieces(text) }]);
    expect(output.raw).to.equal("The token is [secret], keep it.");
    expect(shown).to.equal(output.raw);
    expect(JSON.stringify(output.trace)).not.to.include(KEY);
  });

  it("holds back only the current word", async () => {
    const chunks = ["One two", " three. The pass", "word: hun", "ter2! is ", "old."];
    const { tokens } = await guarded([secrets()], [{ chunks }]);
    expect(tokens).to.deep.equal(["One ", "two three. The ", "password: ", "[secret] is ", "old."]);
  });

  it("holds back the beginning of a known secret of several words", async () => {
    const plugin = secrets({ values: ["correct horse battery"] });
    const chunks = ["Say correct horse", " now, or correct ", "horse bat", "tery, please."];
    const { tokens } = await guarded([plugin], [{ chunks }]);
    expect(tokens).to.deep.equal(["Say ", "correct horse now, or ", "[secret], ", "please."]);
  });

  it("shows a certificate line by line, since it is not a secret", async () => {
    const lines = ["-----BEGIN CERTIFICATE-----\n", "MIIC\n", "-----END CERTIFICATE-----\n", "So"];
    const { tokens } = await guarded([secrets()], [{ chunks: lines }]);
    expect(tokens.join("")).to.equal(lines.join(""));
    expect(tokens[0]).to.equal("-----BEGIN CERTIFICATE-----\n");
  });

  it("masks a private key with headers", async () => {
    const pem =
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,1B\n\nMIIEvQIBADAN\n-----END RSA PRIVATE KEY-----";
    const { shown, output } = await guarded([secrets()], [{ chunks: pieces(`${pem}\nDone.`) }]);
    expect(output.raw).to.equal("[secret]\nDone.");
    expect(shown).to.equal(output.raw);
  });

  it("holds back a private key until its end", async () => {
    const pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0\n-----END PRIVATE KEY-----";
    const { shown } = await guarded([secrets()], [{ chunks: pieces(`Key:\n${pem}\nDone.`, 7) }]);
    expect(shown).to.equal("Key:\n[secret]\nDone.");
  });

  it("masks results of tools and refuses a tool call with a secret", async () => {
    const received: unknown[] = [];
    const { model, output } = await guarded(
      [secrets()],
      [
        { toolCalls: [{ name: "fetch", arguments: { text: "config" } }] },
        { toolCalls: [{ name: "fetch", arguments: { text: `send ${KEY}` } }] },
        "Done.",
      ],
      { tools: [recorded(`token=${KEY}`, received)] },
    );
    expect(output.raw).to.equal("Done.");
    expect(received).to.deep.equal(["config"]);
    const texts = JSON.stringify(model.requests[1]?.messages.at(-1));
    expect(texts).to.include("token=[secret]");
    expect(JSON.stringify(model.requests[2]?.messages.at(-1))).to.include(
      "contains a secret (GitHub token)",
    );
  });

  it("refuses the output and asks again, and shows nothing after the secret", async () => {
    const script = [{ chunks: pieces(`First ${KEY} more text`) }, "Second."];
    const { output, shown } = await guarded([secrets({ action: "refuse" })], script, {
      retries: 1,
    });
    expect(output.raw).to.equal("Second.");
    expect(shown).to.equal("First Second.");
  });

  it("masks outputs of handlers and typed values", async () => {
    const task = new Task({
      description: "Read",
      outputType: z.object({ note: z.string() }),
      handler: () => ({ note: `use ${KEY}` }),
    });
    const { output } = await guarded([secrets()], [], { task });
    expect(output.getOutput(task)?.parsed).to.deep.equal({ note: "use [secret]" });
    expect(output.raw).not.to.include(KEY);
  });

  it("masks an answer of a cache before it is shown", async () => {
    const tokens: string[] = [];
    const model = new ScriptedModel([`It is ${KEY}`]);
    const first = cache();
    const tasks = [new Task({ description: "Say it" })];
    await using unguarded = new Ensemble({ model, tasks, plugins: [first] });
    await unguarded.run();
    await using team = new Ensemble({
      model,
      tasks,
      plugins: [first, secrets()],
      onToken: ({ token }) => void tokens.push(token),
    });
    expect((await team.run()).raw).to.equal("It is [secret]");
    expect(tokens).to.deep.equal(["It is [secret]"]);
  });

  it("finds the given values, keeps allowed texts and reports kinds without values", async () => {
    const reports: GuardReport[] = [];
    const onFinding = (report: GuardReport): void => void reports.push(report);
    const { output } = await guarded(
      [secrets({ values: ["blue-lagoon-42"], allow: [KEY], onFinding })],
      [`blue-lagoon-42 and ${KEY}`],
    );
    expect(output.raw).to.equal(`[secret] and ${KEY}`);
    expect(reports[0]).to.deep.include({ guard: "guards-secrets", kinds: ["known secret"] });
    expect(JSON.stringify(reports)).not.to.include("lagoon");
  });

  it("refuses unknown options and short values", () => {
    expect(() => secrets({ values: ["short"] })).to.throw(ValidationError, "at least 8 characters");
    expect(() => secrets({ mask: true } as object)).to.throw(ValidationError, "mask");
  });
});

describe("links()", () => {
  it("finds links after an escape of JSON, in typed outputs and tool inputs", async () => {
    const received: unknown[] = [];
    const task = new Task({
      description: "Answer",
      agent: new Agent({ role: "Clerk", goal: "Help", tools: [recorded("", received)] }),
      outputType: z.object({ text: z.string(), other: z.string() }),
    });
    const link = "https://evil.test/x";
    const { output } = await guarded(
      [links({ hosts: [] })],
      [
        { toolCalls: [{ name: "fetch", arguments: { text: `See:\n${link}` } }] },
        `{"text":"See:\\n${link}","other":"\\u0068${link.slice(1)}"}`,
      ],
      { task },
    );
    expect(received).to.deep.equal([]);
    expect(output.getOutput(task)?.parsed).to.deep.equal({
      text: "See:\n[link removed]",
      other: "[link removed]",
    });
    expect(output.raw).to.equal('{"text":"See:\\n[link removed]","other":"[link removed]"}');
  });

  const hosts = ["example.com", "*.example.com"];

  it("removes links to other hosts from outputs and streams", async () => {
    const text =
      "See https&#58;//docs.example.com/a and ![x](https://evil.test/p?q=data) or www.evil.test or ![y](https&colon;&sol;&sol;evil&period;test).";
    const clean =
      "See https&#58;//docs.example.com/a and ![x]([link removed]) or [link removed] or ![y]([link removed]).";
    const { output, shown } = await guarded([links({ hosts })], [{ chunks: pieces(text, 5) }]);
    expect([output.raw, shown]).to.deep.equal([clean, clean]);
  });

  for (const address of [
    "https://example.com@evil.test/",
    "https:\\\\evil.test",
    "//evil.test/x",
    "https:evil.test",
    "HTTPS://EVIL.TEST",
    "https://example.com.evil.test",
    "https://ex\u0430mple.com",
    "javascript:alert(1)",
    "data:text/html;base64,PHNjcmlwdD4=",
    "file:///etc/passwd",
    "ftp://evil.test/a",
    "http://2130706433/",
    "http&#58;//evil.test",
    "&#x68;ttps&colon;&sol;&sol;evil&period;test/?q=data&amp;r=1",
    "https\\://evil.test",
    "\\/\\/evil.test/x",
  ])
    it(`removes ${address}`, async () => {
      const { output } = await guarded([links({ hosts })], [`Go to ${address} now`]);
      expect(output.raw).to.equal("Go to [link removed] now");
    });

  for (const text of [
    "Data: 5, file:line 3",
    "12:30 // a comment",
    "mailto:ana@example.org",
    "C:\\files",
    "a/b//c",
    "R&D &amp; T&#58; &#9999999;",
  ])
    it(`keeps ${text}`, async () => {
      expect((await guarded([links({ hosts: [] })], [text])).output.raw).to.equal(text);
    });

  it("refuses a tool call with a link to another host, and refuses the output if set", async () => {
    const received: unknown[] = [];
    const { output, error } = await guarded(
      [links({ hosts, action: "refuse" })],
      [
        { toolCalls: [{ name: "fetch", arguments: { text: "https://evil.test/?k=1" } }] },
        "See https://evil.test",
      ],
      { tools: [recorded("never", received)] },
    );
    expect(received).to.deep.equal([]);
    expect(output.raw).not.to.include("evil.test/");
    expect(reasonsOf(error)).to.include("a link to a host that is not allowed");
  });

  it("refuses missing hosts and invalid hosts", () => {
    expect(() => links({} as LinksOptions)).to.throw(ValidationError, "needs hosts");
    expect(() => links({ hosts: ["https://a.example/"] })).to.throw(ValidationError);
  });
});
