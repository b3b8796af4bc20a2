import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "../icon.js";

const WORDS = {
  idle: "Copy as JSON",
  copied: "Copied",
  refused: "The browser refused to copy",
} as const;

/** Puts a value into the clipboard. */
export function CopyButton({ value }: { readonly value: unknown }): JSX.Element {
  const [state, setState] = useState<keyof typeof WORDS>("idle");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(JSON.stringify(value, undefined, 2));
      setState("copied");
    } catch {
      setState("refused"); // without permission, or without TLS
    }
  };
  return (
    <button type="button" class="btn bare" onClick={() => void copy()}>
      <Icon name="copy" />
      <span role="status">{WORDS[state]}</span>
    </button>
  );
}
