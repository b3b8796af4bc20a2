import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "../icon.js";

const WORDS = {
  copied: "Copied",
  refused: "The browser refused to copy",
} as const;

export interface CopyButtonProps {
  /** Default: Copy as JSON. */
  readonly title?: string | undefined;
  readonly text: string;
}

/** Copies a text to the clipboard. */
export function CopyButton({ title = "Copy as JSON", text }: CopyButtonProps): JSX.Element {
  const [state, setState] = useState<keyof typeof WORDS>();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      setState("refused"); // no permission, or no TLS
    }
  };
  return (
    <button type="button" class="btn bare" onClick={() => void copy()}>
      <Icon name="copy" />
      <span role="status">{state === undefined ? title : WORDS[state]}</span>
    </button>
  );
}
