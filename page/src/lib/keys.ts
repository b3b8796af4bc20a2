interface PressedKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** Returns the name of a pressed key: `a`, `?`, `Ctrl+Enter`. The command key counts as Ctrl. */
export function keyOf({ key, ctrlKey, metaKey, altKey }: PressedKey): string {
  if (altKey) return `Alt+${key}`;
  return ctrlKey || metaKey ? `Ctrl+${key}` : key;
}

/** Returns whether keys pressed in an element write text. */
export function isTyping(target: unknown): boolean {
  const { tagName, isContentEditable, type } = (target ?? {}) as {
    readonly tagName?: string;
    readonly isContentEditable?: boolean;
    readonly type?: string;
  }; // an element, or any value without these fields
  if (isContentEditable === true || tagName === "TEXTAREA" || tagName === "SELECT") return true;
  return tagName === "INPUT" && type !== "checkbox" && type !== "radio";
}
