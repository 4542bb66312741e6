export { Belfry } from './belfry.ts'
export { parseDuration } from './duration.ts'
export {
  ApiError,
  AuthenticationError,
  BelfryError,
  ConflictError,
  ConnectionError,
  type FieldError,
  NotFoundError,
  PermissionError,
  QuotaError,
  RateLimitError,
  ServerError,
  TimeoutError,
  ValidationError,
} from './errors.ts'
export { ExactNumber, isChanged, parseJson, stringifyJson } from './exact-json.ts'
export { type ExchangeOptions, exchangeToken } from './exchange-token.ts'
export type * from './generated/codes.ts'
export type { RawRequest } from './http.ts'
export type { List } from './list.ts'
export type { BelfryOptions, CreateOptions, ProgressOptions, RequestOptions, TailOptions } from './options.ts'
export type * from './types/index.ts'
export {
  type SignOptions,
  type VerifiedWebhook,
  type VerifyOptions,
  type WebhookHeaders,
  WebhookVerificationError,
  webhooks,
} from './webhooks.ts'
