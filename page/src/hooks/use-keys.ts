import { useLayoutEffect, useRef } from "preact/hooks";
import { isTyping, keyOf } from "../lib/keys.js";

/**
 * The actions of keys. A name is the key as `event.key`, with `Ctrl+` for Ctrl or the command key.
 * `g r` is a sequence of two keys.
 */
export type KeyActions = Readonly<Record<string, (() => void) | undefined>>;

/** Time in ms after which the first key of a sequence is ignored. */
const CHORD_MS = 1_000;

/**
 * Handles keys of the complete page while the component is mounted. Ignores keys while a user
 * types, except `Ctrl+` keys.
 */
export function useKeys(actions: KeyActions): void {
  const latest = useRef(actions);
  latest.current = actions;
  // Before the browser paints: a key works as soon as its effect is visible.
  useLayoutEffect(() => {
    let first = "";
    let firstAt = 0;
    const onKeyDown = (event: KeyboardEvent): void => {
      const key = keyOf(event);
      if (event.defaultPrevented || (isTyping(event.target) && !key.startsWith("Ctrl+"))) return;
      const isSecond = first !== "" && event.timeStamp - firstAt < CHORD_MS;
      const action =
        (isSecond ? latest.current[`${first} ${key}`] : undefined) ?? latest.current[key];
      first = key;
      firstAt = event.timeStamp;
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}
