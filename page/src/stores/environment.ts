/** The parts of the browser that the page uses. Tests pass other implementations. */
export interface Environment {
  /** Whether the page is a file with one run, without a program. Default false. */
  readonly isSaved?: boolean | undefined;
  /** Milliseconds since 1970. */
  now(): number;
  /** Returns a random number from 0 (included) to 1 (excluded). */
  random(): number;
  /** Calls `fn` once after `ms` milliseconds. Returns a function that cancels the call. */
  later(fn: () => void, ms: number): () => void;
  /**
   * Calls `fn` before the next frame is drawn. If no frame is drawn, calls `fn` after a short time.
   */
  nextFrame(fn: () => void): void;
  fetch(path: string, init: RequestInit): Promise<Response>;
  openSocket(path: string, protocol: string): Socket;
  /** Absent in browsers without notifications, and in pages that are not secure. */
  readonly notifications?: Notifications | undefined;
  /** Texts that are kept until the tab is closed. */
  readonly session: Keep;
  /** Texts that are kept for the next visit. */
  readonly local: Keep;
}

/** The part of a WebSocket that the page uses. */
export interface Socket {
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: { readonly code: number }) => void) | null;
  send(text: string): void;
  close(): void;
}

/** Notifications of the system. */
export interface Notifications {
  permission(): "default" | "granted" | "denied";
  request(): Promise<unknown>;
  /** Returns whether the page is visible to the user. */
  isSeen(): boolean;
  /**
   * Shows a notification. A notification with a known id replaces the earlier one. `onClick` is
   * called after the page is brought to the front.
   */
  show(
    o: { readonly id: string; readonly title: string; readonly text: string },
    onClick: () => void,
  ): void;
}

/** Texts by name. */
export interface Keep {
  read(name: string): string | undefined;
  /** Stores a text. `undefined` removes the text. */
  write(name: string, text: string | undefined): void;
}
