import { ApiProblem } from '../api/api-problem.ts'

/** Submits a draft. `at` is the present of "in 10 minutes". */
type Submit<Draft, Result> = (draft: Draft, at: Date) => Promise<Result>

/**
 * Returns a function that submits drafts. The API may have done what a lost answer was about, so the same draft is submitted
 * again with the same present: `call` repeats an equal request. If that is refused, the API has not, and the draft is
 * submitted as a new request.
 */
export function submitAgain<Draft, Result>(): (draft: Draft, submit: Submit<Draft, Result>) => Promise<Result> {
  let last: { text: string; at: Date } | null = null
  return async function send(draft, submit): Promise<Result> {
    const text = JSON.stringify(draft)
    const isAgain = last?.text === text
    if (last?.text !== text) last = { text, at: new Date() }
    try {
      return await submit(draft, last.at)
    } catch (error) {
      if (!isRefusal(error)) throw error
      last = null
      if (isAgain) return send(draft, submit)
      throw error
    }
  }
}

// Others do not tell whether the API has done it.
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ApiProblem) || error.code === 'idempotency_in_progress') return false
  return error.status >= 400 && error.status < 500 && error.status !== 429
}
