import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { estimateTokenCount } from "tokenx";
import { loadFolder, passagesOf } from "../../examples/support/folder-documents.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { runProgram } from "./run-program.js";

describe("the loader and the chunker of the examples", () => {
  it("read Markdown, text and HTML, also of subfolders, and skip other files with reasons", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "deep"));
    writeFileSync(join(folder, "b.md"), "# B");
    writeFileSync(join(folder, "deep", "a.txt"), "words");
    writeFileSync(join(folder, "page.HTML"), "<h2>Title</h2><p>one<script>x()</script></p>");
    writeFileSync(join(folder, "broken.txt"), Buffer.from([0xff, 0xfe, 0x00]));
    writeFileSync(join(folder, "photo.png"), "");
    symlinkSync("/etc/hostname", join(folder, "link.txt"));
    const { documents, skipped } = await loadFolder(folder);
    expect(documents).to.deep.equal([
      { path: "b.md", text: "# B" },
      { path: join("deep", "a.txt"), text: "words" },
      { path: "page.HTML", text: "## Title\n\none" },
    ]);
    expect(skipped.map(({ path }) => path)).to.deep.equal(["broken.txt", "photo.png"]);
    expect(skipped[1]?.reason).to.equal("no reader for '.png'");
  });

  it("accept readers for other extensions", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a.rot"), "nop");
    const read = { ".rot": (bytes: Buffer): string => `read ${bytes.length} bytes` };
    const { documents } = await loadFolder(folder, read);
    expect(documents).to.deep.equal([{ path: "a.rot", text: "read 3 bytes" }]);
  });

  it("reject for a folder that is missing", async () => {
    const missing = join(temporaryFolder(), "missing");
    const error = await loadFolder(missing).catch((e: NodeJS.ErrnoException) => e);
    expect(error).to.have.property("code", "ENOENT");
  });

  it("split at headings, and keep the headings above each passage", () => {
    const text =
      "Intro\n\n# A\n\none\n\n### Deep\n\ntwo\n\n## B\n\nthree\n\n# C\n\n```\n# no heading\n```\n";
    expect(passagesOf({ path: "x.md", text })).to.deep.equal([
      { path: "x.md", headings: [], text: "Intro" },
      { path: "x.md", headings: ["A"], text: "one" },
      { path: "x.md", headings: ["A", "Deep"], text: "two" },
      { path: "x.md", headings: ["A", "B"], text: "three" },
      { path: "x.md", headings: ["C"], text: "```\n# no heading\n```" },
    ]);
  });

  it("keep every word, and no passage longer than the limit", () => {
    const words = Array.from({ length: 3_000 }, (_, i) => `word${i}`);
    const text = `${words.slice(0, 2_000).join(" ")}\n\n${words.slice(2_000).join(" ")}`;
    const passages = passagesOf({ path: "x.txt", text }, 100);
    expect(passages.length).to.be.above(10);
    for (const passage of passages) expect(estimateTokenCount(passage.text)).to.be.at.most(100);
    const all = passages.map((passage) => passage.text).join(" ");
    for (const word of words) expect(all).to.include(word);
  });

  it("create no passage from an empty document", () => {
    expect(passagesOf({ path: "x.md", text: "\n\n# Only a heading\n" })).to.deep.equal([]);
  });

  it("are run on the folder and with the question that `npm run example` receives", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "otters.md"), "Otters hold hands while they sleep in the kelp.");
    const args = ["scripts/run-examples.mjs", "90", folder, "How do otters sleep?"];
    const { code, stdout } = await runProgram(args).finished;
    expect(code, stdout).to.equal(0);
    expect(stdout).to.include("1 files").and.include("> How do otters sleep?");
    expect(stdout).to.include("from: otters.md");
  });
});
