import type {
  BindToFluentSyntax,
  ContainerModuleLoadOptions,
  Newable,
  ServiceIdentifier,
} from "inversify";
import type { Token } from "../contracts/token.js";
import { ValidationError } from "../contracts/errors.js";
import { tokenName } from "../contracts/token.js";
import { preview } from "../contracts/validation.js";
import * as inversify from "./vendor.js";

type Dependency = Token<unknown>;
type Bind = ContainerModuleLoadOptions["bind"];
/** Any class, with the type that decorators receive. */
type AnyClass = abstract new (...args: never[]) => object;

/** Marks a class with known dependencies. */
const DESCRIBED = Symbol.for("agentensemble/dependencies");

/**
 * Declares the dependencies of a class, in the order of its constructor's parameters. Works with
 * both kinds of decorators. Default: the class's `static inject`, or `@inject` on each parameter.
 * @throws ValidationError for a value that is not a token.
 */
export function injectable(...dependencies: readonly Dependency[]): (type: AnyClass) => void {
  return (type) => {
    inversify.injectable()(type);
    describe(type as Newable, dependencies.length > 0 ? dependencies : declaredBy(type));
  };
}

/**
 * Declares the dependency of a constructor parameter. Requires the option `experimentalDecorators`.
 * @throws ValidationError if it decorates anything else.
 */
export function inject(token: Dependency): ReturnType<typeof inversify.inject> {
  const decorate = inversify.inject(token);
  return (target: object, key: string | symbol | undefined, place?: unknown): void => {
    if (typeof key === "object")
      throw new ValidationError(
        `@inject(${tokenName(token)}) works at constructor parameters only, and needs the compiler option experimentalDecorators`,
        { hint: "Write @injectable(TokenA, TokenB) before the class, or static inject = [...]." },
      );
    decorate(target, key as string, place as number); // as inversify's own types allow
  };
}

/** Inversify's container. Also creates classes with `static inject`. */
export class Container extends inversify.Container {
  override bind<T>(id: ServiceIdentifier<T>): BindToFluentSyntax<T> {
    return describing(super.bind(id), id);
  }
}

/** Inversify's module. Also creates classes with `static inject`. */
export class ContainerModule extends inversify.ContainerModule {
  constructor(load: (options: ContainerModuleLoadOptions) => void | Promise<void>) {
    super((options) => {
      const bind: Bind = (id) => describing(options.bind(id), id);
      return load({ ...options, bind });
    });
  }
}

/** Returns a binding syntax whose `to()` and `toSelf()` read `static inject`. */
function describing<T>(
  syntax: BindToFluentSyntax<T>,
  id: ServiceIdentifier<T>,
): BindToFluentSyntax<T> {
  const { to, toSelf } = syntax;
  return Object.assign(syntax, {
    to: (type: Newable<T>) => {
      describe(type, declaredBy(type));
      return to.call(syntax, type);
    },
    toSelf: () => {
      if (typeof id === "function") describe(id as Newable, declaredBy(id));
      return toSelf.call(syntax);
    },
  });
}

/** Returns the tokens in `static inject`. Returns an empty list if it is not an array. */
function declaredBy(type: object): readonly Dependency[] {
  const { inject: declared } = type as { readonly inject?: unknown };
  return Array.isArray(declared) ? (declared as Dependency[]) : []; // checked by describe()
}

function describe(type: Newable, dependencies: readonly Dependency[]): void {
  if (dependencies.length === 0 || Object.hasOwn(type, DESCRIBED)) return;
  const wrong = dependencies.findIndex(
    (token: unknown) => typeof token !== "symbol" && typeof token !== "function",
  );
  if (wrong >= 0)
    throw new ValidationError(
      `Dependency ${wrong + 1} of class '${type.name}' must be a token, got: ${preview(dependencies[wrong])}`,
    );
  Object.defineProperty(type, DESCRIBED, { value: true });
  dependencies.forEach((token, index) => inversify.inject(token)(type, undefined, index));
}
