// Mocha's spec reporter with one more line at the very end, which scripts and people can read at a glance: `N passed, N failed`.
"use strict";
const Spec = require("mocha").reporters.Spec;

module.exports = class ClosingLine extends Spec {
  epilogue() {
    super.epilogue();
    process.stdout.write(`${this.stats.passes} passed, ${this.stats.failures} failed\n`);
  }
};
