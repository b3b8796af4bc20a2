// Mocha's spec reporter with more lines at the end: the tests that passed only when they were repeated (`--retries`), and, last, the closing line `N passed, N failed`.
// Writes the files of what failed, one a line, to the path in AGENTENSEMBLE_FAILED_FILES where it is set.
"use strict";
const { writeFileSync } = require("node:fs");
const { reporters, Runner } = require("mocha");

module.exports = class ClosingLine extends reporters.Spec {
  #repeated = new Set();
  #failedFiles = new Set();

  constructor(runner, options) {
    super(runner, options);
    runner.on(Runner.constants.EVENT_TEST_RETRY, (test, error) => {
      this.#repeated.add(`${test.fullTitle()}: ${error?.message ?? "failed"}`);
    });
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test) => {
      this.#failedFiles.add(test.file ?? test.parent?.file ?? "unknown");
    });
  }

  epilogue() {
    super.epilogue();
    if (this.#repeated.size > 0)
      process.stdout.write(`Repeated after a failure:\n  ${[...this.#repeated].join("\n  ")}\n`);
    const path = process.env["AGENTENSEMBLE_FAILED_FILES"];
    if (path !== undefined) writeFileSync(path, [...this.#failedFiles].join("\n"));
    process.stdout.write(`${this.stats.passes} passed, ${this.stats.failures} failed\n`);
  }
};
