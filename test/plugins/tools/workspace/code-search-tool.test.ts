import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import {
  codeSearchTool,
  type CodeSearchInput,
  type CodeSearchToolOptions,
} from "../../../../src/plugins/tools/workspace/code-search-tool.js";
import { toolContract } from "../../../../src/plugins/testing/tool-contract.js";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { rejection } from "../../../support/fake-scope.js";
import { call, newSandbox, putFiles, type Sandbox } from "../tool-support.js";

const shared = newSandbox();
putFiles(shared.inside, { "a.ts": "one\ntwo\n", "src/b.ts": "two\n" });

toolContract("code_search", {
  create: () => codeSearchTool({ baseDir: shared.inside }),
  valid: [
    { pattern: "two" },
    { pattern: "TWO", ignoreCase: true, contextLines: 1, glob: "*.ts", path: "src" },
    { pattern: "no" },
  ],
  invalid: [
    {},
    { pattern: "a", contextLines: -1 },
    { pattern: "a", contextLines: 21 },
    { pattern: "a", flags: "i" },
  ],
  failing: [
    { pattern: " " },
    { pattern: "(" },
    { pattern: "a", path: "../outside" },
    { pattern: "a", path: "no" },
    { pattern: "a", glob: "[" },
  ],
});

describe("code_search", () => {
  let s: Sandbox;
  beforeEach(() => {
    s = newSandbox();
  });

  const search = async (input: CodeSearchInput, options: Partial<CodeSearchToolOptions> = {}) =>
    (await call(codeSearchTool({ baseDir: s.inside, ...options }), input)).text.split("\n");

  it("returns file, line and text of matches, in the order of files and lines", async () => {
    putFiles(s.inside, { "b.ts": "x\nfoo(1)\r\nfoo(2)", "a/c.ts": "foo(3)\n", "a.txt": "foo(4)" });
    expect(await search({ pattern: "foo\\(\\d\\)$" })).to.deep.equal([
      "a/c.ts:1:foo(3)",
      "a.txt:1:foo(4)",
      "b.ts:2:foo(1)",
      "b.ts:3:foo(2)",
    ]);
    expect(await search({ pattern: "FOO\\(3", ignoreCase: true })).to.deep.equal([
      "a/c.ts:1:foo(3)",
    ]);
    expect(await search({ pattern: "foo", glob: "*.ts" })).to.have.length(3);
    expect(await search({ pattern: "foo", glob: "a/**" })).to.deep.equal(["a/c.ts:1:foo(3)"]);
    expect(await search({ pattern: "foo", path: "a" })).to.deep.equal(["a/c.ts:1:foo(3)"]);
    expect(await search({ pattern: "foo", path: "b.ts" })).to.have.length(2);
    expect(await search({ pattern: "bar" })).to.deep.equal(["No matches found for pattern: bar"]);
  });

  it("treats a pattern that begins with a dash as a pattern", async () => {
    putFiles(s.inside, { a: "--pre=sh\n" });
    expect(await search({ pattern: "--pre=sh" })).to.deep.equal(["a:1:--pre=sh"]);
  });

  it("shows the surrounding lines once each, in their order", async () => {
    putFiles(s.inside, {
      a: ["1", "hit", "3", "hit", "5", "6", "7", "8", "9", "10", "hit"].join("\n"),
      b: "hit",
    });
    expect(await search({ pattern: "hit", contextLines: 1 })).to.deep.equal([
      ...[
        "a-1-1",
        "a:2:hit",
        "a-3-3",
        "a:4:hit",
        "a-5-5",
        "--",
        "a-10-10",
        "a:11:hit",
        "--",
        "b:1:hit",
      ],
    ]);
  });

  it("counts matches, not the surrounding lines, and reports where it stopped", async () => {
    putFiles(s.inside, { a: "hit\n".repeat(10), b: "hit\n" });
    const lines = await search({ pattern: "hit", contextLines: 1 }, { maxMatches: 3 });
    expect(lines.filter((line) => line.includes(":"))).to.have.length(3);
    expect(lines.at(-1)).to.equal("... (results capped at 3 matches)");
  });

  it("omits binary, large, ignored and linked files", async () => {
    putFiles(s.inside, {
      "a.bin": "hit\0",
      "big.txt": `hit\n${"x".repeat(200)}`,
      "ignored.txt": "hit",
      ".gitignore": "ignored.txt",
      "node_modules/x": "hit",
    });
    putFiles(s.outside, { secret: "hit" });
    symlinkSync(join(s.outside, "secret"), join(s.inside, "link"));
    symlinkSync(s.outside, join(s.inside, "folder"));
    const lines = await search({ pattern: "hit" }, { maxFileBytes: 100 });
    expect(lines).to.deep.equal([
      "No matches found for pattern: hit",
      "... (1 file(s) of more than 100 bytes not searched)",
    ]);
  });

  it("stops at its limit of bytes and reports this", async () => {
    putFiles(s.inside, { a: "x".repeat(100), b: "x".repeat(100), c: "hit" });
    expect((await search({ pattern: "hit" }, { maxTotalBytes: 150 })).at(-1)).to.match(
      /searched 150 bytes/,
    );
  });

  it("cuts long lines, and decodes invalid bytes with replacements", async () => {
    writeFileSync(
      join(s.inside, "a"),
      Buffer.concat([Buffer.from("hit "), Uint8Array.of(0xfc), Buffer.from("x".repeat(1_000))]),
    );
    const [line = ""] = await search({ pattern: "hit" });
    expect(line)
      .to.match(/^a:1:hit \ufffdx+\.\.\. \(1005 characters\)$/)
      .and.to.have.length.below(600);
  });

  for (const [what, input, message] of [
    ["a blank pattern", { pattern: " " }, /^Error: Pattern must not be blank$/],
    ["an invalid pattern", { pattern: "(" }, /^Error: Invalid regex pattern: /],
    ["a pattern that looks back", { pattern: "(a)\\1" }, /^Error: Invalid regex pattern: /],
    [
      "a pattern that repeats repeats",
      { pattern: "((a{100}){100}){100}" },
      /^Error: Invalid regex pattern: /,
    ],
    [
      "an endless pattern",
      { pattern: "a".repeat(1_001) },
      /^Error: Invalid regex pattern: it is longer/,
    ],
    ["an invalid glob", { pattern: "a", glob: "{" }, /^Error: Invalid glob pattern: /],
    [
      "a folder outside",
      { pattern: "a", path: ".." },
      /^Error: Access denied: path is outside the workspace directory$/,
    ],
    ["a missing path", { pattern: "a", path: "no" }, /^Error: File not found: no$/],
  ] as const) {
    it(`reports to the model: ${what}`, async () => {
      expect((await call(codeSearchTool({ baseDir: s.inside }), input)).text).to.match(message);
    });
  }

  it("searches in linear time with patterns and lines that are exponential elsewhere", async () => {
    putFiles(s.inside, { a: `${"a".repeat(900_000)}!`, b: `${"x".repeat(4_000)}\n`.repeat(50) });
    for (const pattern of [
      "(a+)+$",
      "^(a|aa)*$",
      "(x+x+)+y",
      "(.*)(.*)(.*)(.*)(.*)z",
      "(a?){500}b",
      "\\w{900}z",
    ]) {
      expect((await search({ pattern }))[0], pattern).to.equal(
        `No matches found for pattern: ${pattern}`,
      );
    }
    expect((await search({ pattern: "\\w{900}z" }))[1]).to.equal(
      "... (1 line(s) too long for this pattern not searched)",
    );
  });

  it("does not block the event loop", async () => {
    putFiles(
      s.inside,
      Object.fromEntries(
        Array.from({ length: 20 }, (_, i) => [`f${i}`, "abcdefgh ".repeat(100_000)]),
      ),
    );
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await search({ pattern: "(\\w+ )+z" });
    clearInterval(timer);
    expect(turns).to.be.greaterThan(5);
  });

  it("returns the matches so far at its time limit", async () => {
    putFiles(
      s.inside,
      Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, "text\n".repeat(2_000)])),
    );
    expect((await search({ pattern: "z" }, { timeLimitMs: 1 })).at(-1)).to.match(/time was up/);
  });

  it("ends with its signal", async () => {
    putFiles(
      s.inside,
      Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, "text\n".repeat(2_000)])),
    );
    const controller = new AbortController();
    const work = call(
      codeSearchTool({ baseDir: s.inside }),
      { pattern: "z" },
      { signal: controller.signal },
    );
    const reason = new Error("enough");
    setImmediate(() => controller.abort(reason));
    expect(await rejection(work)).to.equal(reason);
  });

  it("keeps the matches as values next to the text", async () => {
    putFiles(s.inside, { a: "x\nhit\n" });
    const { result } = await call(codeSearchTool({ baseDir: s.inside }), {
      pattern: "hit",
      contextLines: 1,
    });
    expect(result.structured).to.deep.equal({
      matches: [{ file: "a", line: 2, text: "hit" }],
      complete: true,
    });
  });

  for (const [what, options] of [
    ["no folder", { baseDir: "/no/such" }],
    ["an unknown option", { baseDir: ".", maxMatch: 1 }],
    ["a limit of 0 matches", { baseDir: ".", maxMatches: 0 }],
    ["a fractional number of bytes", { baseDir: ".", maxFileBytes: 0.5 }],
  ] as const) {
    it(`refuses ${what}`, () =>
      expect(() => codeSearchTool(options as CodeSearchToolOptions)).to.throw(ValidationError));
  }
});
