/** The parts of the browser that the page uses. Tests pass others. */
export interface Environment {
  /** Whether the page is a file with one run, without a program. Default false. */
  readonly isSaved?: boolean | undefined;
  /** Milliseconds since 1970. */
  now(): number;
  /** From 0 to below 1. */
  random(): number;
  /** Calls `fn` once after `ms`; the result cancels it. */
  later(fn: () => void, ms: number): () => void;
  /** Calls `fn` before the next frame is drawn; soon if none is drawn. */
  nextFrame(fn: () => void): void;
  fetch(path: string, init: RequestInit): Promise<Response>;
  openSocket(path: string, protocol: string): Socket;
  /** Absent in browsers without them, and in pages that are not secure. */
  readonly notifications?: Notifications | undefined;
  /** Kept until the tab is closed. */
  readonly session: Keep;
  /** Kept for the next visit. */
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
  /** Whether the user has the page in sight. */
  isSeen(): boolean;
  /** `onClick` is called after the page is brought to the front. One with a known id replaces it. */
  show(
    o: { readonly id: string; readonly title: string; readonly text: string },
    onClick: () => void,
  ): void;
}

/** Texts by name. */
export interface Keep {
  read(name: string): string | undefined;
  /** `undefined` removes it. */
  write(name: string, text: string | undefined): void;
}
