import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import {
  globTool,
  type GlobToolOptions,
} from "../../../../src/plugins/tools/workspace/glob-tool.js";
import { toolContract } from "../../../../src/plugins/testing/tool-contract.js";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { rejection } from "../../../support/fake-scope.js";
import { call, newSandbox, putFiles, type Sandbox } from "../tool-support.js";

const shared = newSandbox();
putFiles(shared.inside, { "a.ts": "", "src/b.ts": "" });

toolContract("glob", {
  create: () => globTool({ baseDir: shared.inside }),
  valid: [{ pattern: "**/*.ts" }, { pattern: "*", path: "src" }, { pattern: "no" }],
  invalid: [{}, { pattern: 1 }, { pattern: "*", limit: 3 }],
  failing: [
    { pattern: " " },
    { pattern: "[" },
    { pattern: "*", path: ".." },
    { pattern: "*", path: "no" },
    { pattern: "../*" },
  ],
});

describe("glob", () => {
  let s: Sandbox;
  beforeEach(() => {
    s = newSandbox();
    putFiles(s.inside, {
      "root.ts": "",
      "root.js": "",
      ".hidden": "",
      "src/a.ts": "",
      "src/b.tsx": "",
      "src/deep/er/c.ts": "",
      "src/a[1].ts": "",
      "docs/x.md": "",
      "node_modules/p/index.ts": "",
      ".git/HEAD": "",
    });
  });

  const glob = async (pattern: string, path?: string, options: Partial<GlobToolOptions> = {}) =>
    (await call(globTool({ baseDir: s.inside, ...options }), { pattern, path })).text.split("\n");

  const patterns: readonly [string, string | undefined, readonly string[]][] = [
    ["**/*.ts", undefined, ["root.ts", "src/a.ts", "src/a[1].ts", "src/deep/er/c.ts"]],
    ["*.ts", undefined, ["root.ts"]],
    ["./*.ts", undefined, ["root.ts"]],
    ["src/*", undefined, ["src/a.ts", "src/a[1].ts", "src/b.tsx"]],
    ["src/**", undefined, ["src/a.ts", "src/a[1].ts", "src/b.tsx", "src/deep/er/c.ts"]],
    ["**/*.{ts,tsx}", "src", ["src/a.ts", "src/a[1].ts", "src/b.tsx", "src/deep/er/c.ts"]],
    ["*.{js,{md,ts}}", undefined, ["root.js", "root.ts"]],
    ["*.tsx", "src", ["src/b.tsx"]],
    ["src/*.tsx", "src", ["src/b.tsx"]],
    ["**/[ab].ts", undefined, ["src/a.ts"]],
    ["**/[!a].ts", undefined, ["src/deep/er/c.ts"]],
    ["src/a\\[1\\].ts", undefined, ["src/a[1].ts"]],
    ["root.??", undefined, ["root.js", "root.ts"]],
    ["src/*/c.ts", undefined, ["No files found matching pattern: src/*/c.ts"]],
    ["src/*/*/c.ts", undefined, ["src/deep/er/c.ts"]],
    [".*", undefined, [".hidden"]],
    ["a+(.)^$|", undefined, ["No files found matching pattern: a+(.)^$|"]],
    ["**/*.ts", "node_modules", ["node_modules/p/index.ts"]],
    ["**/*.ts", "src/deep/../deep", ["src/deep/er/c.ts"]],
  ];
  for (const [pattern, path, expected] of patterns) {
    it(`finds ${pattern}${path === undefined ? "" : ` in ${path}`}`, async () => {
      expect(await glob(pattern, path)).to.deep.equal(expected);
    });
  }

  it("accepts a pattern that contains the folder's own path", async () => {
    expect(await glob(`${s.inside}/*.ts`)).to.deep.equal(["root.ts"]);
  });

  for (const [what, input, message] of [
    ["a blank pattern", { pattern: " " }, "Pattern must not be blank"],
    [
      "a folder outside",
      { pattern: "*", path: "../outside" },
      "Access denied: path is outside the workspace directory",
    ],
    [
      "a pattern outside",
      { pattern: "src/../../*" },
      "Access denied: path is outside the workspace directory",
    ],
    ["a file as folder", { pattern: "*", path: "root.ts" }, "Path is not a directory: root.ts"],
    ["a missing folder", { pattern: "*", path: "no" }, "Path is not a directory: no"],
    [
      "a link to an outside folder",
      { pattern: "*", path: "link" },
      "Access denied: path resolves outside the workspace directory",
    ],
    ["an unterminated class", { pattern: "[a" }, "Invalid glob pattern: a [ is never closed"],
    ["an unterminated brace", { pattern: "{a,b" }, "Invalid glob pattern: a { is never closed"],
    [
      "deeply nested braces",
      { pattern: "{".repeat(11) },
      "Invalid glob pattern: more than 10 { in each other",
    ],
    [
      "an endless pattern",
      { pattern: "a".repeat(1_001) },
      "Invalid glob pattern: it is longer than 1000 characters",
    ],
  ] as const) {
    it(`reports to the model: ${what}`, async () => {
      symlinkSync(s.outside, join(s.inside, "link"));
      expect((await call(globTool({ baseDir: s.inside }), input)).text).to.equal(
        `Error: ${message}`,
      );
    });
  }

  it("does not follow links", async () => {
    putFiles(s.outside, { "secret.ts": "" });
    symlinkSync(s.outside, join(s.inside, "src/out"));
    symlinkSync("..", join(s.inside, "src/loop"));
    symlinkSync(join(s.outside, "secret.ts"), join(s.inside, "src/file.ts"));
    expect(await glob("src/**/*.ts")).to.deep.equal([
      "src/a.ts",
      "src/a[1].ts",
      "src/deep/er/c.ts",
    ]);
  });

  it("omits files of .gitignore", async () => {
    putFiles(s.inside, {
      ".gitignore":
        "# comment\n*.log\n/build\nout/\n!keep.log\ndocs/*.md\n\\!odd\nspace\\ \n**/cache/**\n",
      "a.log": "",
      "keep.log": "",
      "sub/a.log": "",
      build: "",
      "sub/build/x": "",
      "out/x": "",
      "sub/out": "",
      "!odd": "",
      "space ": "",
      "sub/cache/x/y": "",
      "pkg/.gitignore": "!a.log\nx.*\n",
      "pkg/a.log": "",
      "pkg/x.ts": "",
    });
    const found = await glob("**");
    expect(found).to.include.members([
      "keep.log",
      "sub/build/x",
      "sub/out",
      "pkg/a.log",
      ".gitignore",
    ]);
    for (const gone of [
      "a.log",
      "sub/a.log",
      "build",
      "out/x",
      "docs/x.md",
      "!odd",
      "space ",
      "sub/cache/x/y",
      "pkg/x.ts",
      ".git/HEAD",
    ]) {
      expect(found, gone).not.to.include(gone);
    }
    expect(await glob("*.log", undefined, { gitignore: false })).to.deep.equal([
      "a.log",
      "keep.log",
    ]);
    expect(await glob("*.log", "pkg")).to.deep.equal(["keep.log", "pkg/a.log"].slice(1));
  });

  it("omits files of the options instead of the defaults", async () => {
    const found = await glob("**/*.ts", undefined, { ignore: ["src/**", "*.js"] });
    expect(found).to.deep.equal(["node_modules/p/index.ts", "root.ts"]);
  });

  it("returns the alphabetically first paths if there are too many, and reports this", async () => {
    putFiles(
      s.inside,
      Object.fromEntries(
        Array.from({ length: 30 }, (_, i) => [`many/${String(29 - i).padStart(2, "0")}`, ""]),
      ),
    );
    expect(await glob("many/*", undefined, { maxResults: 2 })).to.deep.equal([
      "many/00",
      "many/01",
      "... (results capped at 2 of 30 files)",
    ]);
  });

  it("matches patterns in linear time that are exponential elsewhere", async () => {
    mkdirSync(join(s.inside, "a".repeat(200)));
    putFiles(s.inside, { [`${"a".repeat(200)}/${"a".repeat(200)}`]: "" });
    for (const pattern of [
      "**/".repeat(300) + "x",
      `${"*a".repeat(400)}b`,
      `${"{a,aa}".repeat(150)}b`,
      `${"**".repeat(400)}b`,
    ]) {
      expect(await glob(pattern)).to.have.length(1);
    }
  });

  it("matches a .gitignore in linear time that is exponential elsewhere", async () => {
    const hostile = [
      ...Array.from({ length: 900 }, (_, i) => `${"*a".repeat(20)}${i}`),
      "[z-a]",
      "(((",
      "\\",
      "!",
      "/",
    ].join("\n");
    putFiles(s.inside, { ".gitignore": hostile, [`x/${"a".repeat(200)}`]: "" });
    expect(await glob("x/*")).to.deep.equal([`x/${"a".repeat(200)}`]);
  });

  it("stops at its maximum depth, and reports this", async () => {
    putFiles(s.inside, { [`${"d/".repeat(70)}f`]: "" });
    expect((await glob("**/f"))[1]).to.match(/too large/);
  });

  it("returns the matches so far at its time limit", async () => {
    putFiles(
      s.inside,
      Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`many/${i % 50}/${i}`, ""])),
    );
    const text = await glob("**/no", undefined, { timeLimitMs: 1 });
    expect(text[0]).to.equal("No files found matching pattern: **/no");
    expect(text[1]).to.match(/time was up/);
  });

  it("ends with its signal", async () => {
    putFiles(
      s.inside,
      Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`many/${i % 50}/${i}`, ""])),
    );
    const controller = new AbortController();
    const work = call(
      globTool({ baseDir: s.inside }),
      { pattern: "**" },
      { signal: controller.signal },
    );
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await rejection(work)).to.equal(reason);
  });

  for (const [what, options] of [
    ["no folder", { baseDir: "/no/such" }],
    ["an unknown option", { baseDir: ".", maxResult: 1 }],
    ["a limit of 0 results", { baseDir: ".", maxResults: 0 }],
    ["patterns that are not a list", { baseDir: ".", ignore: "*.log" }],
    ["a blank pattern", { baseDir: ".", ignore: [" "] }],
    ["a time limit of 0", { baseDir: ".", timeLimitMs: 0 }],
    ["a `gitignore` that is not a boolean", { baseDir: ".", gitignore: 1 }],
  ] as const) {
    it(`refuses ${what}`, () =>
      expect(() => globTool(options as unknown as GlobToolOptions)).to.throw(ValidationError));
  }
});
