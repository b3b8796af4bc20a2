import type { ChatMessage } from "../../../contracts/chat-model.js";

/** A text that a prompt holds between delimiters. */
export interface SourceBlock {
  readonly text: string;
  /** What its heading says it is. */
  readonly label: string | undefined;
}

const CONTEXT_HEADING = "## Context from Previous Tasks\n";
const BLOCK_START = "\n---\n### ";
// A following block starts with a rule and its heading right after the rule that closes the one before; a rule within a text is not followed so.
const BETWEEN_BLOCKS = /\n---\n\n---\n### /;
const TASK_SECTION = "\n---\n\n## Task\n";
const OTHER_SECTION =
  /\n---\n\n(?=## (?:Long-Term Memory|Entity Knowledge|Task Improvement Notes \(from prior executions\)|Revision Instructions(?: \(Attempt \d+\))?|Active Directives)\n)/;
const FENCE = /^\s{0,3}(`{3,}|~{3,})/;

/** The text of a message, its text parts joined. */
export function messageText(message: ChatMessage): string {
  if (typeof message.content === "string") return message.content;
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** `role: description` on the first line, the output itself below. */
function contextBlock(block: string): SourceBlock {
  const end = block.indexOf("\n");
  const heading = end < 0 ? block : block.slice(0, end);
  const description = heading.slice(heading.indexOf(": ") + 1).trim();
  return {
    label: description === "" ? undefined : description,
    text: end < 0 ? "" : block.slice(end + 1),
  };
}

/** The last place that looks like the task's section, since texts may hold such lines too; before it, the first of another section. */
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

/** Texts between two `---` lines, and fenced ones; what is opened and never closed does not count. */
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
 * The source texts of a conversation: the context blocks of its first user message that has any, else what stands between `---` lines or in fences.
 * Everything else in a prompt is instruction and never quoted. A description of several lines in a block's heading cannot be told from its text.
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
