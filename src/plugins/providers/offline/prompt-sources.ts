import type { ChatMessage } from "../../../contracts/chat-model.js";

/** A delimited text in a prompt. */
export interface SourceBlock {
  readonly text: string;
  /** The label in its heading. */
  readonly label: string | undefined;
}

const CONTEXT_HEADING = "## Context from Previous Tasks\n";
const BLOCK_START = "\n---\n### ";
// The closing rule of a block is immediately followed by the rule and the heading of the next
// block. A rule within a text is not followed by them.
const BETWEEN_BLOCKS = /\n---\n\n---\n### /;
const TASK_SECTION = "\n---\n\n## Task\n";
const OTHER_SECTION =
  /\n---\n\n(?=## (?:Long-Term Memory|Entity Knowledge|Task Improvement Notes \(from prior executions\)|Revision Instructions(?: \(Attempt \d+\))?|Active Directives)\n)/;
const FENCE = /^\s{0,3}(`{3,}|~{3,})/;

/** Joins the text parts of a message. */
export function messageText(message: ChatMessage): string {
  if (typeof message.content === "string") return message.content;
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** Parses a block with `role: description` on the first line and the output below. */
function contextBlock(block: string): SourceBlock {
  const end = block.indexOf("\n");
  const heading = end < 0 ? block : block.slice(0, end);
  const description = heading.slice(heading.indexOf(": ") + 1).trim();
  return {
    label: description === "" ? undefined : description,
    text: end < 0 ? "" : block.slice(end + 1),
  };
}

/**
 * Returns the end of the context: the first other section before the last line that resembles the
 * task section. The last such line is used, because outputs may contain similar lines.
 */
function contextEnd(region: string): number {
  const task = region.lastIndexOf(TASK_SECTION);
  const other = OTHER_SECTION.exec(task < 0 ? region : region.slice(0, task))?.index ?? task;
  if (other >= 0) return other;
  const rule = region.lastIndexOf("\n---");
  return rule < 0 ? region.length : rule;
}

function contextBlocks(prompt: string): readonly SourceBlock[] {
  const heading = prompt.startsWith(CONTEXT_HEADING) ? 0 : prompt.indexOf(`\n${CONTEXT_HEADING}`);
  if (heading < 0) return [];
  const start = prompt.indexOf(BLOCK_START, heading);
  if (start < 0) return [];
  const region = prompt.slice(start + BLOCK_START.length);
  return region.slice(0, contextEnd(region)).split(BETWEEN_BLOCKS).map(contextBlock);
}

/** Returns texts between two `---` lines, and fenced texts. An unclosed delimiter is ignored. */
function delimitedBlocks(prompt: string): readonly SourceBlock[] {
  const blocks: SourceBlock[] = [];
  let open: { readonly closes: (line: string) => boolean; readonly lines: string[] } | undefined;
  for (const line of prompt.split("\n")) {
    if (open?.closes(line)) {
      blocks.push({ label: undefined, text: open.lines.join("\n") });
      open = undefined;
    } else if (open !== undefined) {
      open.lines.push(line);
    } else if (line.trimEnd() === "---") {
      open = { closes: (text) => text.trimEnd() === "---", lines: [] };
    } else {
      const fence = FENCE.exec(line)?.[1];
      if (fence !== undefined) open = { closes: (text) => text.trim() === fence, lines: [] };
    }
  }
  return blocks;
}

/**
 * Returns the source texts of a conversation: the context blocks of the first user message that has
 * any. If none has, returns text between `---` lines or in fences. All other parts of a prompt are
 * instructions and are never quoted. In a block's heading, a description of several lines can't be
 * distinguished from the text.
 */
export function promptSources(messages: readonly ChatMessage[]): readonly SourceBlock[] {
  const prompts = messages.filter((message) => message.role === "user").map(messageText);
  for (const find of [contextBlocks, delimitedBlocks]) {
    for (const prompt of prompts) {
      const blocks = find(prompt).filter((block) => block.text.trim() !== "");
      if (blocks.length > 0) return blocks;
    }
  }
  return [];
}
