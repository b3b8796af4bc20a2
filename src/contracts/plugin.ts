import type { BindToFluentSyntax, Container } from "inversify";
import type { EnsembleAccess } from "./ensemble-access.js";
import type { EventStream } from "./events.js";
import type { EnsembleHooks, LaneName } from "./hooks.js";
import type { Token } from "./token.js";
import type { Awaitable } from "./types.js";

/** Binds values to tokens. Valid only during `bind`. */
export interface BindApi {
  /**
   * Binds one value to a token. Two direct bindings of a token are an error at boot, unless one has
   * `override`. `default: true` marks a binding that any direct binding replaces. If several
   * plugins bind a default, the last plugin's default applies.
   */
  single<T>(
    token: Token<T, "single">,
    o?: { readonly override?: boolean | undefined; readonly default?: boolean | undefined },
  ): BindToFluentSyntax<T>;
  /** Adds a contribution to a token that collects contributions. */
  many<T>(token: Token<T, "many">): BindToFluentSyntax<T>;
}

/** Access to bindings and events after the kernel has booted. */
export interface PluginContext {
  readonly events: EventStream;
  get<T>(token: Token<T>): T;
  all<T>(token: Token<T, "many">): readonly T[];
}

/**
 * One capability. Boot runs these steps for all plugins, in dependency order: `bind` (synchronous),
 * then `apply` (registers taps and listeners), then `start`. After `apply` no taps can be added.
 * `dispose` runs in the reverse order. An error in a step becomes a PluginError with the plugin's
 * name. An AgentEnsembleError of `start` remains unchanged.
 */
export interface Plugin {
  readonly name: string;
  /** Names of required plugins. Their steps run before the steps of this plugin. */
  readonly dependsOn?: readonly string[] | undefined;
  bind?(bind: BindApi): void;
  apply?(ctx: { readonly hooks: EnsembleHooks; readonly events: EventStream }): void;
  start?(ctx: PluginContext): Awaitable<void>;
  /**
   * Called with each ensemble that is created on a kernel with this plugin. Must not run the
   * ensemble before `start`.
   */
  attach?(ensemble: EnsembleAccess): void;
  /**
   * Releases the plugin's resources. `events` is the event stream of the disposed kernel, for a
   * plugin that several kernels share.
   */
  dispose?(ctx: { readonly events: EventStream }): Awaitable<void>;
}

/**
 * The bindings and taps of a kernel's plugins. `tokens` and `hooks` are empty before the kernel has
 * booted.
 */
export interface KernelDescription {
  /** Names of the plugins in the order of registration. */
  readonly plugins: readonly string[];
  /**
   * Bound tokens, each with the names of the plugins that bind it. `kernel.container` stands for
   * bindings outside of plugins.
   */
  readonly tokens: readonly { readonly token: string; readonly boundBy: readonly string[] }[];
  /**
   * Lanes with taps, in the order in which they run. Each tap is named `plugin/tap`. The taps of a
   * lane are in the order of their calls.
   */
  readonly hooks: readonly {
    readonly hook: string;
    readonly lane: LaneName;
    readonly taps: readonly string[];
  }[];
}

/** The public methods of a kernel. `agentensemble/kernel` exports the class. */
export interface KernelApi {
  use(plugin: Plugin): this;
  readonly hooks: EnsembleHooks;
  readonly container: Container;
  /** Returns the names of the plugins that bound the value of this token. */
  providers(token: Token<unknown, "single" | "many">): readonly string[];
  boot(): Promise<void>;
  /** Returns the plugins' bindings and taps. */
  describe(): KernelDescription;
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Returns the plugin unchanged. Checks its type at the place of its definition. */
export function definePlugin<P extends Plugin>(p: P): P {
  return p;
}
