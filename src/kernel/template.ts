const VARIABLE = /\{\{([A-Za-z0-9_]+)\}\}|\{([A-Za-z0-9_]+)\}/g;

/** A value as template text: strings as they are, null as nothing, objects as JSON. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null) return "";
  return typeof value === "object" && !(value instanceof Date) ? JSON.stringify(value) : String(value);
}

/**
 * Fills `{name}` variables in one pass: values are never scanned again, so an input can't smuggle in another variable.
 * `{{name}}` becomes `{name}`. Names without a value are added to `missing` and left as they are.
 */
export function fillTemplate(template: string, inputs: Readonly<Record<string, unknown>>, missing: Set<string>): string {
  if (!template.includes("{")) return template;
  return template.replace(VARIABLE, (match: string, escaped: string | undefined, name: string | undefined) => {
    if (escaped !== undefined) return `{${escaped}}`;
    const value = name !== undefined && Object.hasOwn(inputs, name) ? inputs[name] : undefined;
    if (value !== undefined) return textOf(value);
    if (name !== undefined) missing.add(name);
    return match;
  });
}
