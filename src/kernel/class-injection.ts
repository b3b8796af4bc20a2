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
/** A class of any kind, as decorators get it. */
type AnyClass = abstract new (...args: never[]) => object;

/** Marks a class whose dependencies are known. */
const DESCRIBED = Symbol.for("agentensemble/dependencies");

/**
 * Names the dependencies of a class, in the order of its constructor's parameters. Works with
 * decorators of both kinds. Default: the class's `static inject`, or `@inject` on each parameter.
 * @throws ValidationError for anything but tokens.
 */
export function injectable(...dependencies: readonly Dependency[]): (type: AnyClass) => void {
  return (type) => {
    inversify.injectable()(type);
    describe(type as Newable, dependencies.length > 0 ? dependencies : declaredBy(type));
  };
}

/**
 * Names the dependency of one constructor parameter. Needs TypeScript's `experimentalDecorators`.
 * @throws ValidationError where it is used as another decorator.
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

/** inversify's container; it makes classes with `static inject` too. */
export class Container extends inversify.Container {
  override bind<T>(id: ServiceIdentifier<T>): BindToFluentSyntax<T> {
    return describing(super.bind(id), id);
  }
}

/** inversify's module; it makes classes with `static inject` too. */
export class ContainerModule extends inversify.ContainerModule {
  constructor(load: (options: ContainerModuleLoadOptions) => void | Promise<void>) {
    super((options) => {
      const bind: Bind = (id) => describing(options.bind(id), id);
      return load({ ...options, bind });
    });
  }
}

/** The syntax of a binding, of which `to()` and `toSelf()` read `static inject`. */
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

/** The tokens in `static inject`; none where that is something else. */
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
