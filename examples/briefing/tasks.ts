import type { AnyTask, OutputGuardrail } from "agentensemble";
import type { Document } from "./documents.js";
import type { Source } from "./quotations.js";
import { Agent, GuardrailResult, prompt, Task } from "agentensemble";
import { z } from "zod";
import { readDocument } from "./documents.js";
import { misquotations, problemsOf, quotationsIn } from "./quotations.js";

/** The result of the check task. */
export interface CheckReport {
  readonly quotations: number;
  readonly documents: number;
}

/** A document and the task that reads it. */
export interface Page {
  readonly document: Document;
  readonly read: Task;
}

const researcher = new Agent({
  role: "Researcher",
  goal: "Find the sentences of a document that a busy reader must know, and copy them exactly",
});
const writer = new Agent({
  role: "Writer",
  goal: "Write short briefings in which every claim rests on a verbatim quotation",
});

const EXTRACT =
  "Choose the 4 to 8 sentences that say most. Copy each one word for word from the document; do not shorten, correct or translate it.";
const WRITE = `Write a briefing on the findings of the previous tasks, in Markdown, without a title. Group what belongs together and say in a sentence or two of your own why it matters.
Rest every point on a quotation of this form, a sentence copied word for word from the findings with its source behind it: "The sentence." (file.md)
Use double quotation marks for nothing else. Pass over sentences that contain double quotation marks.`;

/** Returns the result of a check. The agent receives the problems in the next attempt. */
const verdict = (problems: readonly string[]): GuardrailResult =>
  problems.length === 0 ? GuardrailResult.success() : GuardrailResult.failure(problems.join("\n"));

/** A guardrail receives only the output, so it reads the documents. */
const sourcesOf = (
  documents: readonly Document[],
  signal: AbortSignal,
): Promise<readonly Source[]> =>
  Promise.all(
    documents.map(async (document) => ({
      name: document.name,
      text: await readDocument(document, signal),
    })),
  );

/** A handler, because reading a file needs no model. */
export function readTask(document: Document): Task {
  return new Task({
    name: `read ${document.name}`,
    description: prompt`Read ${document.name}`,
    handler: (ctx) => readDocument(document, ctx.signal),
  });
}

/** The only context is the task's own document, so prompts stay small. */
export function extractTask({ document, read }: Page): AnyTask {
  return new Task({
    name: `extract ${document.name}`,
    description: prompt`Extract the findings of ${document.name}. ${EXTRACT}`,
    expectedOutput: "The chosen sentences with their source.",
    agent: researcher,
    context: [read],
    // Closed objects, because OpenAI enforces only schemas with closed objects.
    outputType: z.strictObject({
      findings: z
        .array(z.strictObject({ quote: z.string(), source: z.literal(document.name) }))
        .max(8),
    }),
    outputGuardrails: [
      async ({ parsed, signal }) => {
        const quotations = parsed.findings.map(({ quote, source }) => ({ text: quote, source }));
        return verdict(misquotations(quotations, await sourcesOf([document], signal)));
      },
    ],
    guardrailRetries: 2,
  });
}

/**
 * The guardrail allows the writer a second and a third attempt. The check task makes the final
 * check.
 */
export function writeTask(pages: readonly Page[], extracts: readonly AnyTask[]): Task {
  const documents = pages.map(({ document }) => document);
  const quotesTheSources: OutputGuardrail = async ({ raw, signal }) =>
    verdict(problemsOf(raw, await sourcesOf(documents, signal)));
  return new Task({
    name: "write",
    description: WRITE,
    expectedOutput: "A briefing of at most one page.",
    agent: writer,
    context: extracts,
    outputGuardrails: [quotesTheSources],
    guardrailRetries: 2,
  });
}

/** Fails if a quotation does not occur in the documents. */
export function checkTask(pages: readonly Page[], briefing: Task): Task<CheckReport> {
  return new Task({
    name: "check",
    description: "Check that every quotation stands in its source",
    context: [briefing, ...pages.map(({ read }) => read)],
    handler: (ctx) => {
      const text = ctx.getOutput(briefing).raw;
      const sources = pages.map(({ document, read }) => ({
        name: document.name,
        text: ctx.getOutput(read).raw,
      }));
      const problems = problemsOf(text, sources);
      if (problems.length > 0) throw new Error(problems.join("\n"));
      return { quotations: quotationsIn(text).length, documents: sources.length };
    },
  });
}
