import type { Problem } from '@belfry/contract/problem'

/** An error response of the API. Status 0 means that there was no response. */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: string
  /** Validation messages by the path of the field in the body. */
  readonly fields: Readonly<Record<string, string>>
  /** The whole body, because some codes add members. */
  readonly body: Partial<Problem>

  constructor(status: number, body: Partial<Problem>) {
    super(body.detail ?? body.title ?? 'Something went wrong. Try again in a moment.')
    this.name = 'ApiProblem'
    this.status = status
    this.code = body.code ?? 'internal'
    this.fields = Object.fromEntries((body.errors ?? []).map(({ path, message }) => [path, message]))
    this.body = body
  }

  /** Whether the API has not done what was asked. Other errors do not tell. */
  get isRefusal(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 429 && this.code !== 'idempotency_in_progress'
  }
}

export function messageOf(error: unknown): string {
  return error instanceof ApiProblem ? error.message : 'Something went wrong on this page. Reload it to try again.'
}
