import type { CaptureModeDefinition } from "../../../contracts/capture.js";
import type { ContentPart, MediaPart } from "../../../contracts/content.js";
import type { PartSummary } from "../../../contracts/part-summary.js";
import type { TraceKeeper } from "./keeper.js";
import { bytesOfPart, PartDigests, withFileText } from "../../shared/part-digests.js";
import { isTextType, normalMediaType } from "../../../util/media.js";

/** A file next to a trace. */
export interface TracedFile {
  readonly name: string;
  /** Decodes the content. */
  read(): Uint8Array;
}

/**
 * File name extensions. Other types get `.bin`. Texts that a browser would execute or render get
 * `.txt`.
 */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["application/pdf", "pdf"],
  ["text/csv", "csv"],
  ["text/markdown", "md"],
  ["application/json", "json"],
  ["audio/wav", "wav"],
  ["audio/mpeg", "mp3"],
]);

/**
 * The images and files of a run: their summaries for the trace, and their content if the mode keeps
 * files.
 */
export class TracedFiles {
  readonly #mode: CaptureModeDefinition;
  readonly #keeper: TraceKeeper;
  readonly #digests = new PartDigests();
  readonly #kept = new Map<string, MediaPart>();

  constructor(mode: CaptureModeDefinition, keeper: TraceKeeper) {
    this.#mode = mode;
    this.#keeper = keeper;
  }

  /** Describes the images, files and audio among parts. */
  summaries(parts: readonly ContentPart[]): readonly PartSummary[] {
    return parts.flatMap((part) => (part.type === "text" ? [] : [this.#summary(part)]));
  }

  /** The files of the parts described so far. None in modes without files. */
  get all(): readonly TracedFile[] {
    return [...this.#kept].map(([sha256, part]) => ({
      name: `${sha256}.${extensionOf(part)}`,
      read: () =>
        bytesOfPart(withFileText(part, (text) => this.#keeper.text(text))) ?? new Uint8Array(),
    }));
  }

  #summary(part: MediaPart): PartSummary {
    const { type, mediaType, bytes, sha256, name } = this.#digests.of(part);
    const kept = {
      type,
      ...(mediaType !== undefined && { mediaType }),
      ...(bytes !== undefined && { bytes }),
    };
    if (this.#mode.capturesTexts === false) return kept;
    if (this.#mode.capturesFiles === true && sha256 !== undefined) this.#kept.set(sha256, part);
    return {
      ...kept,
      ...(sha256 !== undefined && { sha256 }),
      ...(name !== undefined && { name: this.#keeper.text(name) }),
    };
  }
}

function extensionOf({ mediaType }: MediaPart): string {
  const type = normalMediaType(mediaType) ?? "";
  return EXTENSIONS.get(type) ?? (isTextType(type) ? "txt" : "bin");
}
