import type { PromptTemplate } from "../../../contracts/ensemble-options.js";
import type { RunInfo } from "../../../contracts/run-info.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";

type Values = Readonly<Record<string, unknown>>;
type Contribution = Readonly<Record<string, PromptTemplate>>;
type Render = (values: Values) => string;

/** Either `{{name}}`, which is rendered as `{name}`, or `{name}`. */
const PLACEHOLDER = /\{\{(\w+)\}\}|\{(\w+)\}/g;

/**
 * Parses a template once, so rendering is one concatenation. Placeholders in values are never
 * replaced.
 */
function compileText(template: string): Render {
  const literals: string[] = [];
  const names: string[] = [];
  let literal = "";
  let end = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    literal += template.slice(end, match.index);
    end = match.index + match[0].length;
    if (match[2] === undefined) {
      literal += `{${match[1]}}`;
      continue;
    }
    literals.push(literal);
    names.push(match[2]);
    literal = "";
  }
  const tail = literal + template.slice(end);
  return (values) => {
    let text = "";
    names.forEach((name, i) => {
      text += literals[i];
      text += Object.hasOwn(values, name) ? String(values[name]) : `{${name}}`;
    });
    return text + tail;
  };
}

function compileFunction(
  name: string,
  template: (values: Values, run: RunInfo) => unknown,
  run: RunInfo,
): Render {
  return (values) => {
    let text: unknown;
    try {
      text = template(values, run);
    } catch (error) {
      throw new ValidationError(`Prompt template '${name}' threw: ${messageOf(error)}`, {
        cause: error,
      });
    }
    if (typeof text !== "string")
      throw new ValidationError(
        `Prompt template '${name}' must return a string, got: ${preview(text)}`,
      );
    return text;
  };
}

/** The prompt texts of a run: the defaults, overridden by contributions. */
export class PromptTexts<Name extends string> {
  readonly #templates: ReadonlyMap<string, PromptTemplate>;
  readonly #compiled = new Map<Name, Render>();

  readonly #run: RunInfo;

  constructor(templates: ReadonlyMap<string, PromptTemplate>, run: RunInfo) {
    this.#templates = templates;
    this.#run = run;
  }

  /** Renders a template with values. A placeholder without a value is kept. */
  render(name: Name, values: Values): string {
    let render = this.#compiled.get(name);
    if (render === undefined) {
      const template = this.#templates.get(name);
      render =
        typeof template === "function"
          ? compileFunction(name, template, this.#run)
          : compileText(template ?? "");
      this.#compiled.set(name, render);
    }
    return render(values);
  }
}

/** The templates after merging. */
interface Merged<Name extends string> {
  readonly templates: ReadonlyMap<string, PromptTemplate>;
  /** Whether a template is a function of the run. */
  readonly perRun: boolean;
  /** Rendered texts by run, or one entry for all runs. */
  readonly texts: WeakMap<object, PromptTexts<Name>>;
}

/** Merges contributed templates with the defaults of a plugin, once per list of contributions. */
export class PromptLibrary<Name extends string> {
  readonly #defaults: Readonly<Record<Name, string>>;
  readonly #merged = new WeakMap<readonly Contribution[], Merged<Name>>();

  constructor(defaults: Readonly<Record<Name, string>>) {
    this.#defaults = defaults;
  }

  /**
   * Returns the texts for a list of contributions. If two have the same name, the later one is
   * used. Runs with the same list share the texts, unless a contribution is a function of the run.
   */
  textsOf(contributions: readonly Contribution[], run: RunInfo): PromptTexts<Name> {
    let merged = this.#merged.get(contributions);
    if (merged === undefined) {
      const templates = this.#merge(contributions);
      const perRun = [...templates.values()].some((template) => typeof template === "function");
      merged = { templates, perRun, texts: new WeakMap() };
      this.#merged.set(contributions, merged);
    }
    const owner = merged.perRun ? run : contributions;
    let texts = merged.texts.get(owner);
    if (texts === undefined) {
      texts = new PromptTexts(merged.templates, run);
      merged.texts.set(owner, texts);
    }
    return texts;
  }

  #merge(contributions: readonly Contribution[]): Map<string, PromptTemplate> {
    const merged = new Map<string, PromptTemplate>(Object.entries<string>(this.#defaults));
    for (const contribution of contributions) {
      // The contributions include the defaults. They are skipped, because they would undo an
      // override by an earlier plugin.
      if (contribution === this.#defaults) continue;
      for (const [name, template] of Object.entries(contribution)) merged.set(name, template);
    }
    return merged;
  }
}
