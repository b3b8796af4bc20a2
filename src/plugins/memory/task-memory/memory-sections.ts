import type { PromptSection } from "../../../contracts/hooks.js";
import type { MemoryEntry } from "../../../contracts/memory.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { PromptTexts } from "../../shared/prompts/prompt-library.js";
import type { MemoryTemplateName } from "./task-memory-prompts.js";
import { escapePart, escapeSection, listItem, oneLine } from "../../../util/text.js";

/** Formats a value that follows a text. See `HookRun.format`. */
type SectionFormat = (value: unknown, text: string) => string;

/** Writes memories as sections of a prompt. No text in them can end its section or open another. */
export class MemorySections {
  constructor(
    readonly texts: PromptTexts<MemoryTemplateName>,
    readonly format: SectionFormat,
  ) {}

  scope(name: string, entries: readonly MemoryEntry[]): PromptSection[] {
    if (entries.length === 0) return [];
    const blocks = entries.map((entry) =>
      this.texts.render("memory.scopeEntry", { content: escapeSection(this.#textOf(entry)) }),
    );
    const text = this.texts.render("memory.scope", {
      scope: oneLine(name),
      entries: blocks.join(""),
    });
    return [{ slot: "memory", text, data: entries }];
  }

  shortTerm(outputs: readonly TaskOutput[]): PromptSection[] {
    if (outputs.length === 0) return [];
    const blocks = outputs.map(({ agentRole, taskDescription, raw, parsed }) =>
      this.texts.render("memory.shortTermEntry", {
        agentRole: oneLine(agentRole),
        taskDescription: escapePart(taskDescription),
        content: escapePart(this.format(parsed, raw)),
      }),
    );
    return [
      {
        slot: "shortTerm",
        text: this.texts.render("memory.shortTerm", { entries: blocks.join("") }),
        data: outputs,
      },
    ];
  }

  longTerm(entries: readonly MemoryEntry[]): PromptSection[] {
    if (entries.length === 0) return [];
    const items = entries.map((entry) =>
      this.texts.render("memory.longTermEntry", { content: listItem(this.#textOf(entry)) }),
    );
    return [
      {
        slot: "longTerm",
        text: this.texts.render("memory.longTerm", { entries: items.join("") }),
        data: entries,
      },
    ];
  }

  entities(facts: ReadonlyMap<string, string>): PromptSection[] {
    if (facts.size === 0) return [];
    const items = [...facts].map(([name, fact]) =>
      this.texts.render("memory.entity", { name: oneLine(name), fact: listItem(fact) }),
    );
    return [
      {
        slot: "entity",
        text: this.texts.render("memory.entities", { entries: items.join("") }),
        data: facts,
      },
    ];
  }

  #textOf({ structuredContent, content }: MemoryEntry): string {
    return this.format(structuredContent, content);
  }
}
