// Packs the package and create-agentensemble, creates a project from each template with the packed program, installs it with npm, and runs its tests and,
// where it is a program that ends, its start. Prints the time and the size of each.
import assert from "node:assert/strict";
import { join } from "node:path";
import { inTemporaryFolder, output, root } from "./packed-project.mjs";

const FLAGS = ["--no-audit", "--no-fund", "--ignore-scripts"];

/** Packs the package in `folder` into `target` and returns the name of the file. */
function pack(folder, target) {
  const [{ filename }] = JSON.parse(
    output(folder, "npm", ["pack", "--silent", "--json", "--pack-destination", target])
      .split("\n")
      .slice(-1e6)
      .join("\n")
      .replace(/^[^[]*/, ""),
  );
  return join(target, filename);
}

await inTemporaryFolder(async (folder) => {
  output(root, "npm", ["run", "build"]);
  const main = pack(root, folder);
  const create = pack(join(root, "create-agentensemble"), folder);
  output(folder, "npm", ["install", ...FLAGS, "--prefix", join(folder, "tool"), create]);
  const program = join(folder, "tool/node_modules/create-agentensemble/index.js");
  for (const template of ["minimal", "research", "service", "evaluation"]) {
    const project = join(folder, template);
    const started = performance.now();
    output(folder, process.execPath, [program, project, "--template", template, "--use", main]);
    output(project, "npm", ["install", ...FLAGS]);
    const installed = performance.now();
    output(project, "npm", ["test"]);
    const tested = performance.now();
    if (template === "minimal" || template === "research") {
      const text = output(project, "npm", ["start"], { AGENTENSEMBLE_MODEL: "offline:extractive" });
      assert.match(text, /COMPLETED/);
    }
    const size = output(project, "du", ["-sm", "node_modules"]).split("\t")[0];
    const seconds = (from, to) => ((to - from) / 1000).toFixed(1);
    console.log(
      `${template}: created and installed in ${seconds(started, installed)} s (${size} MB), tests in ${seconds(installed, tested)} s`,
    );
  }
});
