// Rewrites the golden traces in test/fixtures/golden from the build. Read their diff: it shows the
// change for users of the files.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { TRACED, goldenOf, goldenPath } from "../dist/test/plugins/observability/trace/golden.js";

for (const name of TRACED) {
  await mkdir(dirname(goldenPath(name)), { recursive: true });
  await writeFile(goldenPath(name), await goldenOf(name));
}
console.log(`${TRACED.length} golden traces written`);
