import { setImmediate as nextTurn } from "node:timers/promises";
import { ModelCallError } from "../../../contracts/errors.js";
import { importOptional } from "../../../util/import-optional.js";
import { messageOf } from "../../../util/errors.js";

/** A sentence as it appears in the text, and the stems of its content words. */
export interface ParsedSentence {
  readonly text: string;
  readonly terms: readonly string[];
}

/** The part of wink-nlp that is used. */
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

/** Resolves with a function that creates a new analyser. */
export type AnalyserLoader = () => Promise<() => Analyser>;

// The analyser keeps every new word permanently. A new analyser replaces it after this number of
// characters.
const CHARACTERS_PER_ANALYSER = 20_000_000;

/** Imports the optional packages on first use. */
const loadWink: AnalyserLoader = async () => {
  const { default: model } = await importOptional<{ readonly default: unknown }>(
    "wink-eng-lite-web-model",
  );
  await nextTurn();
  const { default: winkNlp } = await importOptional<WinkModule>("wink-nlp");
  return () => winkNlp(model, ["sbd"]);
};

/** Splits English text into sentences and stems, with wink-nlp. */
export class LanguageTools {
  readonly #load: AnalyserLoader;
  #create: (() => Analyser) | undefined;
  #analyser: Analyser | undefined;
  #characters = 0;

  constructor(load: AnalyserLoader = loadWink) {
    this.#load = load;
  }

  /**
   * Loads the packages. Must resolve before `sentences` is called.
   * @throws ModelCallError naming the packages if they can't be loaded
   */
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
   * Returns the sentences of `text` in order. Omits a sentence that is not an exact part of the
   * text. A full stop without a following space does not end a sentence. The analyser would
   * otherwise split file names and addresses.
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
