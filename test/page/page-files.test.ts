import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { pageRoutes } from "../../src/plugins/dashboard/server/page-files.js";
import { projectRoot } from "../support/project.js";

const TYPES: ReadonlyMap<string, RegExp> = new Map([
  [".html", /^text\/html/],
  [".js", /^text\/javascript/],
  [".css", /^text\/css/],
  [".svg", /^image\/svg\+xml$/],
  [".json", /^application\/json$/],
]);

const folder = join(projectRoot, "dist/bundle/dashboard/page");
const text = (name: string): string => readFileSync(join(folder, name), "utf8");

describe("the files of the page", () => {
  const { files } = JSON.parse(text("manifest.json")) as {
    readonly files: Readonly<Record<string, string>>;
  }; // written by the build

  it("are those of the manifest, without source maps", () => {
    expect(readdirSync(folder)).to.have.members(Object.values(files));
    expect(Object.keys(files)).to.include.members(["/", "/favicon.svg"]);
    for (const name of Object.values(files)) expect(text(name)).not.to.include("sourceMappingURL");
  });

  it("are all served by a dashboard, each with its type", async () => {
    const routes = await pageRoutes("");
    expect(routes.map(({ path }) => path)).to.have.members(Object.keys(files));
    const typeOf = async (path: string): Promise<string | null> => {
      const route = routes.find((one) => one.path === path);
      const answer = await route?.handle(new Request(`http://localhost${path}`), undefined, {});
      return answer?.headers.get("content-type") ?? null;
    };
    for (const [path, name] of Object.entries(files))
      expect(await typeOf(path), path).to.match(TYPES.get(extname(name)) ?? /^$/);
  });

  const packedSize = (names: readonly string[]): number =>
    names.reduce((total, name) => total + gzipSync(text(name)).length, 0);

  it("have at most 60 kB compressed for the list of runs", () => {
    const html = text("index.html");
    const first = Object.values(files).filter((name) => html.includes(`"${name}"`));
    expect(first.length).to.be.above(2);
    expect(packedSize([...first, "index.html"])).to.be.within(20_000, 60_000);
  });

  it("have at most 160 kB compressed in total", () => {
    expect(packedSize(Object.values(files))).to.be.within(60_000, 160_000);
  });

  it("contain no script, style or URL that their policy refuses", () => {
    const html = text("index.html");
    expect(html).not.to.match(/ style=|<style|<script(?! type="module" src=)|https?:/);
    for (const name of Object.values(files).filter((file) => file.endsWith(".css")))
      expect(text(name)).not.to.match(/url\(|@import/);
  });
});
