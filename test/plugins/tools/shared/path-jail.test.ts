import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import fsPromises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { AgentEnsembleError, ValidationError } from "../../../../src/contracts/errors.js";
import { FileAccessError } from "../../../../src/contracts/state-errors.js";
import { codeOf } from "../../../../src/util/objects.js";
import { JailRoot } from "../../../../src/plugins/tools/shared/jail-root.js";
import { FolderJail, pathJail } from "../../../../src/plugins/tools/shared/path-jail.js";
import { failure, rejection } from "../../../support/fake-scope.js";
import { newSandbox, putFiles, type Sandbox } from "../tool-support.js";

interface Attack {
  readonly what: string;
  readonly path: string | ((s: Sandbox) => string);
  readonly prepare?: (s: Sandbox) => unknown;
  /** The code that reading fails with. */
  readonly read: "AE_ACCESS_DENIED" | "AE_FILE_ACCESS";
  /**
   * The code that writing fails with; `inside` if the text is an unusual name inside the folder.
   */
  readonly write: "AE_ACCESS_DENIED" | "AE_FILE_ACCESS" | "inside";
}

const denied = { read: "AE_ACCESS_DENIED", write: "AE_ACCESS_DENIED" } as const;
const refused = { read: "AE_FILE_ACCESS", write: "AE_FILE_ACCESS" } as const;
/** An unusual, but valid name. */
const harmless = { read: "AE_FILE_ACCESS", write: "inside" } as const;

const ATTACKS: readonly Attack[] = [
  { what: "the folder above", path: "..", ...denied },
  { what: "a file next to the folder", path: "../outside/secret", ...denied },
  { what: "a path outside in the middle", path: "a/../../outside/secret", ...denied },
  { what: "a path outside after doubled slashes", path: "a//..//..//outside/secret", ...denied },
  { what: "a path outside after dots", path: "./.././outside/secret", ...denied },
  { what: "many steps outside", path: `${"../".repeat(50)}etc/passwd`, ...denied },
  { what: "a path outside with backslashes", path: "..\\outside\\secret", ...denied },
  { what: "a path outside with both slashes", path: "a\\../..\\../outside/secret", ...denied },
  { what: "an absolute path of Windows", path: "C:\\Windows\\win.ini", ...denied },
  { what: "a share of Windows", path: "\\\\server\\share", ...denied },
  { what: "a device path of Windows", path: "\\\\.\\pipe\\x", ...denied },
  { what: "an absolute path", path: "/etc/passwd", ...denied },
  { what: "the root of the disk", path: "/", ...denied },
  { what: "the absolute path outside", path: ({ outside }) => join(outside, "secret"), ...denied },
  {
    what: "a folder whose name has the same prefix",
    path: ({ inside }) => `${inside}-not/secret`,
    ...denied,
  },
  {
    what: "an absolute path that goes in and out",
    path: ({ inside }) => `${inside}/../outside/secret`,
    ...denied,
  },
  { what: "the process's own files", path: "/proc/self/environ", ...denied },
  { what: "the end of a string in C", path: "a.txt\0.png", ...denied },
  { what: "a NUL alone", path: "\0", ...denied },
  { what: "an end of line", path: "a\nb", ...denied },
  { what: "a control character", path: "a\u001b[2Jb", ...denied },
  { what: "a lone surrogate", path: "a\ud800b", ...denied },
  { what: "a path of 5,000 characters", path: "a/".repeat(2500), ...denied },
  { what: "a name of 256 bytes", path: "n".repeat(256), ...denied },
  { what: "a name of 86 three-byte characters", path: "€".repeat(86), ...denied },
  { what: "the folder itself", path: ".", ...refused },
  { what: "the folder itself by its absolute path", path: ({ inside }) => inside, ...refused },
  {
    what: "a folder",
    path: "folder",
    prepare: ({ inside }) => mkdirSync(join(inside, "folder")),
    ...refused,
  },
  { what: "a file in place of a folder", path: "a.txt/b", ...refused },
  { what: "a path outside with percent encoding", path: "%2e%2e/outside/secret", ...harmless },
  { what: "a path outside with wide dots", path: "．．/outside/secret", ...harmless },
  { what: "a path outside with one character for two dots", path: "‥/outside/secret", ...harmless },
  { what: "three dots", path: ".../outside/secret", ...harmless },
  { what: "two dots and a space", path: ".. /outside/secret", ...harmless },
  { what: "a home folder", path: "~/secret", ...harmless },
  { what: "a URL", path: "file:///etc/passwd", ...harmless },
  { what: "a variable", path: "$HOME/secret", ...harmless },
  { what: "a stream of Windows", path: "a.txt::$DATA", ...harmless },
  { what: "__proto__", path: "__proto__/polluted", ...harmless },
  {
    what: "a link to a file outside",
    path: "link",
    prepare: ({ inside, outside }) => symlinkSync(join(outside, "secret"), join(inside, "link")),
    ...denied,
  },
  {
    what: "a relative link to a file outside",
    path: "link",
    prepare: ({ inside }) => symlinkSync("../outside/secret", join(inside, "link")),
    ...denied,
  },
  {
    what: "a link to a missing outside file",
    path: "link",
    prepare: ({ inside, outside }) => symlinkSync(join(outside, "no"), join(inside, "link")),
    ...denied,
  },
  {
    what: "a link to a file inside",
    path: "link",
    prepare: ({ inside }) => symlinkSync("a.txt", join(inside, "link")),
    ...denied,
  },
  {
    what: "a link to itself",
    path: "link",
    prepare: ({ inside }) => symlinkSync("link", join(inside, "link")),
    ...denied,
  },
  {
    what: "a link to a folder outside",
    path: "link/secret",
    prepare: ({ inside, outside }) => symlinkSync(outside, join(inside, "link")),
    ...denied,
  },
  {
    what: "a missing file in an outside folder",
    path: "link/no/no",
    prepare: ({ inside, outside }) => symlinkSync(outside, join(inside, "link")),
    ...denied,
  },
  {
    what: "a new folder below a link",
    path: "link/x/y/z",
    prepare: ({ inside, top }) => symlinkSync(top, join(inside, "link")),
    ...denied,
  },
  {
    what: "a link to a missing folder",
    path: "link/secret",
    prepare: ({ inside, outside }) => symlinkSync(join(outside, "no"), join(inside, "link")),
    ...denied,
  },
  {
    what: "a chain of links",
    path: "one/secret",
    prepare: ({ inside, outside }) => {
      symlinkSync("two", join(inside, "one"));
      symlinkSync("three", join(inside, "two"));
      symlinkSync(outside, join(inside, "three"));
    },
    ...denied,
  },
  {
    what: "a loop of folders",
    path: "one/x",
    prepare: ({ inside }) => {
      symlinkSync("two", join(inside, "one"));
      symlinkSync("one", join(inside, "two"));
    },
    ...denied,
  },
  {
    what: "a link to the disk",
    path: "link/etc/passwd",
    prepare: ({ inside }) => symlinkSync("/", join(inside, "link")),
    ...denied,
  },
  {
    what: "a link to a device",
    path: "link",
    prepare: ({ inside }) => symlinkSync("/dev/zero", join(inside, "link")),
    ...denied,
  },
  {
    what: "a link to the process",
    path: "link/environ",
    prepare: ({ inside }) => symlinkSync("/proc/self", join(inside, "link")),
    ...denied,
  },
  {
    what: "a pipe",
    path: "pipe",
    prepare: ({ inside }) => execFileSync("mkfifo", [join(inside, "pipe")]),
    ...refused,
  },
];

/** Everything below a folder, with its content; links are not followed. */
function snapshot(folder: string, below = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const path = join(below, entry.name);
    if (entry.isDirectory()) Object.assign(found, { [path]: "folder" }, snapshot(folder, path));
    else found[path] = entry.isFile() ? readFileSync(join(folder, path), "utf8") : "other";
  }
  return found;
}

function leftovers(folder: string): readonly string[] {
  return Object.keys(snapshot(folder)).filter((name) => name.endsWith(".tmp"));
}

function openHandles(): number {
  return process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
}

for (const mode of ["held folders", "paths alone"] as const) {
  describe(`pathJail with ${mode}`, () => {
    let s: Sandbox;
    let jail: FolderJail;

    beforeEach(function () {
      if (process.platform !== "linux") this.skip(); // pipes, /proc
      s = newSandbox();
      putFiles(s.inside, { "a.txt": "text" });
      putFiles(s.outside, { secret: "the secret" });
      jail = new FolderJail(new JailRoot(s.inside, "sandbox", mode === "held folders"), 1_000);
    });

    for (const { what, path, prepare, read, write } of ATTACKS) {
      it(`reveals nothing for ${what}`, async () => {
        prepare?.(s);
        const given = typeof path === "string" ? path : path(s);
        const before = openHandles();
        expect((await failure(jail.read(given))).code).to.equal(read);
        expect((await failure(jail.open(given))).code).to.equal(read);
        expect((await failure(jail.resolveForReading(given))).code).to.equal(read);
        expect(openHandles()).to.equal(before);
      });

      it(`writes nothing outside for ${what}`, async () => {
        prepare?.(s);
        const given = typeof path === "string" ? path : path(s);
        const [before, handles] = [snapshot(s.outside), openHandles()];
        if (write === "inside") await jail.write(given, "x");
        else expect((await failure(jail.write(given, "x"))).code).to.equal(write);
        if (write === "AE_ACCESS_DENIED")
          expect((await failure(jail.resolveForWriting(given))).code).to.equal(write);
        expect(snapshot(s.outside)).to.deep.equal(before);
        expect(readdirSync(s.top)).to.deep.equal(["inside", "outside"]);
        expect(leftovers(s.inside)).to.deep.equal([]);
        expect(openHandles()).to.equal(handles);
      });
    }

    it("does not reveal whether an outside path exists", async () => {
      symlinkSync(s.outside, join(s.inside, "folder"));
      symlinkSync(join(s.outside, "secret"), join(s.inside, "there"));
      symlinkSync(join(s.outside, "no"), join(s.inside, "not-there"));
      const messages = await Promise.all(
        ["folder/secret", "folder/no", "folder/secret/x", "there", "not-there", "there/x"].map(
          (path) => failure(jail.read(path)),
        ),
      );
      expect(new Set(messages.map(({ message }) => message))).to.deep.equal(
        new Set(["Access denied: path resolves outside the sandbox directory"]),
      );
    });

    it("accepts paths inside the folder, in every notation", async () => {
      putFiles(s.inside, { "sub/b.txt": "b" });
      symlinkSync("sub", join(s.inside, "way"));
      const paths = [
        "sub/b.txt",
        "./sub/b.txt",
        "sub/../sub//b.txt",
        join(s.inside, "sub/b.txt"),
        "way/b.txt",
        "way/../sub/b.txt",
      ];
      for (const path of paths)
        expect(Buffer.from((await jail.read(path)).bytes).toString(), path).to.equal("b");
      expect((await jail.read("way/b.txt")).relativePath).to.equal("sub/b.txt");
      expect(await jail.resolveForReading("way/b.txt")).to.equal(join(s.inside, "sub/b.txt"));
    });

    it("works for a root that is a link, by both of its names", async () => {
      const link = join(s.top, "link");
      symlinkSync(s.inside, link);
      const linked = new FolderJail(new JailRoot(link, "sandbox", mode === "held folders"), 1_000);
      for (const path of ["a.txt", join(link, "a.txt"), join(s.inside, "a.txt")])
        expect((await linked.read(path)).size, path).to.equal(4);
      expect(linked.root).to.equal(s.inside);
    });

    it("creates missing folders, one by one", async () => {
      expect(await jail.write("x/y/z.txt", "new")).to.deep.equal({
        created: true,
        relativePath: "x/y/z.txt",
      });
      expect(readFileSync(join(s.inside, "x/y/z.txt"), "utf8")).to.equal("new");
      expect(await jail.resolveForWriting("p/q/r.txt")).to.equal(join(s.inside, "p/q/r.txt"));
      expect(existsSync(join(s.inside, "p"))).to.equal(false);
    });

    it("replaces a file and keeps its permissions", async () => {
      chmodSync(join(s.inside, "a.txt"), 0o751);
      expect(await jail.write("a.txt", "other")).to.deep.include({ created: false });
      expect(statSync(join(s.inside, "a.txt")).mode & 0o777).to.equal(0o751);
      expect(readFileSync(join(s.inside, "a.txt"), "utf8")).to.equal("other");
    });

    it("does not write through a hard link to an outside file", async () => {
      linkSync(join(s.outside, "secret"), join(s.inside, "hard"));
      await jail.write("hard", "mine");
      expect(readFileSync(join(s.outside, "secret"), "utf8")).to.equal("the secret");
    });

    it("reads no more than its limit, and pieces of larger files", async () => {
      writeFileSync(join(s.inside, "big"), "0123456789".repeat(200));
      const error = await failure(jail.read("big"));
      expect(error).to.include({ code: "AE_FILE_ACCESS", reason: "too_large" });
      expect(
        Buffer.from((await jail.read("big", { offset: 5, limit: 7 })).bytes).toString(),
      ).to.equal("5678901");
      expect((await jail.read("big", { offset: 0 })).bytes).to.have.length(1_000);
      expect((await jail.read("big", { offset: 1_990 })).bytes).to.have.length(10);
      expect((await jail.read("big", { offset: 9_999 })).bytes).to.have.length(0);
      expect((await failure(jail.read("big", { offset: -1 }))).code).to.equal("AE_VALIDATION");
    });

    it("does not read a sparse file of a terabyte", async () => {
      const file = openSync(join(s.inside, "sparse"), "w");
      ftruncateSync(file, 2 ** 40);
      closeSync(file);
      expect(await failure(jail.read("sparse"))).to.include({ reason: "too_large" });
      expect((await jail.read("sparse", { offset: 2 ** 39, limit: 10 })).bytes).to.have.length(10);
    });

    it("refuses to write more than its limit, and writes nothing", async () => {
      expect(await failure(jail.write("new", "x".repeat(1_001)))).to.include({
        reason: "too_large",
      });
      expect(existsSync(join(s.inside, "new"))).to.equal(false);
    });

    it("refuses a socket", async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(join(s.inside, "socket"), resolve));
      try {
        expect(await failure(jail.read("socket"))).to.include({ reason: "not_a_file" });
        expect(await failure(jail.write("socket", "x"))).to.include({ reason: "not_a_file" });
      } finally {
        await new Promise((resolve) => server.close(resolve));
      }
    });

    it("writes nothing over a file that has changed since it was read", async () => {
      const { version } = await jail.read("a.txt");
      await jail.write("a.txt", "first", { expectedVersion: version });
      expect(await failure(jail.write("a.txt", "second", { expectedVersion: version }))).to.include(
        { reason: "changed" },
      );
      expect(readFileSync(join(s.inside, "a.txt"), "utf8")).to.equal("first");
      expect(leftovers(s.inside)).to.deep.equal([]);
    });

    it("accepts one of many concurrent writes based on the same version", async () => {
      const { version } = await jail.read("a.txt");
      const writes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) =>
          jail.write("a.txt", `winner ${i}`, { expectedVersion: version }),
        ),
      );
      expect(writes.filter(({ status }) => status === "fulfilled")).to.have.length(1);
      expect(leftovers(s.inside)).to.deep.equal([]);
    });

    it("returns either the old text or the new text to readers, never a part", async () => {
      const texts = ["a".repeat(1_000), "b".repeat(900)];
      await jail.write("shared", texts[0] ?? "");
      const writing = Promise.all(
        Array.from({ length: 40 }, (_, i) => jail.write("shared", texts[i % 2] ?? "")),
      );
      for (let i = 0; i < 40; i++) {
        const bytes = await jail
          .read("shared")
          .catch((error: unknown) => AgentEnsembleError.isInstance(error)); // a file that is replaced repeatedly is refused
        if (typeof bytes === "object")
          expect(texts).to.include(Buffer.from(bytes.bytes).toString());
      }
      await writing;
      expect(leftovers(s.inside)).to.deep.equal([]);
    });

    it("ends with its signal, and leaves no file", async () => {
      const reason = new Error("enough");
      const signal = AbortSignal.abort(reason);
      expect(await rejection(jail.read("a.txt", { signal }))).to.equal(reason);
      expect(await rejection(jail.write("a.txt", "x", { signal }))).to.equal(reason);
      expect(readdirSync(s.inside)).to.deep.equal(["a.txt"]);
      expect(readFileSync(join(s.inside, "a.txt"), "utf8")).to.equal("text");
    });

    it("reports missing paths", async () => {
      const error = await failure(jail.read("no.txt"));
      expect(error).to.include({ code: "AE_FILE_ACCESS", reason: "not_found", path: "no.txt" });
      expect(FileAccessError.isInstance(error)).to.equal(true);
    });

    it("fails closed when its root is removed", async () => {
      rmSync(s.inside, { recursive: true });
      await failure(jail.read("a.txt"));
      await failure(jail.write("x/y", "x"));
      expect(existsSync(s.inside)).to.equal(false);
      mkdirSync(s.inside);
    });

    it("never reads the secret while a folder is repeatedly swapped for a link", async () => {
      putFiles(s.inside, { "folder/secret": "harmless" });
      const swapper = startSwapping(s, "folder");
      const seen = new Set<string>();
      try {
        for (let i = 0; i < 300; i++) {
          const read = await jail.read("folder/secret").catch((error: unknown) => error);
          if (read instanceof Error)
            expect(AgentEnsembleError.isInstance(read), String(read)).to.equal(true);
          else seen.add(Buffer.from((read as { bytes: Uint8Array }).bytes).toString());
        }
      } finally {
        await swapper.stop();
      }
      seen.delete("harmless");
      expect([...seen]).to.deep.equal([]);
    });

    if (mode === "held folders") {
      it("never writes outside while a folder is repeatedly swapped for a link", async () => {
        mkdirSync(join(s.inside, "folder"));
        const before = snapshot(s.outside);
        const swapper = startSwapping(s, "folder");
        try {
          for (let i = 0; i < 200; i++) {
            const written = await jail
              .write(`folder/new-${i}/file`, "x")
              .catch((error: unknown) => error);
            if (written instanceof Error)
              expect(AgentEnsembleError.isInstance(written), String(written)).to.equal(true);
          }
        } finally {
          await swapper.stop();
        }
        expect(snapshot(s.outside)).to.deep.equal(before);
      });
    }
  });
}

/** Replaces a folder by a link, and the link by the folder, until it is stopped. */
function startSwapping({ inside, outside }: Sandbox, name: string): { stop(): Promise<void> } {
  const [path, kept] = [join(inside, name), join(inside, `${name}-kept`)];
  let going = true;
  const swap = (step: () => void): Promise<void> => {
    try {
      step();
    } catch {
      rmSync(path, { recursive: true, force: true }); // made anew by a write in the moment without it
    }
    return new Promise((resolve) => setImmediate(resolve));
  };
  const work = (async () => {
    while (going) {
      await swap(() => renameSync(path, kept));
      await swap(() => symlinkSync(outside, path));
      await swap(() => rmSync(path, { recursive: true, force: true }));
      await swap(() => renameSync(kept, path));
    }
  })();
  return {
    async stop() {
      going = false;
      await work;
    },
  };
}

type PathCall = (path: string, ...rest: unknown[]) => Promise<unknown>;

/** Calls a function right after the system was asked about a path. */
function after(name: "lstat" | "open" | "realpath", end: string, deed: () => void): () => void {
  const patched = fsPromises as unknown as Record<string, PathCall>; // the module as it may be changed for everybody
  const original = patched[name];
  if (original === undefined) throw new Error(`no ${name}`);
  let done = false;
  patched[name] = async (path, ...rest) => {
    const answer = await original(path, ...rest);
    if (!done && path.endsWith(end)) {
      done = true;
      deed();
    }
    return answer;
  };
  syncBuiltinESMExports();
  return () => {
    patched[name] = original;
    syncBuiltinESMExports();
    expect(done, `${name} was asked about ${end}`).to.equal(true);
  };
}

for (const mode of ["held folders", "paths alone"] as const) {
  describe(`between check and access, with ${mode}`, () => {
    let s: Sandbox;
    let jail: FolderJail;
    beforeEach(function () {
      if (process.platform !== "linux") this.skip();
      s = newSandbox();
      putFiles(s.inside, { "folder/victim": "harmless" });
      putFiles(s.outside, { victim: "the secret" });
      jail = new FolderJail(new JailRoot(s.inside, "sandbox", mode === "held folders"), 1_000);
    });

    const swapFile = (make: (path: string) => void) => () => {
      const path = join(s.inside, "folder/victim");
      rmSync(path);
      make(path);
    };
    const swapFolder = (): void => {
      renameSync(join(s.inside, "folder"), join(s.inside, "kept"));
      symlinkSync(s.outside, join(s.inside, "folder"));
    };
    const swaps: [string, "lstat" | "realpath", string, () => void][] = [
      [
        "a file becomes a link",
        "lstat",
        "/victim",
        swapFile((path) => symlinkSync(join(s.outside, "victim"), path)),
      ],
      [
        "a file becomes a pipe",
        "lstat",
        "/victim",
        swapFile((path) => execFileSync("mkfifo", [path])),
      ],
      ["a file becomes a folder", "lstat", "/victim", swapFile((path) => mkdirSync(path))],
      ["a folder becomes a link", "realpath", "/folder", swapFolder],
    ];
    if (mode === "paths alone")
      swaps.push(["a folder becomes a link after its check", "lstat", "/folder", swapFolder]);
    for (const [what, name, end, deed] of swaps) {
      it(`reads nothing when ${what}`, async () => {
        const restore = after(name, end, deed);
        try {
          const error = await failure(jail.read("folder/victim"));
          expect(["AE_ACCESS_DENIED", "AE_FILE_ACCESS"]).to.include(error.code);
        } finally {
          restore();
        }
      });

      it(`writes nothing outside when ${what}`, async () => {
        const restore = after(name, end, deed);
        try {
          await jail
            .write("folder/victim", "mine")
            .catch((error: unknown) => expect(AgentEnsembleError.isInstance(error)).to.equal(true));
          expect(snapshot(s.outside)).to.deep.equal({ victim: "the secret" });
        } finally {
          restore();
        }
      });
    }

    it("reads the checked file if a folder is a link at the moment of opening", async () => {
      const restoreLook = after("lstat", "/victim", swapFolder);
      const restoreOpen = after("open", "/victim", () => {
        rmSync(join(s.inside, "folder"));
        renameSync(join(s.inside, "kept"), join(s.inside, "folder"));
      });
      try {
        expect(Buffer.from((await jail.read("folder/victim")).bytes).toString()).to.equal(
          "harmless",
        );
      } finally {
        restoreOpen();
        restoreLook();
      }
    });

    it("opens no link, even if no check preceded", async () => {
      symlinkSync("victim", join(s.inside, "folder/link"));
      const folder = await jail.base.folder(join(s.inside, "folder"), "folder");
      try {
        expect(codeOf(await rejection(folder.openFile("link")))).to.equal("ELOOP");
        expect(codeOf(await rejection(folder.createFile("link", 0o600)))).to.equal("EEXIST");
      } finally {
        await folder.close();
      }
    });

    it("reads a file that another program has replaced in the meantime", async () => {
      const restore = after("lstat", "/victim", () => {
        writeFileSync(join(s.inside, "new"), "newer");
        renameSync(join(s.inside, "new"), join(s.inside, "folder/victim"));
      });
      try {
        expect(Buffer.from((await jail.read("folder/victim")).bytes).toString()).to.equal("newer");
      } finally {
        restore();
      }
    });

    it("writes nothing over a file that was changed after it was compared", async () => {
      const { version } = await jail.read("folder/victim");
      const restore = after("lstat", "/victim", () =>
        writeFileSync(join(s.inside, "folder/victim"), "theirs"),
      );
      try {
        expect(
          await failure(jail.write("folder/victim", "mine", { expectedVersion: version })),
        ).to.include({ reason: "changed" });
      } finally {
        restore();
      }
    });
  });
}

describe("pathJail", () => {
  const wrong: readonly [string, () => unknown][] = [
    ["no folder", () => pathJail("/no/such/folder")],
    ["a file", () => pathJail(import.meta.filename)],
    ["an empty text", () => pathJail("")],
    ["an unknown option", () => pathJail(".", { maxByte: 1 } as object)],
    ["a blank name", () => pathJail(".", { name: " " })],
    ["a limit of 0 bytes", () => pathJail(".", { maxBytes: 0 })],
  ];
  for (const [what, make] of wrong)
    it(`refuses ${what}`, () => expect(make).to.throw(ValidationError));

  it("names the folder by the option, and respects maxBytes", async () => {
    const s = newSandbox();
    putFiles(s.inside, { a: "12345" });
    const jail = pathJail(s.inside, { name: "project", maxBytes: 4 });
    expect((await failure(jail.read("../x"))).message).to.equal(
      "Access denied: path is outside the project directory",
    );
    expect(await failure(jail.read("a"))).to.include({ reason: "too_large" });
  });
});
