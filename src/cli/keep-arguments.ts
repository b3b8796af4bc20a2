import type { StoreArguments } from "./store.js";
import { ValidationError } from "../contracts/errors.js";
import { requireOneOf } from "../contracts/validation.js";

/** Options of commands that execute stored runs. */
export interface KeepArguments extends StoreArguments {
  readonly durable?: boolean | undefined;
  readonly runId?: string | undefined;
  readonly wait?: boolean | undefined;
  readonly onChange?: string | undefined;
}

/** @throws ValidationError for options that need `--durable`, without it. */
export function checkKeepArguments(o: KeepArguments): void {
  requireOneOf("--on-change", o.onChange, ["fail", "keep", "redo"]);
  if (o.durable === true) return;
  const given = Object.entries({ store: o.store, wait: o.wait, "on-change": o.onChange });
  const option = given.find(([, value]) => value !== undefined)?.[0];
  if (option === undefined) return;
  throw new ValidationError(`--${option} needs --durable`, {
    hint: "Without --durable a run is kept only where the ensemble has durable() among its plugins.",
  });
}
