import type { Plugin, PluginContext } from "../contracts/plugin.js";
import type { EventHub } from "./events/event-hub.js";
import type { HookPoints } from "./hooks/points.js";
import type { Bindings } from "./bindings.js";
import { AgentEnsembleError, PluginError, ValidationError } from "../contracts/errors.js";
import {
  knownNames,
  nearestName,
  preview,
  requireArray,
  requireFunction,
  requireText,
} from "../contracts/validation.js";
import { allPoints, facadeFor } from "./hooks/points.js";
import { messageOf } from "../util/errors.js";

const STEPS = ["bind", "apply", "start", "attach", "dispose"] as const;
const PLUGIN_FIELDS = ["name", "dependsOn", ...STEPS];

/** @throws ValidationError for a non-plugin or a misspelt field. Allows a plugin's extra fields. */
export function checkPlugin(plugin: Plugin): void {
  if (typeof plugin !== "object" || plugin === null) {
    const hint =
      typeof plugin === "function" ? "Call the function that creates the plugin." : undefined;
    throw new ValidationError(`A plugin must be an object with a name, got: ${preview(plugin)}`, {
      hint,
    });
  }
  requireText(plugin.name, `A plugin must have a name, got: ${preview(plugin)}`);
  for (const field of Object.keys(plugin)) {
    const meant = PLUGIN_FIELDS.includes(field) ? undefined : nearestName(field, PLUGIN_FIELDS);
    if (meant !== undefined)
      throw new ValidationError(
        `Unknown field '${field}' in plugin '${plugin.name}'. Did you mean '${meant}'?`,
      );
  }
  for (const step of STEPS) requireFunction(`${step} of plugin '${plugin.name}'`, plugin[step]);
  requireArray(`dependsOn of plugin '${plugin.name}'`, plugin.dependsOn);
}

/** Sorts dependencies first, stably. @throws ValidationError for a missing plugin or a cycle. */
function sortPlugins(plugins: readonly Plugin[]): readonly Plugin[] {
  const byName = new Map(plugins.map((p) => [p.name, p]));
  const sorted = new Set<Plugin>();
  const visit = (plugin: Plugin, path: readonly string[]): void => {
    if (sorted.has(plugin)) return;
    if (path.includes(plugin.name)) {
      throw new ValidationError(
        `Plugins depend on each other in a circle: ${[...path.slice(path.indexOf(plugin.name)), plugin.name].join(" -> ")}`,
      );
    }
    for (const name of plugin.dependsOn ?? []) {
      const dependency = byName.get(name);
      if (dependency === undefined) {
        throw new ValidationError(
          `Plugin '${plugin.name}' depends on plugin '${name}', which is not there. ${knownNames(name, [...byName.keys()])}`,
        );
      }
      visit(dependency, [...path, plugin.name]);
    }
    sorted.add(plugin);
  };
  for (const plugin of plugins) visit(plugin, []);
  return [...sorted];
}

/** Loads plugins into a kernel and disposes them. */
export class PluginHost {
  readonly #disposals: { readonly plugin: string; readonly dispose: () => unknown }[] = [];
  #sorted: readonly Plugin[] = [];

  constructor(
    readonly bindings: Bindings,
    readonly points: HookPoints,
    readonly hub: EventHub,
  ) {}

  /** Runs the synchronous part: order, bindings, taps. Then freezes the hooks. */
  load(plugins: readonly Plugin[]): void {
    this.#sorted = sortPlugins(plugins);
    for (const plugin of this.#sorted) {
      this.bindings.load(plugin);
      if (plugin.dispose !== undefined)
        this.#disposals.push({
          plugin: plugin.name,
          dispose: () => plugin.dispose?.({ events: this.hub }),
        });
    }
    for (const plugin of this.#sorted) {
      this.#step(plugin, "apply", () =>
        plugin.apply?.({ hooks: facadeFor(this.points, plugin.name), events: this.hub }),
      );
    }
    for (const point of allPoints(this.points)) point.freeze();
  }

  /** Resolves values, then starts each plugin in turn. Does not wrap errors of this package. */
  async start(): Promise<void> {
    await this.bindings.resolve();
    const context: PluginContext = {
      events: this.hub,
      get: (token) => this.bindings.get(token),
      all: (token) => this.bindings.all(token),
    };
    for (const plugin of this.#sorted) {
      try {
        await plugin.start?.(context);
      } catch (error) {
        throw AgentEnsembleError.isInstance(error) ? error : failure(plugin.name, "start", error);
      }
    }
  }

  /** Disposes last to first. Continues after a failure. @throws AggregateError of all failures. */
  async dispose(): Promise<void> {
    const errors: Error[] = [];
    for (let entry = this.#disposals.pop(); entry !== undefined; entry = this.#disposals.pop()) {
      try {
        await entry.dispose();
      } catch (error) {
        errors.push(failure(entry.plugin, "dispose", error));
      }
    }
    if (errors.length > 0)
      throw new AggregateError(
        errors,
        `${errors.length} plugin(s) failed to dispose: ${errors.map((e) => e.message).join("; ")}`,
      );
  }

  #step(plugin: Plugin, step: "apply", work: () => unknown): void {
    let result: unknown;
    try {
      result = work();
    } catch (error) {
      throw failure(plugin.name, step, error);
    }
    if (result instanceof Promise) {
      void result.catch(() => undefined); // reported as a misuse below
      throw failure(
        plugin.name,
        step,
        new ValidationError("apply() must be synchronous; do asynchronous work in start()"),
      );
    }
  }
}

function failure(plugin: string, step: string, error: unknown): AgentEnsembleError {
  const hint = AgentEnsembleError.isInstance(error) ? error.hint : undefined;
  return new PluginError(
    `Plugin '${plugin}' failed in ${step}: ${messageOf(error)}`,
    { plugin, hook: step },
    { cause: error, hint },
  );
}
