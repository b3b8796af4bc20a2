import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { differenceOf, isChanged, type DiffLine } from "../../lib/reviews/word-diff.js";
import { Text } from "../text.js";

export interface WordDiffProps {
  readonly before: string;
  readonly after: string;
  /** The words where both are equal. */
  readonly nothing?: string | undefined;
}

const SIGNS = { same: " ", added: "+", removed: "-" } as const;

/** Two texts line by line, with the words that changed. */
export function WordDiff(props: WordDiffProps): JSX.Element {
  const { before, after, nothing = "Nothing is changed yet." } = props;
  const lines = useMemo(() => differenceOf(before, after), [before, after]);
  return (
    <div class="diff mono" role="group" aria-label="Changes" tabIndex={0}>
      {!isChanged(lines) && <p class="faint">{nothing}</p>}
      {lines.map((line, i) => (
        <div key={i} class={line.kind}>
          {SIGNS[line.kind]} <Line line={line} />
        </div>
      ))}
    </div>
  );
}

function Line({ line }: { readonly line: DiffLine }): JSX.Element {
  return (
    <>
      {line.parts.map(({ kind, text }, i) => {
        const shown = <Text>{text}</Text>;
        if (kind === "added") return <ins key={i}>{shown}</ins>;
        return kind === "removed" ? <del key={i}>{shown}</del> : <span key={i}>{shown}</span>;
      })}
    </>
  );
}
