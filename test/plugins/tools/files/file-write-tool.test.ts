import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { fileWriteTool } from "../../../../src/plugins/tools/files/file-write-tool.js";
import { toolContract } from "../../../../src/plugins/testing/tool-contract.js";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { rejection } from "../../../support/fake-scope.js";
import { call, newSandbox, putFiles, type Sandbox } from "../tool-support.js";

const shared = newSandbox();

toolContract("file_write", {
  create: () => fileWriteTool({ baseDir: shared.inside }),
  valid: [
    { path: "a.txt", content: "text" },
    { path: "x/y/z.txt", content: "" },
  ],
  invalid: [
    { path: "a" },
    { content: "a" },
    { path: "a", content: 1 },
    { path: "a", content: "b", mode: "append" },
  ],
  failing: [
    { path: "", content: "x" },
    { path: "../outside/x", content: "x" },
  ],
});

describe("file_write", () => {
  let s: Sandbox;
  beforeEach(() => {
    s = newSandbox();
  });

  it("writes a file and its missing folders, and reports it", async () => {
    const { text, result } = await call(fileWriteTool({ baseDir: s.inside }), {
      path: "a/b/c.txt",
      content: "Grüße 🙂",
    });
    expect(text).to.equal("Successfully wrote to: a/b/c.txt");
    expect(result.structured).to.deep.equal({ path: "a/b/c.txt", created: true, bytes: 12 });
    expect(readFileSync(join(s.inside, "a/b/c.txt"), "utf8")).to.equal("Grüße 🙂");
    expect(readdirSync(join(s.inside, "a/b"))).to.deep.equal(["c.txt"]);
  });

  for (const path of [
    ".git/hooks/pre-commit",
    "sub/.GIT/config",
    "sub/.git",
    ".g\u200cit/config",
    "git~1/config",
    "to-git/config",
    "sub/../.git/config",
  ]) {
    it(`writes nothing that git would execute: ${path}`, async () => {
      putFiles(s.inside, { ".git/HEAD": "", "sub/x": "" });
      symlinkSync(".git", join(s.inside, "to-git"));
      const { text } = await call(fileWriteTool({ baseDir: s.inside }), { path, content: "x" });
      expect(text).to.equal("Error: Access denied: nothing is written into .git");
      expect(readdirSync(join(s.inside, ".git"))).to.deep.equal(["HEAD"]);
    });
  }

  it("writes in the same folder, and in a nested folder", async () => {
    putFiles(s.inside, { ".git/x": "" });
    for (const path of [".gitignore", ".github/workflows/a.yml", "a.git/x"])
      expect(
        (await call(fileWriteTool({ baseDir: s.inside }), { path, content: "x" })).text,
      ).to.contain("Successfully");
    expect(
      (await call(fileWriteTool({ baseDir: join(s.inside, ".git") }), { path: "x", content: "x" }))
        .text,
    ).to.contain("Successfully");
  });

  for (const [what, path, message] of [
    ["a blank path", " ", "Path must not be blank"],
    ["a path outside", "../outside/x", "Access denied: path is outside the sandbox directory"],
    [
      "a link to an outside file",
      "link",
      "Access denied: path resolves outside the sandbox directory",
    ],
    [
      "a folder that is a link",
      "folder/x",
      "Access denied: path resolves outside the sandbox directory",
    ],
    ["a folder", "sub", "Not a regular file: sub"],
    ["a file in place of a folder", "f/x", "Path is not a directory: f/x"],
  ] as const) {
    it(`reports to the model: ${what}, and changes nothing`, async () => {
      putFiles(s.inside, { "sub/x": "x", f: "f" });
      putFiles(s.outside, { x: "theirs" });
      symlinkSync(join(s.outside, "x"), join(s.inside, "link"));
      symlinkSync(s.outside, join(s.inside, "folder"));
      const { text, events } = await call(fileWriteTool({ baseDir: s.inside }), {
        path,
        content: "mine",
      });
      expect(text).to.equal(`Error: ${message}`);
      expect(events).to.deep.equal([]);
      expect(readFileSync(join(s.outside, "x"), "utf8")).to.equal("theirs");
    });
  }

  it("refuses a content that is too large", async () => {
    const { text } = await call(fileWriteTool({ baseDir: s.inside, maxBytes: 4 }), {
      path: "f",
      content: "12345",
    });
    expect(text).to.match(/^Error: File is too large: f has 5 bytes/);
    expect(existsSync(join(s.inside, "f"))).to.equal(false);
  });

  it("reports the changed lines to listeners", async () => {
    const tool = fileWriteTool({ baseDir: s.inside });
    const identity = { type: "file_changed", taskId: "task-1", agentRole: "Tester", filePath: "f" };
    const first = await call(tool, { path: "./f", content: "a\nb\nc\n" });
    expect(first.events).to.deep.equal([
      { ...identity, changeType: "CREATED", linesAdded: 3, linesRemoved: 0 },
    ]);
    const second = await call(tool, { path: "f", content: "a\nB\nc\nd\n" });
    expect(second.events).to.deep.equal([
      { ...identity, changeType: "MODIFIED", linesAdded: 2, linesRemoved: 1 },
    ]);
    expect((await call(tool, { path: "f", content: "a\nB\nc\nd\n" })).events).to.deep.equal([]);
    expect(
      (await call(tool, { path: "f", content: "new" }, { listening: false })).events,
    ).to.deep.equal([]);
  });

  it("ends with its signal, and writes nothing", async () => {
    const reason = new Error("enough");
    const work = call(
      fileWriteTool({ baseDir: s.inside }),
      { path: "f", content: "x" },
      { signal: AbortSignal.abort(reason) },
    );
    expect(await rejection(work)).to.equal(reason);
    expect(readdirSync(s.inside)).to.deep.equal([]);
  });

  it("requests approval with the option, showing the start and the end of the content", () => {
    expect(fileWriteTool({ baseDir: s.inside })).to.include({
      requireApproval: false,
      effect: "write",
      sequential: true,
    });
    const tool = fileWriteTool({ baseDir: s.inside, requireApproval: true });
    expect(tool.requireApproval).to.equal(true);
    expect(tool.approvalDescription?.({ path: "a.txt", content: "short" })).to.equal(
      "Write to file: a.txt\nContent preview: short",
    );
    expect(tool.approvalDescription?.({ path: "a.txt", content: "x".repeat(201) })).to.equal(
      `Write to file: a.txt\nContent preview: ${"x".repeat(100)} ... [201 characters] ... ${"x".repeat(100)}`,
    );
  });

  for (const [what, options] of [
    ["no folder", { baseDir: "/no/such" }],
    ["an unknown option", { baseDir: ".", approval: true }],
    ["an approval that is not a boolean", { baseDir: ".", requireApproval: "yes" }],
    ["a limit of 0 bytes", { baseDir: ".", maxBytes: 0 }],
  ] as const) {
    it(`refuses ${what}`, () =>
      expect(() => fileWriteTool(options as { baseDir: string })).to.throw(ValidationError));
  }
});
