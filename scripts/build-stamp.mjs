// Determines whether dist/ is the result of the current sources. dist/.stamp contains names, sizes
// and modification times of both.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDERS = ["src", "page", "test", "examples", "bench", "scripts", "dist"];
const FILES = ["package.json", "tsconfig.json", "node_modules/.package-lock.json"];
const STAMP = "dist/.stamp";

function fingerprint(root) {
  const found = FOLDERS.filter((folder) => existsSync(join(root, folder))).flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(tsx?|js|mjs|map|css|html|svg)$/.test(file))
      .map((file) => join(folder, file)),
  );
  const hash = createHash("sha256").update(process.version);
  for (const file of [...FILES, ...found.sort()]) {
    const { size, mtimeMs } = statSync(join(root, file), { throwIfNoEntry: false }) ?? {};
    hash.update(`\0${file}\0${size}\0${mtimeMs}`);
  }
  return hash.digest("hex");
}

/** The end of the stamp of a build without type check. */
const UNCHECKED = " unchecked";

/**
 * Returns whether no source and no output has changed since `stampBuild(root)`. A build without
 * type check counts only if `isChecked` is false.
 */
export function isBuilt(root, isChecked = true) {
  const stamp = join(root, STAMP);
  if (!existsSync(stamp)) return false;
  const [text, present] = [readFileSync(stamp, "utf8"), fingerprint(root)];
  return text === present || (!isChecked && text === `${present}${UNCHECKED}`);
}

/** Marks the outputs in dist/ as the result of the current sources. */
export function stampBuild(root, isChecked = true) {
  writeFileSync(join(root, STAMP), `${fingerprint(root)}${isChecked ? "" : UNCHECKED}`);
}
