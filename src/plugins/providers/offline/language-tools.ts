import { setImmediate as nextTurn } from "node:timers/promises";
import { ModelCallError } from "../../../contracts/errors.js";
import { importOptional } from "../../../util/import-optional.js";
import { messageOf } from "../../../util/errors.js";

/** A sentence as the text has it, and the stems of the words that carry its meaning. */
export interface ParsedSentence {
  readonly text: string;
  readonly terms: readonly string[];
}

/** What is used of wink-nlp. */
interface Analyser {
  readonly its: { readonly stem: unknown; readonly type: unknown; readonly stopWordFlag: unknown };
  readDoc(text: string): { sentences(): { each(fn: (sentence: AnalysedSentence) => void): void } };
}

interface WinkModule {
  readonly default: (model: unknown, pipe: readonly string[]) => Analyser;
}

interface AnalysedSentence {
  out(): string;
  tokens(): { out(its: unknown): readonly unknown[] };
}

/** Resolves to a function that makes a fresh analyser. */
export type AnalyserLoader = () => Promise<() => Analyser>;

// The analyser keeps every new word for ever, so after this many characters a fresh one takes over.
const CHARACTERS_PER_ANALYSER = 20_000_000;

/** Imports the optional packages when they are first needed. */
const loadWink: AnalyserLoader = async () => {
  const { default: model } = await importOptional<{ readonly default: unknown }>(
    "wink-eng-lite-web-model",
  );
  await nextTurn();
  const { default: winkNlp } = await importOptional<WinkModule>("wink-nlp");
  return () => winkNlp(model, ["sbd"]);
};

/** Sentence boundaries and stems of English text, by wink-nlp. */
export class LanguageTools {
  readonly #load: AnalyserLoader;
  #create: (() => Analyser) | undefined;
  #analyser: Analyser | undefined;
  #characters = 0;

  constructor(load: AnalyserLoader = loadWink) {
    this.#load = load;
  }

  /** Must have resolved before `sentences` is called. @throws ModelCallError naming the packages when they cannot be loaded. */
  async ready(provider: string, modelId: string): Promise<void> {
    try {
      this.#create ??= await this.#load();
    } catch (cause) {
      throw new ModelCallError(
        `The model '${provider}:${modelId}' needs the packages wink-nlp and wink-eng-lite-web-model, which could not be loaded: ${messageOf(cause)}`,
        { provider, modelId },
        { cause, hint: "Run: npm install wink-nlp wink-eng-lite-web-model" },
      );
    }
  }

  /**
   * The sentences of `text`, in its order; what does not stand in it letter by letter is left out. A full stop with no space after it ends none:
   * the analyser would cut file names and addresses in two.
   */
  sentences(text: string): readonly ParsedSentence[] {
    const analyser = this.#analyserFor(text.length);
    const found: { readonly start: number; end: number; readonly terms: string[] }[] = [];
    analyser
      .readDoc(text)
      .sentences()
      .each((sentence) => {
        const quote = sentence.out().trim();
        const previous = found.at(-1);
        const start = text.indexOf(quote, previous?.end);
        if (quote === "" || start < 0) return;
        const terms = termsOf(sentence, analyser.its);
        const end = start + quote.length;
        if (previous?.end !== start) return void found.push({ start, end, terms: [...terms] });
        previous.end = end;
        for (const term of terms) previous.terms.push(term);
      });
    return found.map(({ start, end, terms }) => ({ text: text.slice(start, end), terms }));
  }

  #analyserFor(characters: number): Analyser {
    if (this.#analyser === undefined || this.#characters > CHARACTERS_PER_ANALYSER) {
      if (this.#create === undefined)
        throw new Error("ready() must resolve before sentences() is called");
      this.#analyser = this.#create();
      this.#characters = 0;
    }
    this.#characters += characters;
    return this.#analyser;
  }
}

function termsOf(sentence: AnalysedSentence, its: Analyser["its"]): readonly string[] {
  const tokens = sentence.tokens();
  const types = tokens.out(its.type);
  const stopWords = tokens.out(its.stopWordFlag);
  const stems = tokens.out(its.stem).map(String);
  return stems.filter(
    (_, index) =>
      stopWords[index] !== true && (types[index] === "word" || types[index] === "number"),
  );
}
