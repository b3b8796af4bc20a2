import type { Plugin } from "../../../contracts/plugin.js";
import type { HookRun } from "../../../contracts/run.js";
import { requireInteger } from "../../../contracts/validation.js";
import { folded } from "../shared/folded-words.js";
import { requireTextList } from "../shared/guarded-tasks.js";
import {
  checkOutputOptions,
  outputGuard,
  type JudgedPlace,
  type OutputGuardOptions,
  type OutputProblem,
} from "../shared/output-guard.js";
import { SegmentFilter } from "../shared/stream-filter.js";

/** Options of {@link quotations}. */
export interface QuotationsOptions extends OutputGuardOptions {
  /** Texts that may be quoted, in addition to those of the task. Default: none. */
  readonly sources?: readonly string[] | undefined;
  /**
   * Minimum number of words of a checked quotation. Shorter quotations are often names and terms.
   * Default 4.
   */
  readonly fromWords?: number | undefined;
}

/** Text in quotation marks of several languages, and block quotations of Markdown. */
const QUOTED =
  /"([^"\n]{3,2000})"|\u201c([^\u201d\u201c]{3,2000})[\u201d\u201c]|\u201e([^\u201c\u201d]{3,2000})[\u201c\u201d]|\u00ab\s?([^\u00bb]{3,2000})\s?\u00bb|\u00bb([^\u00ab]{3,2000})\u00ab|^[ \t]*> ?(.{3,2000})$/gmu;
/** The maximum number of characters between the marks of a quotation, with a space at both ends. */
const LONGEST = 2_002;
/** A quotation that is not closed at the end of the text. */
const OPEN =
  /(?:"[^"\n]{0,2000}|\u201c[^\u201d\u201c]{0,2000}|\u201e[^\u201c\u201d]{0,2000}|\u00ab[^\u00bb]{0,2002}|\u00bb[^\u00ab]{0,2000}|^[ \t]*>.{0,2001})(?![^])/mu;
/** Characters that open or close a quotation. */
const MARK = /["\u201c\u201d\u201e\u00ab\u00bb>\n]/;
const OMISSION = /\s*(?:\[?\s*(?:\.{3}|\u2026)\s*\]?)\s*/;
const EDGES = /^[\s"'.,;:!?\-()[\]]+|[\s"'.,;:!?\-()[\]]+$/g;

/** Returns whether a text has a mark. Uses a loop, because most pieces of a stream have none. */
function hasMark(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34 || code === 62 || code === 10) return true;
    if (code > 127) return MARK.test(text.slice(at));
  }
  return false;
}

/** Returns whether a block quotation can begin after the text. */
function hasSpacesOnly(text: string): boolean {
  return !/[^ \t]/.test(text);
}

/**
 * Returns the text without differences that do not change a quotation: case, accents, marks,
 * spaces.
 */
function comparable(text: string): string {
  return folded(text)
    .replace(/["'*_`]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** The texts that the tasks of a run have received from tools. */
class ReadTexts {
  readonly #runs = new WeakMap<HookRun, Map<string, string[]>>();

  add(run: HookRun, taskId: string, text: string): void {
    const tasks = this.#runs.get(run) ?? new Map<string, string[]>();
    this.#runs.set(run, tasks);
    const texts = tasks.get(taskId) ?? [];
    tasks.set(taskId, texts);
    texts.push(comparable(text));
  }

  of({ run, taskId, task }: JudgedPlace, given: readonly string[]): readonly string[] {
    const asked =
      task === undefined
        ? []
        : [
            task.task.description,
            task.task.expectedOutput,
            ...task.contextOutputs.map(({ raw }) => raw),
            ...task.promptSections.map(({ text }) => text),
          ];
    const inputs = Object.values(run.inputs).filter((value) => typeof value === "string");
    return [
      ...given,
      ...(this.#runs.get(run)?.get(taskId) ?? []),
      ...[...asked, ...inputs].map(comparable),
    ];
  }
}

/** Returns the first quotation of a text that is in none of the sources. */
function inventedIn(
  text: string,
  readSources: () => readonly string[],
  fromWords: number,
): string | undefined {
  let sources: readonly string[] | undefined;
  for (const match of text.matchAll(QUOTED)) {
    const quoted = match.slice(1).find((part) => part !== undefined) ?? "";
    for (const part of quoted.split(OMISSION)) {
      const plain = comparable(part).replace(EDGES, "");
      if (plain.split(" ").length < fromWords) continue;
      sources ??= readSources();
      if (!sources.some((source) => source.includes(plain))) return part;
    }
  }
  return undefined;
}

/**
 * Refuses outputs with a quotation that is in none of the sources. Sources are the task's
 * description and context, the inputs of the run, the results of the task's tools, and the given
 * texts. Ignores differences in case, accents, quotation marks and spaces. `...` stands for an
 * omission. Within a quotation, a stream is held back.
 *
 * @throws ValidationError for an unknown option.
 */
export function quotations(options: QuotationsOptions = {}): Plugin {
  checkOutputOptions("quotations", options, ["sources", "fromWords"]);
  requireTextList("quotations sources", options.sources);
  requireInteger("quotations fromWords", options.fromWords, 1);
  const { fromWords = 4 } = options;
  const given = (options.sources ?? []).map(comparable);
  const texts = new ReadTexts();
  const judge = (text: string, place: JudgedPlace): OutputProblem | undefined => {
    const invented = inventedIn(text, () => texts.of(place, given), fromWords);
    return invented === undefined
      ? undefined
      : { kind: "quotation", reason: `the quotation is in no source: "${invented.slice(0, 200)}"` };
  };
  return outputGuard(options, {
    name: "guards-quotations",
    judge,
    apply(hooks) {
      hooks.afterToolCall.tap(
        { name: "guards-quotations", lane: "transform", order: "post" },
        ({ run, taskId, result }) => {
          if (result?.ok === true) texts.add(run, taskId, result.output);
        },
      );
    },
    filter: (place) => {
      // The start of the current line: empty if only spaces were shown, `-` otherwise. A block
      // quotation begins after spaces only.
      let line = "";
      return new SegmentFilter({
        quick: {
          decide(piece, held) {
            if (held + piece.length >= LONGEST || hasMark(piece)) return -1;
            if (held > 0) return 0;
            if (line === "" && !hasSpacesOnly(piece)) line = "-";
            return piece.length;
          },
        },
        holdFrom: (text) => Math.max(0, openQuotation(line + text) - line.length),
        release(text) {
          if (!hasMark(text)) {
            if (line === "" && !hasSpacesOnly(text)) line = "-";
            return text;
          }
          if (judge(line + text, place) !== undefined) return undefined;
          const shown = line + text;
          line = hasSpacesOnly(shown.slice(shown.lastIndexOf("\n") + 1)) ? "" : "-";
          return text;
        },
      });
    },
  });
}

/**
 * Returns the index of a quotation that is not closed yet. If there is none, returns the length of
 * the text.
 */
function openQuotation(text: string): number {
  const closed = [...text.matchAll(QUOTED)].filter(
    ({ 0: all, index }) => !/^[ \t]*>/.test(all) || index + all.length < text.length,
  );
  const end = closed.reduce((last, { 0: all, index }) => Math.max(last, index + all.length), 0);
  const { index } = OPEN.exec(text.slice(end)) ?? {};
  return index === undefined ? text.length : end + index;
}
