import type { JSX } from "preact";
import { textPieces, visibleText } from "../lib/visible-text.js";

/** A text with more pieces is drawn as one piece, because each piece is an element. */
const MOST_PIECES = 2_000;

/**
 * A text of a model or a program. Shows characters that hide or reorder other characters as
 * symbols.
 */
export function Text({ children }: { readonly children: string }): JSX.Element {
  const pieces = textPieces(children);
  if (pieces.length === 1 && pieces[0]?.symbol === undefined) return <>{children}</>;
  if (pieces.length > MOST_PIECES) return <>{visibleText(children)}</>;
  return (
    <>
      {pieces.map(({ text, symbol }, i) =>
        symbol === undefined ? (
          text
        ) : (
          <span key={i} class="symbol">
            {symbol}
          </span>
        ),
      )}
    </>
  );
}
