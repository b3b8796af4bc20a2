import type { JSX } from "preact";

const NAME = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘ ⏎" : "Ctrl ⏎";

/** The name, on this machine, of the key that sends. */
export function SendKey(): JSX.Element {
  return (
    <kbd class="on-button" aria-hidden="true">
      {NAME}
    </kbd>
  );
}
