import { closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { fileReadTool } from "../../../../src/plugins/tools/files/file-read-tool.js";
import { toolContract } from "../../../../src/plugins/testing/tool-contract.js";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { rejection } from "../../../support/fake-scope.js";
import { call, newSandbox, putFiles, type Sandbox } from "../tool-support.js";

const shared = newSandbox();
putFiles(shared.inside, { "a.txt": "one\ntwo\n", "binary.png": Uint8Array.of(137, 80, 0, 1) });

toolContract("file_read", {
  create: () => fileReadTool({ baseDir: shared.inside }),
  valid: [
    { path: "a.txt" },
    { path: " a.txt " },
    { path: "a.txt", offset: 2, limit: 1, hash: true },
  ],
  invalid: [
    {},
    { path: 1 },
    { path: "a.txt", offset: 0 },
    { path: "a.txt", limit: 0.5 },
    { path: "a.txt", other: 1 },
    "a.txt",
  ],
  failing: [
    { path: "no.txt" },
    { path: "../outside" },
    { path: "binary.png" },
    { path: "a.txt", offset: 99 },
  ],
});

describe("file_read", () => {
  let s: Sandbox;
  beforeEach(() => {
    s = newSandbox();
  });

  const read = async (
    input: {
      readonly path: string;
      readonly offset?: number;
      readonly limit?: number;
      readonly hash?: boolean;
    },
    maxBytes?: number,
  ) => (await call(fileReadTool({ baseDir: s.inside, maxBytes }), input)).text;

  it("returns a file unchanged", async () => {
    const text = "\ufeffGrüße\r\n\tübrigens 漢字 🙂\n\nno end";
    putFiles(s.inside, { "a/b.txt": text });
    expect(await read({ path: "a/b.txt" })).to.equal(text);
    expect(await read({ path: join(s.inside, "a", "b.txt") })).to.equal(text);
  });

  it("returns the empty text of an empty file", async () => {
    putFiles(s.inside, { empty: "" });
    expect(await read({ path: "empty" })).to.equal("");
  });

  const failures: readonly [string, string, string, ((s: Sandbox) => unknown)?][] = [
    ["a blank path", "  ", "File path must not be blank"],
    ["a path outside", "../outside/x", "Access denied: path is outside the sandbox directory"],
    ["an absolute path", "/etc/passwd", "Access denied: path is outside the sandbox directory"],
    ["a missing file", "no.txt", "File not found: no.txt"],
    ["a missing folder", "no/no.txt", "File not found: no/no.txt"],
    [
      "a folder",
      "folder",
      "Not a regular file: folder",
      ({ inside }) => mkdirSync(join(inside, "folder")),
    ],
    [
      "a link to an outside file",
      "link",
      "Access denied: path resolves outside the sandbox directory",
      ({ inside }) => symlinkSync("/etc/passwd", join(inside, "link")),
    ],
    ["a NUL", "a\0b", "Access denied: path contains a control character"],
    [
      "a binary file",
      "x.bin",
      "Not a text file: x.bin",
      ({ inside }) => writeFileSync(join(inside, "x.bin"), Uint8Array.of(65, 0, 66)),
    ],
    [
      "UTF-16",
      "x.txt",
      "Not a text file: x.txt",
      ({ inside }) => writeFileSync(join(inside, "x.txt"), Buffer.from("text", "utf16le")),
    ],
    [
      "a pipe",
      "pipe",
      "Not a regular file: pipe",
      ({ inside }) => execFileSync("mkfifo", [join(inside, "pipe")]),
    ],
  ];
  for (const [what, path, message, prepare] of failures) {
    it(`reports to the model: ${what}`, async () => {
      prepare?.(s);
      expect(await read({ path })).to.equal(`Error: ${message}`);
    });
  }

  it("refuses invalid UTF-8", async () => {
    writeFileSync(join(s.inside, "latin"), Uint8Array.of(0x47, 0x72, 0xfc, 0xdf, 0x65));
    expect(await read({ path: "latin" })).to.match(/^Error: Failed to read file: /);
  });

  it("returns a long file in pages that together form the file", async () => {
    const lines = Array.from({ length: 100 }, (_, i) => `line ${i + 1}\n`);
    putFiles(s.inside, { long: lines.join("") });
    expect(await read({ path: "long", offset: 3, limit: 2 })).to.equal(
      "line 3\nline 4\n[Lines 3 to 4; the file goes on. Read on with offset 5.]",
    );
    expect(await read({ path: "long", offset: 99 })).to.equal("line 99\nline 100\n");
    expect(await read({ path: "long", limit: 100 })).to.equal(lines.join(""));
    const first = await read({ path: "long" }, 20);
    expect(first).to.equal(
      "line 1\nline 2\n[Lines 1 to 2; the file goes on. Read on with offset 3.]",
    );
    expect(await read({ path: "long", offset: 101 })).to.equal(
      "Error: The file has 100 line(s); offset 101 is beyond its end",
    );
  });

  it("divides a line that is too long, between two characters", async () => {
    putFiles(s.inside, { wide: `${"ä".repeat(50)}\nnext\n` });
    const text = await read({ path: "wide" }, 11);
    expect(text).to.equal(
      `${"ä".repeat(5)}\n[Line 1 is longer than 11 bytes and was cut. Read on with offset 2.]`,
    );
    expect(await read({ path: "wide", offset: 2 }, 11)).to.equal("next\n");
  });

  it("reads every text completely, page by page", async () => {
    const text = fc
      .array(fc.constantFrom("a", "é", "漢", "🙂", "\n", "\n", "long line ".repeat(3)), {
        maxLength: 60,
      })
      .map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 7 }), async (content, limit) => {
        putFiles(s.inside, { f: content });
        const tool = fileReadTool({ baseDir: s.inside });
        let [whole, offset] = ["", 1];
        for (let more = true; more;) {
          const { result } = await call(tool, { path: "f", offset, limit });
          expect(result.ok, result.errorMessage).to.equal(true);
          const page = result.structured as { endLine: number; more: boolean };
          whole += page.more ? result.output.replace(/\[Lines [^\]]*\]$/, "") : result.output;
          [offset, more] = [page.endLine + 1, page.more];
        }
        expect(whole).to.equal(content);
      }),
      { numRuns: 100 },
    );
  });

  it("reads lines at the end of a large file without loading the file", async () => {
    putFiles(s.inside, { big: `${"x".repeat(99)}\n`.repeat(50_000) + "the last\n" });
    expect(await read({ path: "big", offset: 50_001 })).to.equal("the last\n");
  });

  it("reads a sparse file like any other file", async () => {
    const file = openSync(join(s.inside, "sparse"), "w");
    ftruncateSync(file, 2 ** 40);
    closeSync(file);
    expect(await read({ path: "sparse", offset: 1_000_000 })).to.equal(
      "Error: Not a text file: sparse",
    );
  });

  it("returns the beginning of the file's hash", async () => {
    putFiles(s.inside, { f: "one\ntwo\n" });
    const hash = createHash("sha256").update("one\ntwo\n").digest("hex").slice(0, 16);
    expect(await read({ path: "f", limit: 1, hash: true })).to.equal(
      `one\n[Lines 1 to 1; the file goes on. Read on with offset 2.]\n[hash ${hash}]`,
    );
  });

  it("ends with its signal", async () => {
    putFiles(s.inside, { f: "text" });
    const reason = new Error("enough");
    expect(
      await rejection(
        call(
          fileReadTool({ baseDir: s.inside }),
          { path: "f" },
          { signal: AbortSignal.abort(reason) },
        ),
      ),
    ).to.equal(reason);
  });

  it("is marked as reading text from outside", () => {
    expect(fileReadTool({ baseDir: s.inside })).to.include({
      name: "file_read",
      effect: "read",
      untrusted: true,
    });
  });

  for (const [what, options] of [
    ["no folder", { baseDir: "/no/such" }],
    ["no options", {}],
    ["an unknown option", { baseDir: ".", maxByte: 1 }],
    ["too few bytes", { baseDir: ".", maxBytes: 3 }],
  ] as const) {
    it(`refuses ${what}`, () =>
      expect(() => fileReadTool(options as { baseDir: string })).to.throw(ValidationError));
  }
});
