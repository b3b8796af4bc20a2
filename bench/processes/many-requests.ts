// Sends requests of one side, and prints a mark after each part of them. With `--trace-opt`, node
// also prints each function that V8 compiles.
import { sideOf } from "../harness/scenario.js";
import { repeat } from "../harness/measure.js";
import { COMPILE_PARTS, COMPILE_RUNS, MARK } from "../scenarios/compile.js";
import { textRequest } from "../scenarios/vendor-request.js";
import { vendorAddress } from "../work/vendor-server.js";

const { work } = textRequest(sideOf(process.argv[2]), await vendorAddress());
for (let part = 0; part < COMPILE_PARTS; part++) {
  await repeat(COMPILE_RUNS, work);
  console.log(MARK);
}
process.exit();
