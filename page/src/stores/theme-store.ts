import { signal, type ReadonlySignal } from "@preact/signals";
import type { Environment } from "./environment.js";

export type Theme = "light" | "dark";

export interface ThemeStore {
  readonly theme: ReadonlySignal<Theme>;
  /** Changes to the other theme, also for later visits. */
  toggle(): void;
}

const NAME = "agentensemble.theme";

/** The part of a window that the store uses. */
export interface ThemedWindow {
  matchMedia(query: string): {
    readonly matches: boolean;
    addEventListener(type: "change", listener: () => void): void;
  };
}

/** Follows the system until the user selects a theme. */
export function createThemeStore(
  env: Pick<Environment, "local">,
  window: ThemedWindow,
): ThemeStore {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = (): Theme | undefined => {
    const text = env.local.read(NAME);
    return text === "light" || text === "dark" ? text : undefined;
  };
  const ofSystem = (): Theme => (system.matches ? "dark" : "light");
  const theme = signal<Theme>(chosen() ?? ofSystem());
  system.addEventListener("change", () => {
    theme.value = chosen() ?? ofSystem();
  });
  return {
    theme,
    toggle: () => {
      theme.value = theme.value === "dark" ? "light" : "dark";
      env.local.write(NAME, theme.value);
    },
  };
}
