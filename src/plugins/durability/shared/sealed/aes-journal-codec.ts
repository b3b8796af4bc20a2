import { createHmac } from "node:crypto";
import type { JournalCodec } from "../../../../contracts/journal.js";
import { ValidationError } from "../../../../contracts/errors.js";
import { JournalError } from "../../../../contracts/journal-errors.js";
import { checkOptions } from "../../../../contracts/validation.js";
import { openedText, sealedText } from "../../../../util/sealed-text.js";

const KEY_BYTES = 32;
const HEAD = /^([0-9a-f]{8})\./;
/**
 * Finds an invalid character. A pattern for the complete text can overflow the stack if the text
 * has millions of characters.
 */
const NO_BASE64 = /[^A-Za-z0-9_-]/;

/** The keys of {@link aesJournalCodec}: 32 bytes each, in base64. */
export interface AesJournalKeys {
  /** Encrypts and decrypts. */
  readonly current: string;
  /** Used only to decrypt. */
  readonly previous?: readonly string[] | undefined;
}

/**
 * Returns a codec that encrypts with AES-256-GCM. Each run has a key that is derived from the given
 * key. A text identifies its key, so that keys can be rotated. Then the new key is `current`, and
 * the old key stays in `previous` until no run needs it.
 * @throws ValidationError for an invalid key.
 */
export function aesJournalCodec(o: AesJournalKeys): JournalCodec {
  checkOptions("aesJournalCodec()", o, ["current", "previous"]);
  const keys = new Map<string, Buffer>();
  const [current, ...previous] = [o.current, ...(o.previous ?? [])].map(aesKey);
  for (const key of previous) keys.set(idOf(key), key);
  if (current === undefined) throw new ValidationError("aesJournalCodec() needs a key");
  const currentId = idOf(current);
  keys.set(currentId, current);
  return Object.freeze({
    seal: (text: string, runId: string) =>
      `${currentId}.${sealedText(text, derived(current, `run ${runId}`), runId)}`,
    open(sealed: string, runId: string): string {
      const [head = "", id = ""] = HEAD.exec(sealed) ?? [];
      const content = sealed.slice(head.length);
      if (id === "" || content === "" || NO_BASE64.test(content))
        throw new JournalError(`A text of run '${runId}' is not sealed`, {
          hint: "It was kept without a key, or was changed by another program.",
        });
      const key = keys.get(id);
      if (key === undefined)
        throw new JournalError(
          `Run '${runId}' is sealed with key '${id}', which is not among the keys given: ${[...keys.keys()].join(", ")}`,
          { hint: "Add that key to the previous keys." },
        );
      return decrypted(content, runId, key);
    },
  });
}

/** Returns a key. The message of the error must not show the key. */
function aesKey(text: unknown, n: number): Buffer {
  const key = typeof text === "string" ? Buffer.from(text, "base64") : Buffer.alloc(0);
  if (key.length === KEY_BYTES) return key;
  throw new ValidationError(
    `${n === 0 ? "The current key" : `Previous key ${n}`} of a journal must be 32 bytes in base64`,
    { hint: "Make one with: openssl rand -base64 32" },
  );
}

const idOf = (key: Buffer): string => derived(key, "id").toString("hex").slice(0, 8);

function derived(key: Buffer, use: string): Buffer {
  return createHmac("sha256", key).update(`agentensemble/journal ${use}`).digest();
}

/** @throws JournalError for a text that was changed, or belongs to another run. */
function decrypted(text: string, runId: string, key: Buffer): string {
  try {
    return openedText(text, derived(key, `run ${runId}`), runId);
  } catch (cause) {
    throw new JournalError(`A sealed text of run '${runId}' was changed, or is another run's`, {
      cause,
      hint: "Let no other program change what the journal keeps.",
    });
  }
}
