import type { Plugin } from "../contracts/plugin.js";
import type { Clock, IdGenerator } from "../contracts/runtime.js";
import { definePlugin } from "../contracts/plugin.js";
import { Tokens } from "../contracts/tokens.js";
import { Kernel } from "../kernel/kernel.js";
import { standardPlugins } from "./standard-plugins.js";

const START_MS = Date.UTC(2026, 0, 1);

/**
 * A clock that begins at 2026-01-01T00:00:00Z. Each reading is one millisecond later than the
 * previous reading.
 */
function steppingClock(): Clock {
  let readings = 0;
  return { now: () => new Date(START_MS + readings++), monotonicMs: () => readings++ };
}

/** Ids of requests and instances have separate counters: they do not change the ids of runs. */
function countingIds(): IdGenerator {
  const counts = { run: 0, request: 0, instance: 0 };
  return {
    next(use) {
      const name = use === "request" || use === "instance" ? use : "run";
      return `${name}-${++counts[name]}`;
    },
  };
}

/**
 * Creates a kernel with deterministic runs. Its plugins are the given plugins, and the standard
 * plugins that no given plugin replaces by name. Its clock starts at 2026-01-01T00:00:00Z and
 * advances by 1 ms with every reading. Run ids are `run-1`, `run-2`, ..., ids of requests
 * `request-1`, ..., ids of instances `instance-1`, ....
 *
 * Clock and ids override other bindings. A plugin that also overrides them causes an error at boot.
 * Dispose of the kernel after the test.
 *
 * @throws ValidationError for a value that is not a plugin.
 */
export function testKernel(plugins: readonly Plugin[] = []): Kernel {
  const repeatable = definePlugin({
    name: "testing-repeatable",
    bind(bind) {
      bind.single(Tokens.Clock, { override: true }).toConstantValue(steppingClock());
      bind.single(Tokens.IdGenerator, { override: true }).toConstantValue(countingIds());
    },
  });
  const taken = new Set(plugins.map(({ name }) => name));
  return new Kernel({
    plugins: [repeatable, ...standardPlugins().filter(({ name }) => !taken.has(name)), ...plugins],
  });
}
