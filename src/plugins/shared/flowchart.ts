import type { DagTask } from "../../contracts/dag.js";

/** Number of characters of a description in a node. */
const SHOWN = 60;
/**
 * Matches unsafe characters. They are written as numbers, so no text can end its label, begin a
 * directive or become markup.
 */
const UNSAFE = /[^\p{L}\p{N} ….,'()/_+-]/gu;

/** Returns a text as a label, without line breaks. */
export function labelText(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(UNSAFE, (char) => `#${char.codePointAt(0)};`);
}

/** Returns the key of a node that does not represent a task. */
export const nodeKey = (kind: string, name = ""): string => `\u0000${kind} ${name}`;

function short(text: string): string {
  const characters = [...text];
  return characters.length > SHOWN ? `${characters.slice(0, SHOWN - 1).join("")}…` : text;
}

/** The lines of a Mermaid flowchart, with a short name for each node. */
export class Flowchart {
  readonly #lines: string[] = [];
  readonly #names = new Map<string, string>();
  #depth = 1;

  add(line: string): void {
    this.#lines.push(`${"  ".repeat(this.#depth)}${line}`);
  }

  /** Returns a short name for a node, because its id may contain any characters. */
  nameOf(key: string): string {
    const name = this.#names.get(key) ?? `n${this.#names.size + 1}`;
    this.#names.set(key, name);
    return name;
  }

  group(key: string, title: string, content: () => void): void {
    this.add(`subgraph ${this.nameOf(key)}["${labelText(title)}"]`);
    this.#depth++;
    content();
    this.#depth--;
    this.add("end");
  }

  /** Adds a node: with round corners for an agent, with square corners for plain code. */
  task({ id, description, agentRole, nodeType, mapReduceLevel }: DagTask): void {
    const kind =
      mapReduceLevel === undefined ? undefined : `${nodeType ?? ""}, level ${mapReduceLevel}`;
    const text = [short(id), id === description ? undefined : short(description), agentRole, kind]
      .flatMap((line) => (line === undefined ? [] : [labelText(line)]))
      .join("<br/>");
    const [open, close] = agentRole === "(deterministic)" ? ["[", "]"] : ["(", ")"];
    this.add(`${this.nameOf(id)}${open}"${text}"${close}`);
  }

  edge(
    from: string,
    to: string,
    o: { readonly text?: string | undefined; readonly dotted?: boolean } = {},
  ): void {
    const text = o.text === undefined ? "" : `|"${labelText(o.text)}"|`;
    this.add(
      `${this.nameOf(from)} ${o.dotted === true ? "-.->" : "-->"}${text} ${this.nameOf(to)}`,
    );
  }

  toString(): string {
    return `flowchart TD\n${this.#lines.join("\n")}\n`;
  }
}
