import type { JSX } from "preact";
import { Text } from "./text.js";

/** A text without formatting. */
export function PlainText({ text }: { readonly text: string }): JSX.Element {
  return (
    <div class="prose plain">
      <Text>{text}</Text>
    </div>
  );
}
