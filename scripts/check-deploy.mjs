// Checks the files in examples/deploy with other tools. Checks the manifests with the schemas in
// test/examples/kubernetes-schemas.json, and the Dockerfile with a linter. Checks the unit with
// systemd-analyze, if available. Installs packages in a temporary folder.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { inTemporaryFolder, output, root } from "./packed-project.mjs";

const PACKAGES = ["yaml@2", "ajv@8", "dockerfilelint@1.8.0"];
/** The installed packages that this process uses. */
const INSTALLED = ["yaml", "ajv/dist/2020.js"];
const ANALYZER = "systemd-analyze";
const file = (name) => `${root}examples/deploy/${name}`;

/**
 * @throws AssertionError for a manifest that a schema refuses, and if the schemas accept a manifest
 * with a mistake.
 */
function checkManifests(folder) {
  const require = createRequire(join(folder, "package.json"));
  const [{ parseAllDocuments }, { default: Ajv }] = INSTALLED.map((name) => require(name));
  const schema = JSON.parse(readFileSync(`${root}test/examples/kubernetes-schemas.json`, "utf8"));
  const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
  const manifests = (text) =>
    parseAllDocuments(text).map((document) => {
      assert.deepEqual(document.errors, []);
      return document.toJS();
    });
  const text = readFileSync(file("kubernetes.yaml"), "utf8");
  for (const manifest of manifests(text))
    assert.ok(validate(manifest), `${manifest.kind}: ${JSON.stringify(validate.errors, null, 1)}`);
  const mistakes = [
    ["terminationGracePeriodSeconds", "terminationGraceSeconds"],
    ["containerPort: 7329", 'containerPort: "7329"'],
    ["secretKeyRef", "secretRef"],
    ["maxReplicaCount: 20", "maxReplicaCount: many"],
  ];
  for (const [right, wrong] of mistakes) {
    assert.ok(text.includes(right), right);
    const wrongOnes = manifests(text.replace(right, wrong));
    assert.ok(!wrongOnes.every((manifest) => validate(manifest)), `${wrong} was accepted`);
  }
  console.log(`kubernetes.yaml: ${manifests(text).length} manifests follow their schemas`);
}

/** @throws AssertionError with the problems of the linter. */
function checkDockerfile(folder) {
  const linter = join(folder, "node_modules/dockerfilelint/bin/dockerfilelint");
  const { files } = JSON.parse(
    output(folder, process.execPath, [linter, "--output", "json", file("Dockerfile")]),
  );
  assert.deepEqual(
    files.flatMap(({ issues }) => issues),
    [],
  );
  console.log("Dockerfile: the linter finds nothing");
}

/** @throws AssertionError with the report of systemd-analyze. */
function checkUnit() {
  const { error, status, stdout, stderr } = spawnSync(
    ANALYZER,
    ["verify", file("kitchen.service")],
    { encoding: "utf8" },
  );
  if (error !== undefined) return console.log("kitchen.service: skipped, no systemd-analyze here");
  assert.equal(status, 0, `${stdout}${stderr}`);
  console.log("kitchen.service: systemd-analyze finds nothing");
}

await inTemporaryFolder(async (folder) => {
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  output(folder, "npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...PACKAGES]);
  checkManifests(folder);
  checkDockerfile(folder);
});
checkUnit();
