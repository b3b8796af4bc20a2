import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { projectRoot } from "../support/project.js";

const folder = join(projectRoot, "dist/bundle/dashboard/page");
const text = (name: string): string => readFileSync(join(folder, name), "utf8");

describe("the files of the page", () => {
  const { files } = JSON.parse(text("manifest.json")) as {
    readonly files: Readonly<Record<string, string>>;
  }; // written by the build

  it("are those of the manifest, without source maps", () => {
    expect(readdirSync(folder)).to.have.members([...Object.values(files), "manifest.json"]);
    expect(Object.keys(files)).to.include.members(["/", "/favicon.svg"]);
    for (const name of Object.values(files)) expect(text(name)).not.to.include("sourceMappingURL");
  });

  it("have at most 90 kB when they are compressed", () => {
    const sizes = Object.values(files).map((name) => gzipSync(text(name)).length);
    const sum = sizes.reduce((total, size) => total + size, 0);
    expect(sum).to.be.above(20_000).and.at.most(90_000);
  });

  it("have no script, style or address in the page itself that its policy refuses", () => {
    const html = text("index.html");
    expect(html).not.to.match(/ style=|<style|<script(?! type="module" src=)|https?:/);
    for (const name of Object.values(files).filter((file) => file.endsWith(".css")))
      expect(text(name)).not.to.match(/url\(|@import/);
  });
});
