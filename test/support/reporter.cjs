// Mocha's spec reporter with more lines at the end: the tests that passed only when they were repeated (`--retries`), and, last, the closing line `N passed, N failed`.
"use strict";
const { reporters, Runner } = require("mocha");

module.exports = class ClosingLine extends reporters.Spec {
  #repeated = new Set();

  constructor(runner, options) {
    super(runner, options);
    runner.on(Runner.constants.EVENT_TEST_RETRY, (test, error) => {
      this.#repeated.add(`${test.fullTitle()}: ${error?.message ?? "failed"}`);
    });
  }

  epilogue() {
    super.epilogue();
    if (this.#repeated.size > 0)
      process.stdout.write(`Repeated after a failure:\n  ${[...this.#repeated].join("\n  ")}\n`);
    process.stdout.write(`${this.stats.passes} passed, ${this.stats.failures} failed\n`);
  }
};
