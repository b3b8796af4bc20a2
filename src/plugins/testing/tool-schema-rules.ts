import type { Fields } from "../../util/objects.js";
import { preview } from "../../contracts/validation.js";
import { isObject, asList } from "../../util/objects.js";

/** Keywords that vendors refuse at the root of the parameters of a tool. */
const NOT_AT_THE_ROOT = ["anyOf", "oneOf", "allOf", "not", "enum", "const", "if"];
const TYPES = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);
/** Anthropic's rule for the names of parameters. */
const PARAMETER_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** Returns the schema of a local reference. */
function resolve(root: Fields, reference: unknown): Fields | undefined {
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) return undefined;
  let found: unknown = root;
  for (const part of reference.split("/").slice(1))
    found = fieldsOf(found)[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  return isObject(found) ? found : undefined;
}

/**
 * Yields every schema within a schema, with a readable path. `property` is whether it is the schema
 * of a parameter.
 */
function* schemasWithPaths(
  schema: unknown,
  path: string,
  property: boolean,
): Generator<{ readonly schema: Fields; readonly path: string; readonly property: boolean }> {
  if (!isObject(schema)) return;
  yield { schema, path, property };
  for (const [name, inner] of Object.entries(fieldsOf(schema["properties"])))
    yield* schemasWithPaths(inner, `${path}.${name}`, true);
  for (const keyword of ["$defs", "definitions"]) {
    for (const [name, inner] of Object.entries(fieldsOf(schema[keyword])))
      yield* schemasWithPaths(inner, `${path}.${keyword}.${name}`, false);
  }
  for (const keyword of ["anyOf", "oneOf", "allOf", "prefixItems"]) {
    for (const [index, inner] of asList(schema[keyword]).entries())
      yield* schemasWithPaths(inner, `${path}.${keyword}[${index}]`, false);
  }
  for (const keyword of ["items", "additionalProperties"])
    yield* schemasWithPaths(schema[keyword], `${path}.${keyword}`, false);
}

function problemsOfOne(root: Fields, schema: Fields, path: string): readonly string[] {
  const { type, properties, required, $ref } = schema;
  const names = Object.keys(fieldsOf(properties));
  const types = type === undefined ? [] : Array.isArray(type) ? type : [type];
  const isList =
    types.includes("array") && schema["items"] === undefined && schema["prefixItems"] === undefined;
  return [
    ...types
      .filter((name) => !TYPES.has(name as string))
      .map((name) => `${path}: '${String(name)}' is no type`),
    ...(required !== undefined && !Array.isArray(required)
      ? [`${path}: required must be a list`]
      : []),
    ...asList(required).flatMap((name) =>
      names.includes(name as string)
        ? []
        : [`${path}: '${String(name)}' is required and not described`],
    ),
    ...names.flatMap((name) =>
      PARAMETER_NAME.test(name)
        ? []
        : [`${path}: '${name}' must have 1 to 64 letters, digits, '_', '.' or '-'`],
    ),
    ...(isList ? [`${path}: an array needs items`] : []),
    ...("enum" in schema && asList(schema["enum"]).length === 0
      ? [`${path}: enum must be a list with something in it`]
      : []),
    ...($ref !== undefined && resolve(root, $ref) === undefined
      ? [`${path}: the reference ${preview($ref)} leads nowhere within the schema`]
      : []),
  ];
}

/**
 * Returns the reasons why OpenAI or Anthropic would refuse this JSON Schema for a tool. Returns
 * none if both accept it.
 */
export function schemaProblems(schema: Fields): readonly string[] {
  try {
    JSON.stringify(schema);
  } catch {
    return ["input: the schema has no JSON form"];
  }
  const root = [
    ...(schema["type"] === "object" ? [] : ['input: the root must say type: "object"']),
    ...NOT_AT_THE_ROOT.filter((keyword) => keyword in schema).map(
      (keyword) => `input: ${keyword} is not allowed at the root`,
    ),
  ];
  return [
    ...root,
    ...[...schemasWithPaths(schema, "input", false)].flatMap((found) =>
      problemsOfOne(schema, found.schema, found.path),
    ),
  ];
}

/** Returns the parameters without a description, including nested ones. */
export function undescribed(schema: Fields): readonly string[] {
  const tells = (found: Fields | undefined): boolean =>
    typeof found?.["description"] === "string" && found["description"].trim() !== "";
  return [...schemasWithPaths(schema, "input", false)].flatMap((found) =>
    found.property && !tells(found.schema) && !tells(resolve(schema, found.schema["$ref"]))
      ? [found.path]
      : [],
  );
}
