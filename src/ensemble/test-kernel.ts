import type { Plugin } from "../contracts/plugin.js";
import type { Clock, IdGenerator } from "../contracts/runtime.js";
import { definePlugin } from "../contracts/plugin.js";
import { Tokens } from "../contracts/tokens.js";
import { Kernel } from "../kernel/kernel.js";
import { standardPlugins } from "./standard-plugins.js";

const START_MS = Date.UTC(2026, 0, 1);

/** Begins at 2026-01-01T00:00:00Z; every reading is a millisecond later than the previous one. */
function steppingClock(): Clock {
  let readings = 0;
  return { now: () => new Date(START_MS + readings++), monotonicMs: () => readings++ };
}

/** Ids of requests and instances have separate counters, so that they do not change the ids of runs. */
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
 * Creates a kernel with deterministic runs: the standard plugins (except those that `plugins`
 * replaces by name) and the given ones, a clock that starts at 2026-01-01T00:00:00Z and advances by
 * 1 ms with every reading, and the run ids `run-1`, `run-2`, ... Ids of requests are `request-1`
 * and so on, those of instances `instance-1`.
 *
 * Clock and ids override other bindings, so a plugin that overrides them as well is a boot error.
 * Dispose the kernel after the test.
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
