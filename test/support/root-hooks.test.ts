import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { setEnvironment } from "./environment.js";
import { projectRoot } from "./project.js";
import { temporaryFolder } from "./temporary-folder.js";

/** Runs mocha, as this project configures it, with a file of one suite. */
function mocha(suite: string, ...options: readonly string[]): string {
  const file = join(temporaryFolder(), "suite.test.mjs");
  writeFileSync(file, `describe("suite", () => { ${suite} });\n`);
  const { stdout } = spawnSync("node_modules/.bin/mocha", [...options, file], {
    cwd: projectRoot,
    encoding: "utf8",
    env: { ...process.env, AGENTENSEMBLE_TEST_GRACE_MS: "100" },
    timeout: 50_000,
  });
  return stdout;
}

describe("the hooks around all tests", () => {
  for (const options of [["--exit"], ["--parallel", "--jobs", "2"]]) {
    const how = `mocha ${options.join(" ")}`;

    it(`fail a file that leaves a timer open (${how})`, () => {
      const output = mocha(`it("leaks", () => void setInterval(() => {}, 1_000));`, ...options);
      expect(output)
        .to.include("The tests leave open: Timeout")
        .and.match(/\n1 passed, 1 failed\n/);
    });

    it(`tolerate handles that a test leaves open if it passes only when repeated (${how})`, () => {
      const output = mocha(
        `let tries = 0;
        it("fails once", () => {
          setInterval(() => {}, 1_000);
          if (tries++ === 0) throw new Error("first try");
        });`,
        "--retries",
        "1",
        ...options,
      );
      expect(output)
        .to.include("fails once: first try")
        .and.match(/\n1 passed, 0 failed\n/);
    });

    it(`fail a test that connects beyond loopback (${how})`, () => {
      const output = mocha(
        `it("connects", () => fetch("http://192.0.2.1/").catch(() => undefined));`,
        ...options,
      );
      expect(output)
        .to.include("beyond loopback: 192.0.2.1:80")
        .and.match(/, 1 failed\n/);
    });
  }

  let folder: string;
  it("allow a test to set variables and create a folder", () => {
    setEnvironment({ AGENTENSEMBLE_TEST_VARIABLE: "set", PATH: undefined });
    expect(process.env).to.include({ AGENTENSEMBLE_TEST_VARIABLE: "set" }).and.not.have.key("PATH");
    folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "");
  });

  it("restore the variables for the next test, which finds the folder", () => {
    expect(process.env).to.have.property("PATH");
    expect(process.env).to.not.have.property("AGENTENSEMBLE_TEST_VARIABLE");
    expect(existsSync(join(folder, "file"))).to.equal(true);
  });
});
