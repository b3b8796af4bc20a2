export type { Redactor, SecretFilter } from "../util/redaction/redactor.js";
