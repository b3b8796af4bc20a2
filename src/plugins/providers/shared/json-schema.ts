import type { Fields } from "../../../util/objects.js";
import { pointerSteps } from "../../../util/json/pointer.js";

import { asFields, asList } from "../../../util/objects.js";

/**
 * Returns the schema that a local reference (`#/$defs/place`) names within `root`, or `undefined`.
 */
export function resolveReference(root: Fields, reference: unknown): Fields | undefined {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return undefined;
  let found: unknown = root;
  for (const step of pointerSteps(reference)) found = asFields(found)?.[decoded(step)];
  return asFields(found);
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** Whether a schema describes an object. */
export function isObjectSchema(schema: Fields): boolean {
  const type = schema["type"];
  return (
    type === "object" ||
    (Array.isArray(type) && type.includes("object")) ||
    schema["properties"] !== undefined
  );
}

/** Returns the names of the required properties of a schema. */
export function requiredNames(schema: Fields): readonly unknown[] {
  return asList(schema["required"]);
}

/** Returns the alternatives of a schema, or `undefined` if it has none. */
export function alternatives(schema: Fields): readonly unknown[] | undefined {
  const list = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(list) ? list : undefined;
}

/** Whether null satisfies a schema. Every keyword that restricts the value must allow it. */
export function allowsNull(
  schema: unknown,
  root: Fields,
  seen: ReadonlySet<unknown> = new Set(),
): boolean {
  const fields = asFields(schema);
  if (fields === undefined || seen.has(schema)) return false;
  const { type, enum: values, $ref } = fields;
  const deeper = new Set([...seen, schema]);
  const opinions: boolean[] = [];
  if (type !== undefined)
    opinions.push(type === "null" || (Array.isArray(type) && type.includes("null")));
  if (Array.isArray(values)) opinions.push(values.includes(null));
  if ("const" in fields) opinions.push(fields["const"] === null);
  if ($ref !== undefined) opinions.push(allowsNull(resolveReference(root, $ref), root, deeper));
  const choices = alternatives(fields);
  if (choices !== undefined)
    opinions.push(choices.some((choice) => allowsNull(choice, root, deeper)));
  return opinions.length > 0 && opinions.every(Boolean);
}

function references(value: unknown, depth = 0): readonly string[] {
  if (depth > 200 || typeof value !== "object" || value === null) return [];
  const own = asFields(value)?.["$ref"];
  return [
    ...(typeof own === "string" ? [own] : []),
    ...Object.values(value).flatMap((inner) => references(inner, depth + 1)),
  ];
}

/** Whether a schema contains itself. */
export function isRecursive(root: Fields): boolean {
  const closed = new Set<string>();
  const leadsBack = (reference: string, path: readonly string[]): boolean => {
    if (path.includes(reference) || reference === "#") return true;
    if (closed.has(reference)) return false;
    const found = references(resolveReference(root, reference)).some((next) =>
      leadsBack(next, [...path, reference]),
    );
    closed.add(reference);
    return found;
  };
  return references(root).some((reference) => leadsBack(reference, []));
}
