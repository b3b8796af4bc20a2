/** Returns the JSON of any value, with two spaces. Values without a JSON form become texts. */
export function toJsonText(value: unknown): string {
  const inside: object[] = [];
  const text = JSON.stringify(
    value,
    function (this: unknown, _key, field: unknown): unknown {
      if (typeof field === "bigint") return field.toString();
      if (typeof field !== "object" || field === null) return field;
      // The values on the way from the root to this field.
      while (inside.length > 0 && inside.at(-1) !== this) inside.pop();
      if (inside.includes(field)) return "[Circular]";
      inside.push(field);
      return field instanceof Map
        ? Object.fromEntries(field)
        : field instanceof Set
          ? [...field]
          : field;
    },
    2,
  ) as string | undefined;
  return text ?? "";
}
