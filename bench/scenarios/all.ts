import type { Scenario } from "../harness/scenario.js";

/**
 * The modules of the scenarios by id, in the order of the table. A process loads only the scenarios
 * that it measures. If all modules are loaded, V8 compiles the work of some scenarios differently.
 */
const MODULES: Readonly<Record<string, () => Promise<object>>> = {
  run: () => import("./single-run.js"),
  S1: () => import("./chain.js"),
  S2: () => import("./tool-loop.js"),
  S3: () => import("./tool-loop.js"),
  S4a: () => import("./fan-out.js"),
  S4b: () => import("./layers.js"),
  S5: () => import("./map-reduce.js"),
  S6: () => import("./token-stream.js"),
  ui: () => import("./page-streams.js"),
  S7: () => import("./memory.js"),
  guards: () => import("./guards.js"),
  "guard-streams": () => import("./guards.js"),
  evals: () => import("./evals.js"),
  S8: () => import("./waiting.js"),
  S9: () => import("./cold-start.js"),
  S10: () => import("./vendor-request.js"),
  S11: () => import("./conversation.js"),
  files: () => import("./files.js"),
  G: () => import("./growth.js"),
  compile: () => import("./compile.js"),
  durable: () => import("./durable.js"),
  "durable-workers": () => import("./durable-workers.js"),
  dashboard: () => import("./dashboard.js"),
  network: () => import("./network.js"),
  "network-a2a": () => import("./network.js"),
  "network-redis": () => import("./network.js"),
  "network-postgres": () => import("./network.js"),
  "network-nats": () => import("./network-nats.js"),
};

export const SCENARIO_IDS: readonly string[] = Object.keys(MODULES);

/** @throws Error for an unknown id */
export async function loadScenario(id: string): Promise<Scenario> {
  const exported: readonly Partial<Scenario>[] = Object.values((await MODULES[id]?.()) ?? {});
  const scenario = exported.find((one) => one.id === id);
  if (scenario === undefined) throw new Error(`There is no scenario ${id}`);
  return scenario as Scenario; // the module has scenarios
}
