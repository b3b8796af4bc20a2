/**
 * Hooks around all tests of a file (of a process if mocha runs without `--parallel`). Loaded with
 * `--require`.
 */
import { restoreEnvironment } from "./environment.js";
import { takeRefused } from "./loopback-only.js";
import { removeTemporaryFolders } from "./temporary-folder.js";
import { pause } from "./time.js";

/**
 * The time for resources that close by themselves: a killed process, a connection whose other end
 * has closed.
 */
const GRACE_MS = Number(process.env["AGENTENSEMBLE_TEST_GRACE_MS"] ?? 5_000);

function resources(): string[] {
  return process.getActiveResourcesInfo().sort();
}

/** Returns the items that occur more often in `now` than in `before`. */
function added(now: readonly string[], before: readonly string[]): readonly string[] {
  const known = [...before];
  return now.filter((name) => {
    const index = known.indexOf(name);
    if (index >= 0) known.splice(index, 1);
    return index < 0;
  });
}

let before: readonly string[] = [];
/**
 * Whether a test failed, in its first or second attempt. Its open handles are a consequence, and
 * the failure is reported.
 */
let hasFailed = false;

// Mocha ends its workers with this signal after a second. Writing the coverage at their exit may take longer.
if (process.env["NODE_V8_COVERAGE"] !== undefined) process.on("SIGTERM", () => undefined);

export const mochaHooks: Mocha.RootHookObject = {
  async beforeAll() {
    await pause(1);
    before = resources(); // with the limit that mocha sets this hook
  },

  afterEach(this: Mocha.Context) {
    const { currentTest } = this;
    hasFailed ||= currentTest !== undefined && !currentTest.isPending() && !currentTest.isPassed();
    restoreEnvironment();
    const targets = takeRefused();
    if (targets.length > 0)
      throw new Error(`A test tried to connect beyond loopback: ${targets.join(", ")}`);
  },

  async afterAll() {
    removeTemporaryFolders();
    for (let waited = 0; waited < GRACE_MS; waited += 20) {
      await pause(20);
      if (added(resources(), before).length === 0) return;
    }
    const message = `The tests leave open: ${added(resources(), before).join(", ")}`;
    if (!hasFailed) throw new Error(message);
    process.stderr.write(`${message} (after a test that failed)\n`);
  },
};
