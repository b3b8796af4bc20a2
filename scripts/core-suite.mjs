// Runs test files with mocha in the runtime that executes this script. The program of mocha starts
// only in Node.js. Prints `<number> passing`.
import { resolve } from "node:path";
import Mocha from "mocha";
import { mochaHooks } from "../dist/test/support/root-hooks.js";

const mocha = new Mocha({ timeout: 60_000, reporter: "dot", rootHooks: mochaHooks });
for (const file of process.argv.slice(2)) mocha.addFile(resolve(file));
await mocha.loadFilesAsync();
mocha.run((failures) => process.exit(failures === 0 ? 0 : 1));
