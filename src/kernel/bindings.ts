import type { BindToFluentSyntax, Container as InversifyContainer } from "inversify";
import type { BindApi, KernelDescription, Plugin } from "../contracts/plugin.js";
import { PluginError, ValidationError } from "../contracts/errors.js";
import { MANY_TOKENS, Tokens } from "../contracts/tokens.js";
import { type Token, tokenName } from "../contracts/token.js";
import { checkOptions } from "../contracts/validation.js";
import { Container, ContainerModule } from "./class-injection.js";
import { messageOf } from "../util/errors.js";

type AnyToken = Token<unknown, "single" | "many">;
type Owner = { readonly plugin: string; readonly override: boolean };

const DIRECT: Owner = { plugin: "kernel.container", override: false };

/**
 * Keeps the container of a kernel and the owner of each binding. A parent container keeps the
 * defaults: any direct binding takes precedence. `get` and `all` handle nested and unbound tokens.
 */
export class Bindings {
  readonly #defaults = new Container();
  readonly container: InversifyContainer = new Container({ parent: this.#defaults });
  readonly #owners = new Map<unknown, Owner>();
  readonly #defaultOwners = new Map<unknown, Owner>();
  readonly #cardinality = new Map<unknown, "single" | "many">(
    MANY_TOKENS.map((token) => [token, "many"]),
  );
  readonly #lists = new Map<unknown, readonly unknown[]>();
  readonly #contributors = new Map<unknown, Set<string>>();

  constructor() {
    for (const token of Object.values(Tokens))
      if (!this.#cardinality.has(token)) this.#cardinality.set(token, "single");
  }

  /** Loads a plugin's bindings as one module. @throws PluginError with the name of each owner. */
  load(plugin: Plugin): void {
    if (plugin.bind === undefined) return;
    try {
      this.container.load(
        new ContainerModule((module) => {
          const api = this.#apiFor(plugin.name, <T>(token: Token<T, "single" | "many">) =>
            module.bind<T>(token),
          );
          const result: unknown = plugin.bind?.(api.bind);
          api.close();
          refusePromise(result, "bind()");
        }),
      );
    } catch (error) {
      throw new PluginError(
        `Plugin '${plugin.name}' failed to bind: ${messageOf(error)}`,
        { plugin: plugin.name, hook: "bind" },
        { cause: error },
      );
    }
  }

  /** Returns a child container with the bindings of one run. */
  forRun(bind: (api: BindApi) => void): InversifyContainer {
    const child = new Container({ parent: this.container });
    const bound = new Set<unknown>();
    let open = true;
    const checkOpen = (token: unknown): void => {
      if (!open)
        throw new ValidationError(
          `The run's bindings bind '${tokenName(token)}' after their function has returned`,
        );
    };
    const result: unknown = bind({
      single: (token, o = {}) => {
        checkOpen(token);
        this.#expect(token, "single");
        checkOptions(`single(${tokenName(token)})`, o, ["override", "default"]);
        if (o.default === true)
          throw new ValidationError(
            `single(${tokenName(token)}, { default: true }) has no effect in a run's bindings: they come before everything else`,
          );
        if (bound.has(token))
          throw new ValidationError(`The run's bindings bind token '${tokenName(token)}' twice`);
        bound.add(token);
        return child.bind(token);
      },
      many: (token) => {
        checkOpen(token);
        this.#expect(token, "many");
        return child.bind(token);
      },
    });
    open = false;
    refusePromise(result, "bindings");
    return child;
  }

  /**
   * Resolves all bindings, including promises. Singletons then contain no binding of a run.
   * @throws PluginError with the name of the owner.
   */
  async resolve(): Promise<void> {
    for (const [id, cardinality] of this.#cardinality) {
      const token = id as AnyToken; // only tokens are stored there
      if (!this.container.isBound(token)) continue;
      const owner = this.providers(token).join("', '");
      try {
        if (cardinality === "many") {
          await this.container.getAllAsync(token);
          this.all(token as Token<unknown, "many">);
        } else {
          await this.container.getAsync(token);
          this.get(token);
        }
      } catch (error) {
        throw new PluginError(
          `Token '${tokenName(token)}', bound by '${owner}', can't be resolved: ${messageOf(error)}`,
          { plugin: owner, hook: "bind" },
          { cause: error },
        );
      }
    }
  }

  /** Returns the plugins that bound the result of a lookup. Empty for an unbound token. */
  providers(token: AnyToken): readonly string[] {
    if (!this.container.isBound(token)) return [];
    if (this.#cardinality.get(token) === "many")
      return [...(this.#contributors.get(token) ?? [DIRECT.plugin])];
    const direct = this.container.isCurrentBound(token) ? DIRECT : this.#defaultOwners.get(token);
    return [(this.#owners.get(token) ?? direct ?? DIRECT).plugin];
  }

  describe(): KernelDescription["tokens"] {
    return [...this.#cardinality.keys()]
      .map((id) => ({ token: tokenName(id), boundBy: this.providers(id as AnyToken) })) // a token
      .filter(({ boundBy }) => boundBy.length > 0);
  }

  /** As `get`, but returns `undefined` for an unbound token. */
  find<T>(token: Token<T, "single" | "many">): T | undefined {
    const isKnown = this.#cardinality.get(token) === "single";
    if (!isKnown && !this.container.isBound(token)) return undefined;
    this.#expect(token, "single");
    return this.container.get<T>(token, { optional: true });
  }

  /** @throws ValidationError for an unbound token. */
  get<T>(token: Token<T, "single" | "many">): T {
    this.#expect(token, "single");
    const value = this.find(token);
    if (value !== undefined) return value;
    throw new ValidationError(`Nothing is bound to token '${tokenName(token)}'`, {
      hint: "Bind it in a plugin, in kernel.container, or in the run's bindings.",
    });
  }

  /** Returns all contributions in the order of the plugins. Returns the same array each time. */
  all<T>(token: Token<T, "many">): readonly T[] {
    this.#expect(token, "many");
    const known = this.#lists.get(token);
    if (known !== undefined) return known as readonly T[]; // stored under this token
    const list = Object.freeze(
      this.container.isCurrentBound(token) ? this.container.getAll<T>(token) : [],
    );
    this.#lists.set(token, list);
    return list;
  }

  #expect(token: unknown, cardinality: "single" | "many"): void {
    const known = this.#cardinality.get(token);
    if (known === undefined) this.#cardinality.set(token, cardinality);
    else if (known !== cardinality) {
      throw new ValidationError(
        known === "many"
          ? `Token '${tokenName(token)}' collects contributions: use many() and all()`
          : `Token '${tokenName(token)}' has one value: use single() and get()`,
      );
    }
  }

  #apiFor(
    plugin: string,
    bindHere: <T>(token: Token<T, "single" | "many">) => BindToFluentSyntax<T>,
  ): { readonly bind: BindApi; close(): void } {
    let open = true;
    const checked = (token: unknown, cardinality: "single" | "many"): void => {
      if (!open)
        throw new ValidationError(
          `Plugin '${plugin}' binds '${tokenName(token)}' after its bind() has returned`,
        );
      this.#expect(token, cardinality);
    };
    return {
      close: () => (open = false),
      bind: {
        single: (token, options = {}) => {
          checked(token, "single");
          checkOptions(`single(${tokenName(token)})`, options, ["override", "default"]);
          if (options.default === true) return this.#bindDefault(plugin, token);
          return this.#claim(plugin, token, options.override === true)
            ? bindHere(token)
            : new Container().bind(token);
        },
        many: (token) => {
          checked(token, "many");
          this.#contributors.set(token, (this.#contributors.get(token) ?? new Set()).add(plugin));
          return bindHere(token);
        },
      },
    };
  }

  /** Binds a default. If several plugins bind a default, the last default applies. */
  #bindDefault<T>(plugin: string, token: Token<T>): BindToFluentSyntax<T> {
    const other = this.#defaultOwners.get(token);
    if (other?.plugin === plugin)
      throw new ValidationError(`Token '${tokenName(token)}' has two defaults from '${plugin}'`);
    if (other !== undefined) this.#defaults.unbind(token);
    this.#defaultOwners.set(token, { plugin, override: false });
    return this.#defaults.bind<T>(token);
  }

  /** Returns whether to add the binding. Returns false if an override has replaced it. */
  #claim(plugin: string, token: AnyToken, override: boolean): boolean {
    const other =
      this.#owners.get(token) ?? (this.container.isCurrentBound(token) ? DIRECT : undefined);
    if (other?.override === true && !override) return false;
    if (other !== undefined && other.override === override) {
      const both = `Token '${tokenName(token)}' is bound by both '${other.plugin}' and '${plugin}'`;
      throw new ValidationError(both, {
        hint: override
          ? "Only one plugin may override it."
          : "Use single(token, { override: true }) in the plugin that takes precedence.",
      });
    }
    if (other !== undefined) this.container.unbind(token);
    this.#owners.set(token, { plugin, override });
    return true;
  }
}

/** @throws ValidationError if a function that binds returned a promise. */
function refusePromise(result: unknown, what: string): void {
  if (!(result instanceof Promise)) return;
  result.catch(() => undefined); // reported as a misuse below
  throw new ValidationError(
    `${what} must be synchronous; do asynchronous work in a plugin's start()`,
  );
}
