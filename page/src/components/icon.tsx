import type { JSX } from "preact";

/** Outlines in a square of 24. A circle is two arcs. */
const PATHS = {
  again: "M20 12a8 8 0 1 1-2.5-5.8M20 4v5h-5",
  alert: "M12 4 3 20h18zM12 10v4m0 3v.1",
  chart: "M4 20V4m0 16h16M8 16v-4m4 4V8m4 8v-6",
  chat: "M4 5h16v11H10l-4 4v-4H4z",
  clock: "M3 12a9 9 0 1 0 18 0 9 9 0 1 0-18 0M12 7v5l3.5 2",
  close: "m6 6 12 12M18 6 6 18",
  compare: "M9 4v16M15 4v16M5 8h4m6 0h4M5 16h4m6 0h4",
  control:
    "M4 7h9m5 0h2M4 17h3m5 0h8M13 7a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0M7 17a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  doc: "M6 3h8l4 4v14H6zM9 12h6m-6 4h6",
  done: "M3 12a9 9 0 1 0 18 0 9 9 0 1 0-18 0M8 12.5l2.6 2.6L16 9.6",
  down: "M12 4v11m-4.5-4 4.5 4.5 4.5-4.5M5 20h14",
  failed: "M3 12a9 9 0 1 0 18 0 9 9 0 1 0-18 0M9 9l6 6m0-6-6 6",
  fit: "M4 9V4h5m11 5V4h-5M4 15v5h5m11-5v5h-5",
  handoff: "M4 7h9a5 5 0 0 1 5 5v6m-3.5-3.5L18 18l3.5-3.5",
  help: "M3 12a9 9 0 1 0 18 0 9 9 0 1 0-18 0M9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.8.3-1 .9-1 1.7m0 3v.1",
  idle: "M3 12a9 9 0 1 0 18 0 9 9 0 1 0-18 0",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.6-5.6L12 7m2 3a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.6 5.6L12 17",
  logo: "M4 6h8M4 12h6m-6 6h8m6-12h3m-5 6h5m-3 6h3M12 6a3 3 0 1 0 6 0 3 3 0 1 0-6 0M10 12a3 3 0 1 0 6 0 3 3 0 1 0-6 0M12 18a3 3 0 1 0 6 0 3 3 0 1 0-6 0",
  loop: "M17 3l3 3-3 3M20 6H8a4 4 0 0 0-4 4v1m3 10-3-3 3-3m-3 3h12a4 4 0 0 0 4-4v-1",
  minus: "M5 12h14",
  model: "M12 3v4m0 10v4M3 12h4m10 0h4M6 6l2.5 2.5m7 7L18 18M6 18l2.5-2.5m7-7L18 6",
  moon: "M20 14.5A8.5 8.5 0 1 1 9.5 4 7 7 0 0 0 20 14.5z",
  play: "M8 5.5v13l10-6.5z",
  plus: "M12 5v14M5 12h14",
  retry: "M4 12a8 8 0 1 1 2.5 5.8M4 20v-5h5",
  running: "M12 3a9 9 0 1 0 9 9",
  search: "M4.5 11a6.5 6.5 0 1 0 13 0 6.5 6.5 0 1 0-13 0M16 16l4.5 4.5",
  shield: "M12 3 5 6v5c0 4.5 3 8 7 10 4-2 7-5.5 7-10V6z",
  stop: "M7 7h10v10H7z",
  stopped: "M3 12a9 9 0 1 0 18 0 9 9 0 1 0-18 0M9 9h6v6H9z",
  sun: "M8 12a4 4 0 1 0 8 0 4 4 0 1 0-8 0M12 3v2m0 14v2M3 12h2m14 0h2M5.6 5.6 7 7m10 10 1.4 1.4M5.6 18.4 7 17m10-10 1.4-1.4",
  team: "M5 9a3 3 0 1 0 6 0 3 3 0 1 0-6 0M14 10a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0M3 19c.5-3.3 2.5-5 5-5s4.5 1.7 5 5m1-4c3-1 5.5.5 6.5 4",
  tool: "M14.5 6.5a4 4 0 0 0-5.3 5.2L4 17v3h3l5.3-5.2a4 4 0 0 0 5.2-5.3L15 12l-3-3z",
  up: "M12 20V9m-4.5 4L12 8.5l4.5 4.5M5 4h14",
  user: "M8.5 8a3.5 3.5 0 1 0 7 0 3.5 3.5 0 1 0-7 0M5 20c.8-3.8 3.6-5.5 7-5.5s6.2 1.7 7 5.5",
  waiting: "M3 12a9 9 0 1 0 18 0 9 9 0 1 0-18 0M10 9v6m4-6v6",
} as const;

export type IconName = keyof typeof PATHS;

export interface IconProps {
  readonly name: IconName;
  /** The meaning of the icon. Absent for a decoration next to a word. */
  readonly label?: string | undefined;
}

export function Icon({ name, label }: IconProps): JSX.Element {
  return (
    <svg
      class={name === "running" ? "i spin" : "i"}
      viewBox="0 0 24 24"
      {...(label === undefined
        ? { "aria-hidden": true }
        : { role: "img" as const, "aria-label": label })}
    >
      <path d={PATHS[name]} {...(name === "idle" && { "stroke-dasharray": "3 3" })} />
    </svg>
  );
}
