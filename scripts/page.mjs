// For development of the page of the dashboard. Serves the page with the demo teams, and builds it
// again after each change of its sources. Reload the page after a change. `npm run page -- --port
// 7400 --pace 0.2` sets the port and the speed of the models. Pace 1 is the speed of a real model.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { dashboard } from "agentensemble/dashboard";
import * as esbuild from "esbuild";
import { buildPage, pageOptions, PAGE_FOLDER, writePageFiles } from "./build-page.mjs";
import { demoTeams } from "./dashboard-demo.mjs";

const { values } = parseArgs({
  options: { port: { type: "string", default: "7329" }, pace: { type: "string", default: "1" } },
});
const root = fileURLToPath(new URL("..", import.meta.url));

await buildPage(root, esbuild);
const options = pageOptions(root);
const renew = {
  name: "renew",
  setup(bundler) {
    bundler.onEnd(({ metafile, errors }) => {
      if (errors.length > 0 || metafile === undefined) return;
      writePageFiles(root, metafile);
      console.log(`built ${new Date().toLocaleTimeString()}`);
    });
  },
};
const context = await esbuild.context({ ...options, plugins: [...options.plugins, renew] });
await context.watch();

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Returns the current file of the page. Returns `undefined` for other paths. */
function pageFile(path) {
  const folder = join(root, PAGE_FOLDER);
  const { files } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  const name = Object.hasOwn(files, path) ? files[path] : undefined;
  if (name === undefined) return undefined;
  return { type: TYPES[extname(name)], bytes: readFileSync(join(folder, name)) };
}

const board = dashboard({ port: false, keepAlive: true });
const server = createServer((request, response) => {
  const file = request.method === "GET" ? pageFile(request.url ?? "/") : undefined;
  if (file === undefined) return board.handler(request, response);
  response.writeHead(200, { "content-type": file.type, "cache-control": "no-store" });
  response.end(file.bytes);
});
server.on("upgrade", board.upgrade);
server.listen(Number(values.port), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
  for (const { name, inputs, tags, make } of demoTeams({
    pace: Number(values.pace),
    plugins: [board],
  })) {
    const team = make();
    board.register(name, team);
    team.run(inputs, { tags }).then(
      ({ exitReason }) => console.log(`${name}: ${exitReason}`),
      ({ message }) => console.log(`${name}: ${message}`),
    );
  }
});
