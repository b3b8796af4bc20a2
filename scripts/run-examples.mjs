// Runs the compiled examples, dist/examples/NN-*.js, in sequence. Arguments select examples by the
// beginnings of their names (`npm run example -- 01`). The first argument that no name begins with
// and all further arguments are passed to the examples. Fails if an example exits with an error or
// hangs, or if no example matches.
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runSteps } from "./steps.mjs";

const folder = fileURLToPath(new URL("../dist/examples/", import.meta.url));
const given = process.argv.slice(2);
const all = existsSync(folder)
  ? readdirSync(folder).filter((file) => /^\d\d-.*\.js$/.test(file))
  : [];
const first = given.findIndex((text) => !all.some((file) => file.startsWith(text)));
const wanted = first > 0 ? given.slice(0, first) : given;
const passed = first > 0 ? given.slice(first) : [];
const chosen = all
  .sort()
  .filter((file) => wanted.length === 0 || wanted.some((prefix) => file.startsWith(prefix)));

if (chosen.length === 0) {
  const looked = wanted.length > 0 ? `begins with ${wanted.join(" or ")}` : "is in dist/examples";
  console.error(
    `No example ${looked}. There are: ${all.join(", ") || "none"}. Build first: npm run build.`,
  );
  process.exit(1);
}
runSteps(
  chosen.map((file) => [
    file,
    [process.execPath, "--enable-source-maps", `dist/examples/${file}`, ...passed],
  ]),
);
