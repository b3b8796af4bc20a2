import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import { sharingOrigin } from "../contracts/derived-options.js";

/**
 * Copies the options, because the caller may change the lists later. Also copies the notes under
 * their symbol.
 */
export function snapshotOf(options: EnsembleOptions): EnsembleOptions {
  const copies = Object.entries(options).map(([name, value]: [string, unknown]) => [
    name,
    Array.isArray(value) ? Object.freeze([...(value as unknown[])]) : value,
  ]);
  const copy: EnsembleOptions = {
    ...options,
    ...(Object.fromEntries(copies) as EnsembleOptions), // the same fields
    inputs: options.inputs === undefined ? undefined : Object.freeze({ ...options.inputs }),
  };
  return Object.freeze(sharingOrigin(copy, options));
}
