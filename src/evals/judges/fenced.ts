import { createHash } from "node:crypto";

/** Encloses data of a prompt in marks that depend on the data: the data can't contain the marks. */
export function betweenMarks(name: string, text: string): string {
  const mark = createHash("sha256").update(`${name}\n${text}`).digest("hex").slice(0, 12);
  return `<${name} ${mark}>\n${text}\n</${name} ${mark}>`;
}
