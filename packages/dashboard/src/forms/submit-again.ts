import { ApiProblem } from '../api/api-problem.ts'

/** Submits a draft. `at` is the present of "in 10 minutes". */
type Submit<Draft, Result> = (draft: Draft, at: Date) => Promise<Result>

/**
 * Returns a function that submits drafts. The API may have done what a lost answer was about, so the same draft is submitted
 * again with the same present: `call` repeats an equal request. If that is refused, the API has not, and the draft is
 * submitted with a new present.
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
      if (!(error instanceof ApiProblem && error.isRefusal)) throw error
      last = null
      if (isAgain) return send(draft, submit)
      throw error
    }
  }
}
