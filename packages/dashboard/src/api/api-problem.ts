import type { Problem } from '@belfry/contract'

/** A refusal by the API, in its words. Status 0 means that no answer came. */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  /** What is wrong with each field, by its path in the body. */
  readonly fields: Readonly<Record<string, string>>
  /** The whole body, for members that some codes add. */
  readonly body: Partial<Problem>

  constructor(status: number, body: Partial<Problem>) {
    super(body.detail ?? body.title ?? 'Something went wrong. Try again in a moment.')
    this.name = 'ApiProblem'
    this.status = status
    this.code = body.code ?? 'internal'
    this.requestId = body.request_id
    this.fields = Object.fromEntries((body.errors ?? []).map(({ path, message }) => [path, message]))
    this.body = body
  }
}

/** Any error in words for a person. */
export function messageOf(error: unknown): string {
  return error instanceof ApiProblem ? error.message : 'Something went wrong on this page. Reload it to try again.'
}
