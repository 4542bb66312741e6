import { AppError } from '@belfry/domain/app-error'
import { findUnstorable } from '@belfry/domain/json-text'

/** A refusal of the QStash interface, with a status that the code of a problem does not have. */
export class QstashError extends AppError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super('bad_request', message)
    this.status = status
    this.headers = headers
  }
}

/** The refusal of a request with a value that is not allowed. */
export function badRequest(message: string): QstashError {
  return new QstashError(400, message)
}

/** @throws QstashError for a value with text that PostgreSQL cannot store. */
export function refuseUnstorable(value: unknown): void {
  const found = findUnstorable(JSON.stringify(value))
  if (found) throw badRequest(`the request contains ${found}, which cannot be stored`)
}

/** The refusal of something that QStash has and Belfry does not. */
export function notOffered(message: string): QstashError {
  return new QstashError(501, message)
}

/** Reads a number that is written in digits. `name`: what a refusal calls it, such as `Upstash-Retries: it`. */
export function readNumber(name: string, text: string, min: number, max: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  throw badRequest(`invalid ${name} must be a number from ${min} to ${max}`)
}
