import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import {
  differenceOf,
  isChanged,
  textWithChanges,
  type DiffPart,
} from "../../lib/reviews/word-diff.js";
import { Text } from "../text.js";

export interface WordDiffProps {
  readonly before: string;
  readonly after: string;
  /** The text that is shown if both are equal. */
  readonly nothing?: string | undefined;
}

const SIGNS = { same: " ", added: "+", removed: "-" } as const;

/** Shows two texts line by line, with the changed words. */
export function WordDiff(props: WordDiffProps): JSX.Element {
  const { before, after, nothing = "Nothing is changed yet." } = props;
  const lines = useMemo(() => differenceOf(before, after), [before, after]);
  return (
    <div class="diff mono" role="group" aria-label="Changes" tabIndex={0}>
      {!isChanged(lines) && <p class="faint">{nothing}</p>}
      {lines.map((line, i) => (
        <div key={i} class={line.kind}>
          {SIGNS[line.kind]} <Parts parts={line.parts} />
        </div>
      ))}
    </div>
  );
}

/** Shows two texts as one text, with the changed words. Shows long texts line by line. */
export function TextDiff(props: WordDiffProps): JSX.Element {
  const { before, after } = props;
  const parts = useMemo(() => textWithChanges(before, after), [before, after]);
  if (parts === undefined || before === after) return <WordDiff {...props} />;
  return (
    <div class="text-diff" role="group" aria-label="Changes" tabIndex={0}>
      <Parts parts={parts} />
    </div>
  );
}

function Parts({ parts }: { readonly parts: readonly DiffPart[] }): JSX.Element {
  return (
    <>
      {parts.map(({ kind, text }, i) => {
        const shown = <Text>{text}</Text>;
        if (kind === "added") return <ins key={i}>{shown}</ins>;
        return kind === "removed" ? <del key={i}>{shown}</del> : <span key={i}>{shown}</span>;
      })}
    </>
  );
}
