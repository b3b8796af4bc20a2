/**
 * Guards: plugins that keep personal data, secrets, injected instructions and unwanted texts out of
 * a team's runs.
 */
export { answerLength } from "./plugins/guards/answer-length/index.js";
export type { AnswerLengthOptions } from "./plugins/guards/answer-length/index.js";
export { canary } from "./plugins/guards/canary/index.js";
export type { CanaryOptions } from "./plugins/guards/canary/index.js";
export { jsonOnly } from "./plugins/guards/json-only/index.js";
export type { JsonOnlyOptions } from "./plugins/guards/json-only/index.js";
export { language } from "./plugins/guards/language/index.js";
export type { LanguageOptions } from "./plugins/guards/language/index.js";
export { links } from "./plugins/guards/links/index.js";
export type { LinksOptions } from "./plugins/guards/links/index.js";
export { personalData } from "./plugins/guards/personal-data/index.js";
export type {
  PersonalDataKind,
  PersonalDataOptions,
} from "./plugins/guards/personal-data/index.js";
export { promptInjection } from "./plugins/guards/prompt-injection/index.js";
export type { PromptInjectionOptions } from "./plugins/guards/prompt-injection/index.js";
export { quotations } from "./plugins/guards/quotations/index.js";
export type { QuotationsOptions } from "./plugins/guards/quotations/index.js";
export { secrets } from "./plugins/guards/secrets/index.js";
export type { SecretsOptions } from "./plugins/guards/secrets/index.js";
export { topics } from "./plugins/guards/topics/index.js";
export type { TopicsOptions } from "./plugins/guards/topics/index.js";
export { toxicity } from "./plugins/guards/toxicity/index.js";
export type { ToxicityOptions } from "./plugins/guards/toxicity/index.js";
export type { ModerationModel, ModerationResult } from "./contracts/moderation.js";
export type { OutputGuardOptions, TextGuardOptions } from "./plugins/guards/shared/output-guard.js";
export type {
  Detector,
  Finding,
  GuardReport,
  GuardReporting,
} from "./plugins/guards/shared/findings.js";
