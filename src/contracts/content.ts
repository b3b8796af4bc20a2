/** A JSON value. */
export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/**
 * Marks the end of a prefix of the prompt that later requests repeat, for vendors that cache marked
 * prefixes. `ttl` is the time for which the vendor keeps the prefix in its cache. If a vendor does
 * not offer this time, the vendor's next longer time is used, otherwise its longest time. `auto`
 * uses the vendor's default time. `off` sets no mark here. On a request, `off` removes all marks.
 */
export type CacheOption = "auto" | "off" | { readonly ttl: "5m" | "30m" | "1h" };

interface PartBase {
  readonly cache?: CacheOption | undefined;
}

/** A text. */
export interface TextPart extends PartBase {
  readonly type: "text";
  readonly text: string;
}

/**
 * An image. `data` is base64 text, or a `data:`, `http:` or `https:` address. `mediaType` is
 * optional for an address, and if the first bytes identify the type. SVG is a text file, not an
 * image.
 */
export interface ImagePart extends PartBase {
  readonly type: "image";
  readonly data: string | URL;
  readonly mediaType?: string | undefined;
  /**
   * The resolution at which the model processes the image, if the vendor offers a choice. Default
   * `auto`.
   */
  readonly detail?: "auto" | "low" | "high" | undefined;
}

/** A PDF, a text file or another document. `data` is as in `ImagePart`. */
export interface FilePart extends PartBase {
  readonly type: "file";
  readonly data: string | URL;
  readonly mediaType: string;
  /** The name of the file. The model receives the name. */
  readonly name?: string | undefined;
}

/** Recorded sound. `data` is base64 text or a `data:` address. */
export interface AudioPart extends PartBase {
  readonly type: "audio";
  readonly data: string;
  readonly mediaType: string;
}

/**
 * A part of a user message, or of a tool's result. `attachment` creates checked parts from bytes,
 * base64 text, addresses and files.
 */
export type ContentPart = TextPart | ImagePart | FilePart | AudioPart;

/** A part that contains a file: any part except text. */
export type MediaPart = Exclude<ContentPart, TextPart>;

/**
 * A block of a model's reasoning. It is sent back only to the same vendor, and only within the
 * conversation of the same agent.
 */
export interface ReasoningPart {
  readonly type: "reasoning";
  /** The reasoning or its summary. Empty if the vendor hides it. */
  readonly text: string;
  readonly provider: string;
  readonly modelId: string;
  readonly agentRole?: string | undefined;
  /** The position of the block in its message, counted over texts, tool calls and reasoning. */
  readonly index: number;
  /**
   * The block in the vendor's format, sent back unchanged. If absent, the block is never sent back.
   */
  readonly data?: JsonValue | undefined;
}

/** Limits of the parts of one message. */
export interface AttachmentLimits {
  /** Limit of one part in bytes. Default 20 MiB. */
  readonly maxBytes?: number | undefined;
  /** Limit of all parts of a message in bytes. Default 32 MiB. */
  readonly maxTotalBytes?: number | undefined;
  /** Limit of the number of parts of a message. Default 32. */
  readonly maxParts?: number | undefined;
  /**
   * Accepted media types. `image/*` accepts all images. Default: `image/png`, `image/jpeg`,
   * `image/gif`, `image/webp`, `application/pdf`, `text/*`, `application/json`, `audio/wav`,
   * `audio/mpeg`.
   */
  readonly types?: readonly string[] | undefined;
}

/** Options of the functions of `attachment`. */
export interface AttachmentOptions extends AttachmentLimits {
  /**
   * The media type. It must match the first bytes. Default: the type determined from the first
   * bytes.
   */
  readonly mediaType?: string | undefined;
  /** The name of the file. Default: the name in the path or of the blob. */
  readonly name?: string | undefined;
  readonly cache?: CacheOption | undefined;
  /** Aborts reading from a file or a blob. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The media types that a model accepts in addition to text. An absent field is not checked. `*` in
 * place of a subtype accepts all subtypes.
 */
export interface PartSupport {
  /** Types accepted in user messages. Empty: none. */
  readonly user?: readonly string[] | undefined;
  /** Types accepted in results of tools. Empty: none. */
  readonly tool?: readonly string[] | undefined;
  /** Whether parts may be `http:` and `https:` addresses. A list restricts this to its types. */
  readonly urls?: boolean | readonly string[] | undefined;
  /** Limit of one part in bytes. */
  readonly maxBytes?: number | undefined;
}

/** Settings of a model's reasoning. `effort` and `budgetTokens` exclude each other. */
export interface ReasoningOptions {
  /** The amount of reasoning. Default: the vendor's default. */
  readonly effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | undefined;
  /** Limit of reasoning tokens, at least 1,024, for vendors that accept one. */
  readonly budgetTokens?: number | undefined;
  /**
   * The amount of reasoning that the vendor returns as text. With `off`, no text is returned, but
   * blocks that the next call needs are kept. Default `auto`.
   */
  readonly summary?: "auto" | "concise" | "detailed" | "off" | undefined;
}
