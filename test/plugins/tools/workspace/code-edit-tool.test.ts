import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import type { CodeEditInput } from "../../../../src/plugins/tools/workspace/code-edit-input.js";
import {
  codeEditTool,
  type CodeEditToolOptions,
} from "../../../../src/plugins/tools/workspace/code-edit-tool.js";
import { toolContract } from "../../../../src/plugins/testing/tool-contract.js";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { rejection } from "../../../support/fake-scope.js";
import { call, newSandbox, putFiles, type Sandbox } from "../tool-support.js";

const shared = newSandbox();

toolContract("code_edit", {
  create: () => {
    putFiles(shared.inside, { "a.txt": "one\ntwo\n" });
    return codeEditTool({ baseDir: shared.inside });
  },
  valid: [
    { path: "a.txt", command: "write", content: "one\ntwo\n" },
    { path: "a.txt", command: "replace_lines", startLine: 1, endLine: 1, content: "one" },
  ],
  invalid: [
    {},
    { path: "a" },
    { path: "a", command: "write", content: 1 },
    { path: "a", command: "find_replace", edits: [] },
    { path: "a", command: "x", y: 1 },
  ],
  failing: [
    { path: "a.txt", command: "delete", content: "" },
    { path: "../outside/x", command: "write", content: "x" },
    { path: "a.txt", command: "find_replace", find: "no", content: "x" },
  ],
});

describe("code_edit", () => {
  let s: Sandbox;
  beforeEach(() => {
    s = newSandbox();
  });

  const file = (): string => readFileSync(join(s.inside, "f"), "utf8");
  const edit = (input: Omit<CodeEditInput, "path">, path = "f") =>
    call(codeEditTool({ baseDir: s.inside }), { path, ...input });

  /** The file before and after, and the edit between them. */
  const edits: readonly [string, string, string, Omit<CodeEditInput, "path">][] = [
    [
      "replaces lines",
      "1\n2\n3\n",
      "1\nx\ny\n3\n",
      { command: "replace_lines", startLine: 2, endLine: 2, content: "x\ny" },
    ],
    [
      "keeps an end of line at the end of the content",
      "1\n2\n3\n",
      "1\nx\n3\n",
      { command: "replace_lines", startLine: 2, endLine: 2, content: "x\n" },
    ],
    [
      "removes lines",
      "1\n2\n3\n",
      "1\n",
      { command: "replace_lines", startLine: 2, endLine: 3, content: "" },
    ],
    [
      "removes the last line if it has no end of line",
      "1\n2",
      "1",
      { command: "replace_lines", startLine: 2, endLine: 2, content: "" },
    ],
    [
      "removes all lines",
      "1\n2\n",
      "",
      { command: "replace_lines", startLine: 1, endLine: 2, content: "" },
    ],
    [
      "keeps the end of the file",
      "1\n2",
      "1\nx",
      { command: "replace_lines", startLine: 2, endLine: 2, content: "x\n" },
    ],
    [
      "keeps the ends of line",
      "1\r\n2\r\n3",
      "1\r\nx\r\ny\r\n3",
      { command: "replace_lines", startLine: 2, endLine: 2, content: "x\ny" },
    ],
    [
      "keeps the byte order mark",
      "\ufeff1\n2\n",
      "\ufeffx\n2\n",
      { command: "replace_lines", startLine: 1, endLine: 1, content: "x" },
    ],
    [
      "replaces a text that occurs once",
      "a b a",
      "a x a",
      { command: "find_replace", find: "b", content: "x" },
    ],
    [
      "finds several lines with any line ends",
      "1\r\n2\r\n3\r\n",
      "1\r\nx\r\ny\r\n",
      { command: "find_replace", find: "2\n3", content: "x\ny" },
    ],
    [
      "keeps both ends of line in other places of a file",
      "1\r\n2\n3\r\n",
      "1\r\nx\n3\r\n",
      { command: "find_replace", find: "2", content: "x" },
    ],
    [
      "replaces all with the option",
      "aaa",
      "bbbbbb",
      { command: "find_replace", find: "a", content: "bb", replaceAll: true },
    ],
    [
      "inserts a replacement literally",
      "a",
      "$& $1 \\n",
      { command: "find_replace", find: "a", content: "$& $1 \\n" },
    ],
    [
      "replaces a pattern, and inserts the replacement literally",
      "x = 12;",
      "x = $1;",
      { command: "find_replace", find: "\\d+", content: "$1", regex: true },
    ],
    [
      "supports lines in patterns",
      "a1\r\na2\r\nb\r\n",
      "X\r\nX\r\nb\r\n",
      { command: "find_replace", find: "^a\\d$", content: "X", regex: true, replaceAll: true },
    ],
    ["removes text", "a b c", "a c", { command: "find_replace", find: "b ", content: "" }],
    ["writes the complete file", "old\r\n", "new\n", { command: "write", content: "new\n" }],
    [
      "makes several replacements, one after the other",
      "a b",
      "c2 c",
      {
        command: "find_replace",
        edits: [
          { find: "a", content: "b2" },
          { find: "b", content: "c", replaceAll: true },
        ],
      },
    ],
  ];
  it("changes nothing that git would execute", async () => {
    putFiles(s.inside, { ".git/config": "[core]\n" });
    const { text } = await call(codeEditTool({ baseDir: s.inside }), {
      path: ".git/config",
      command: "write",
      content: "[core]\n\tpager = x\n",
    });
    expect(text).to.equal("Error: Access denied: nothing is written into .git");
    expect(readFileSync(join(s.inside, ".git/config"), "utf8")).to.equal("[core]\n");
  });

  for (const [what, before, after, input] of edits) {
    it(what, async () => {
      putFiles(s.inside, { f: before });
      const { result } = await edit(input);
      expect(result.errorMessage).to.equal(undefined);
      expect(file()).to.equal(after);
      expect(readdirSync(s.inside)).to.deep.equal(["f"]);
    });
  }

  const failures: readonly [string, Omit<CodeEditInput, "path">, string | RegExp][] = [
    ["a blank command", { command: " ", content: "" }, "Command must not be blank"],
    [
      "a command that does not exist",
      { command: "append", content: "" },
      "Unknown command: append. Expected: replace_lines, find_replace, or write",
    ],
    ["no content", { command: "write" }, "Content must not be null"],
    [
      "no lines",
      { command: "replace_lines", content: "" },
      "replace_lines requires startLine and endLine",
    ],
    [
      "line 0",
      { command: "replace_lines", startLine: 0, endLine: 1, content: "" },
      "Line numbers must be >= 1",
    ],
    [
      "lines in the reverse order",
      { command: "replace_lines", startLine: 2, endLine: 1, content: "" },
      "startLine must be <= endLine",
    ],
    [
      "a first line beyond the end",
      { command: "replace_lines", startLine: 4, endLine: 4, content: "" },
      "startLine 4 exceeds file length (3 lines)",
    ],
    [
      "a last line beyond the end",
      { command: "replace_lines", startLine: 1, endLine: 9, content: "" },
      "endLine 9 exceeds file length (3 lines)",
    ],
    [
      "nothing to find",
      { command: "find_replace", content: "x" },
      "find_replace requires 'find' to be set",
    ],
    [
      "nothing to find in an edit",
      { command: "find_replace", edits: [{ find: "", content: "x" }] },
      "find_replace requires 'find' to be set",
    ],
    [
      "a missing text",
      { command: "find_replace", find: "z", content: "x" },
      "Text not found in file: f",
    ],
    [
      "a pattern without a match",
      { command: "find_replace", find: "z+", content: "x", regex: true },
      "Pattern not found in file: f",
    ],
    [
      "a text that occurs twice",
      { command: "find_replace", find: "a", content: "x" },
      /^Text found 2 times in file: f\. .*replaceAll/,
    ],
    [
      "an invalid pattern",
      { command: "find_replace", find: "(", content: "x", regex: true },
      /^Invalid regex pattern: /,
    ],
    [
      "a pattern that matches nothing",
      { command: "find_replace", find: "q*", content: "x", regex: true },
      /^Invalid regex pattern: it matches the empty text/,
    ],
    [
      "edits next to a text",
      { command: "find_replace", find: "a", edits: [{ find: "a", content: "b" }] },
      /^Give either edits/,
    ],
    [
      "edits of lines",
      { command: "replace_lines", edits: [{ find: "a", content: "b" }] },
      /^edits belong to find_replace/,
    ],
    [
      "the second of two edits, and undoes the first",
      {
        command: "find_replace",
        edits: [
          { find: "b", content: "c" },
          { find: "b", content: "d" },
        ],
      },
      /^Edit 2 of 2: Text not found in file: f\. Nothing was changed\.$/,
    ],
    [
      "another state of the file",
      { command: "write", content: "x", expectedHash: "0123456789abcdef" },
      "File has changed since it was read: f",
    ],
    [
      "a hash that is too short",
      { command: "write", content: "x", expectedHash: "" },
      "File has changed since it was read: f",
    ],
  ];
  for (const [what, input, message] of failures) {
    it(`reports to the model: ${what}`, async () => {
      putFiles(s.inside, { f: "a\nb\na\n" });
      const { text, events } = await edit(input);
      if (typeof message === "string") expect(text).to.equal(`Error: ${message}`);
      else expect(text.replace(/^Error: /, "")).to.match(message);
      expect(file()).to.equal("a\nb\na\n");
      expect(events).to.deep.equal([]);
    });
  }

  for (const [what, path, message] of [
    ["a blank path", " ", "Path must not be blank"],
    ["a path outside", "../outside/x", "Access denied: path is outside the workspace directory"],
    [
      "a link to an outside file",
      "link",
      "Access denied: path resolves outside the workspace directory",
    ],
    [
      "a folder that is a link",
      "folder/x",
      "Access denied: path resolves outside the workspace directory",
    ],
    ["a missing file", "no", "File not found: no"],
    ["a binary file", "bin", "Not a text file: bin"],
    ["invalid UTF-8", "latin", "Not a text file: latin"],
  ] as const) {
    it(`refuses ${what}, and changes nothing`, async () => {
      putFiles(s.outside, { x: "a" });
      putFiles(s.inside, { bin: "a\0", latin: Uint8Array.of(0x61, 0xfc) });
      symlinkSync(join(s.outside, "x"), join(s.inside, "link"));
      symlinkSync(s.outside, join(s.inside, "folder"));
      const { text } = await edit({ command: "find_replace", find: "a", content: "b" }, path);
      expect(text).to.equal(`Error: ${message}`);
      expect(readFileSync(join(s.outside, "x"), "utf8")).to.equal("a");
    });
  }

  it("creates a file with write, and its missing folders", async () => {
    const { text, events } = await edit({ command: "write", content: "x\n" }, "a/b/f");
    expect(text).to.equal("Successfully wrote to: a/b/f");
    expect(events).to.have.length(1);
    expect(events[0]).to.include({ changeType: "CREATED", filePath: "a/b/f", linesAdded: 1 });
  });

  it("shows the changed lines with their numbers, and keeps the diff separately", async () => {
    putFiles(s.inside, { f: Array.from({ length: 12 }, (_, i) => `line ${i + 1}\n`).join("") });
    const { text, result, events } = await edit({
      command: "replace_lines",
      startLine: 6,
      endLine: 7,
      content: "new",
    });
    expect(text.split("\n")).to.deep.equal([
      ...[
        "Replaced lines 6-7 in f",
        "   3 | line 3",
        "   4 | line 4",
        "   5 | line 5",
        "   6 | new",
        "   7 | line 8",
        "   8 | line 9",
        "   9 | line 10",
      ],
    ]);
    const { diff } = result.structured as { diff: string };
    expect(diff)
      .to.match(/^--- a\/f\n\+\+\+ b\/f\n@@ -3,8 \+3,7 @@\n line 3\n/)
      .and.to.include("-line 6\n-line 7\n+new\n");
    expect(events[0]).to.include({ changeType: "MODIFIED", linesAdded: 1, linesRemoved: 2 });
  });

  it("shows only the position of a large change", async () => {
    putFiles(s.inside, { f: "a\n".repeat(1_000) });
    const { text } = await edit({
      command: "find_replace",
      find: "a",
      content: "b".repeat(1_000),
      replaceAll: true,
    });
    expect(text.length).to.be.below(10_000);
  });

  it("accepts the hash that file_read returns, and returns the next one", async () => {
    const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
    putFiles(s.inside, { f: "one" });
    const { text } = await edit({
      command: "write",
      content: "two",
      expectedHash: hashOf("one").slice(0, 16),
    });
    expect(text).to.equal(`Successfully wrote to: f\n[hash ${hashOf("two").slice(0, 16)}]`);
    expect(
      (await edit({ command: "write", content: "three", expectedHash: hashOf("two") })).result.ok,
    ).to.equal(true);
  });

  it("loses no edit of several concurrent edits", async () => {
    putFiles(s.inside, { f: "a b c" });
    const tool = codeEditTool({ baseDir: s.inside });
    const results = await Promise.all(
      ["a", "b", "c"].map((find) =>
        call(tool, { path: "f", command: "find_replace", find, content: find.toUpperCase() }),
      ),
    );
    expect(results.map(({ text }) => text.split("\n")[0])).to.deep.equal(
      Array(3).fill("Replaced in f"),
    );
    expect(file()).to.equal("A B C");
  });

  it("runs patterns in linear time that are exponential elsewhere", async () => {
    putFiles(s.inside, { f: "a".repeat(300_000) });
    for (const find of ["(a+)+b", "(?s)a(.*b)?x", "(a|aa)+c"]) {
      expect(
        (await edit({ command: "find_replace", find, content: "", regex: true })).text,
      ).to.equal("Error: Pattern not found in file: f");
    }
    expect(
      (await edit({ command: "find_replace", find: "\\w{900}b", content: "", regex: true })).text,
    ).to.match(/too large for this pattern/);
    expect(
      (
        await edit({
          command: "find_replace",
          find: "(?s)a(?:.*b)?",
          content: "",
          regex: true,
          replaceAll: true,
        })
      ).text,
    ).to.match(/matches more than|takes too long/);
  });

  it("refuses an edit whose result is too large, even if a later one would reduce it", async () => {
    putFiles(s.inside, { f: "a" });
    const doubling = { find: "a", content: "aa", replaceAll: true };
    const tool = codeEditTool({ baseDir: s.inside, maxBytes: 1_000 });
    const { text } = await call(tool, {
      path: "f",
      command: "find_replace",
      edits: [
        ...Array<typeof doubling>(12).fill(doubling),
        { find: "a".repeat(4_096), content: "" },
      ],
    });
    expect(text).to.equal(
      "Error: Edit 10 of 13: File is too large: f would have 1024 characters, and at most 1000 bytes are allowed. Nothing was changed.",
    );
    expect(file()).to.equal("a");
  });

  it("refuses a pattern whose replacements are too large", async () => {
    putFiles(s.inside, { f: "a".repeat(100) });
    const tool = codeEditTool({ baseDir: s.inside, maxBytes: 1_000 });
    const grow = { find: "[a]", content: "b".repeat(50), regex: true, replaceAll: true };
    const shrink = { find: "b+", content: "c", regex: true };
    const input = { path: "f", command: "find_replace", edits: [grow, shrink] };
    expect((await call(tool, input)).text).to.match(/^Error: Edit 1 of 2: File is too large/);
    expect(file()).to.equal("a".repeat(100));
  });

  it("executes at most 100 edits", async () => {
    putFiles(s.inside, { f: "a" });
    const same = { find: "a", content: "a" };
    const made = (count: number) =>
      edit({ command: "find_replace", edits: Array<typeof same>(count).fill(same) });
    expect((await made(100)).result.ok).to.equal(true);
    expect((await made(101)).text).to.match(/edits: Array has too many items \(101 > 100\)/);
  });

  it("finds text that repeats itself in linear time", async () => {
    putFiles(s.inside, { f: "a".repeat(1_000_000) });
    const half = "a".repeat(200_000);
    const { text } = await edit({ command: "find_replace", find: `${half}b${half}`, content: "" });
    expect(text).to.equal("Error: Text not found in file: f");
  });

  it("does not change the file by an edit to itself and back", async () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "\n", "\r\n", "é", "\ufeff"), { maxLength: 20 })
      .map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        writeFileSync(join(s.inside, "f"), `${content}\nMARK`);
        await edit({ command: "find_replace", find: "MARK", content: "OTHER" });
        expect(file().replace(/OTHER$/, "MARK")).to.equal(`${content}\nMARK`);
      }),
      { numRuns: 100 },
    );
  });

  it("ends with its signal, and writes nothing", async () => {
    const reason = new Error("enough");
    const work = call(
      codeEditTool({ baseDir: s.inside }),
      { path: "f", command: "write", content: "x" },
      { signal: AbortSignal.abort(reason) },
    );
    expect(await rejection(work)).to.equal(reason);
    expect(existsSync(join(s.inside, "f"))).to.equal(false);
  });

  it("requests approval with the option", () => {
    expect(codeEditTool({ baseDir: s.inside }).requireApproval).to.equal(false);
    const tool = codeEditTool({ baseDir: s.inside, requireApproval: true });
    expect(tool).to.include({ requireApproval: true, effect: "write", sequential: true });
    expect(tool.approvalDescription?.({ path: "f", command: "write", content: "x" })).to.equal(
      "Edit file (write): f\nContent preview: x",
    );
    const several = {
      path: "f",
      command: "find_replace",
      edits: [{ find: "a", content: "b".repeat(300) }],
    };
    expect(tool.approvalDescription?.(several)).to.equal(
      `Edit file (find_replace): f\nContent preview: a -> ${"b".repeat(95)} ... [305 characters] ... ${"b".repeat(100)}`,
    );
  });

  for (const [what, options] of [
    ["no folder", { baseDir: "/no/such" }],
    ["an unknown option", { baseDir: ".", approve: true }],
    ["an approval that is not a boolean", { baseDir: ".", requireApproval: 1 }],
    ["a limit of 0 bytes", { baseDir: ".", maxBytes: 0 }],
  ] as const) {
    it(`refuses ${what}`, () =>
      expect(() => codeEditTool(options as unknown as CodeEditToolOptions)).to.throw(
        ValidationError,
      ));
  }

  it("refuses files larger than maxBytes, before and after the edit", async () => {
    putFiles(s.inside, { f: "12345678" });
    const tool = codeEditTool({ baseDir: s.inside, maxBytes: 8 });
    expect(
      (await call(tool, { path: "f", command: "find_replace", find: "8", content: "89" })).text,
    ).to.match(/^Error: File is too large/);
    putFiles(s.inside, { f: "123456789" });
    expect(
      (await call(tool, { path: "f", command: "find_replace", find: "9", content: "" })).text,
    ).to.match(/^Error: File is too large/);
  });
});
