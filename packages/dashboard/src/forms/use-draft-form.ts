import { type FocusEvent, useEffect, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import { type FieldErrors, useForm } from './form.tsx'
import { dropDraft, keepDraft, keptDraft } from './kept-drafts.ts'
import { submitAgain } from './submit-again.ts'
import type { Change } from './use-change.ts'

type DraftFormOptions<Draft, Result> = Pick<Change<Result, Draft>, 'done'> & {
  initial: Draft
  /** Returns the draft to submit. `intent` is the value of the submit button, e.g. `now`. */
  intend?(draft: Draft, intent: string): Draft
  check(draft: Draft): FieldErrors
  /** `at` is the present of a relative time. */
  submit(draft: Draft, at: Date): Promise<Result>
  onDone(result: Result): unknown
}

export type DraftForm<Draft> = ReturnType<typeof useDraftForm<Draft, unknown>>

/** Keeps the fields of a form in a draft, and validates them. The page can preview the draft. It outlives the page. */
export function useDraftForm<Draft, Result>(options: DraftFormOptions<Draft, Result>) {
  const { initial, check, submit, onDone, done } = options
  const { pathname, search } = useLocation()
  const path = pathname + search
  const [kept] = useState(() => keptDraft(path, initial))
  const [isRestored, setIsRestored] = useState(kept !== null)
  const [draft, setDraft] = useState(kept ?? initial)
  const latest = useRef(draft)
  latest.current = draft
  const isDone = useRef(false)
  useEffect(() => {
    const keep = () =>
      isDone.current || latest.current === initial ? dropDraft(path) : keepDraft(path, initial, latest.current)
    window.addEventListener('pagehide', keep)
    return () => {
      window.removeEventListener('pagehide', keep)
      keep()
    }
  }, [path, initial])
  const [send] = useState(() => submitAgain<Draft, Result>())
  const form = useForm({
    read: (_field, _data, intent) => options.intend?.(draft, intent) ?? draft,
    check,
    done,
    submit: submitted => send(submitted, submit),
    onDone(result) {
      isDone.current = true
      return onDone(result)
    },
  })
  const onChange = (change: Partial<Draft>) => setDraft(before => ({ ...before, ...change }))
  const discard = () => {
    setDraft(initial)
    setIsRestored(false)
  }
  const { errors, onBlur } = useLiveErrors(check(draft), form.errors, draft) // which decides what errors remain after a change
  return { form: { ...form, errors, onInput() {} }, onBlur, draft, onChange, isRestored, discard }
}

/**
 * Returns the errors to show: the current error of each field that was left or submitted, and the errors of the last submit
 * until the draft changes.
 */
function useLiveErrors(current: FieldErrors, submitted: FieldErrors, draft: unknown) {
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set())
  const [last, setLast] = useState({ submitted, draft })
  if (last.submitted !== submitted) {
    setLast({ submitted, draft })
    setVisited(new Set([...visited, ...Object.keys(submitted)]))
  }
  const shown = Object.entries(current).filter(([name]) => visited.has(name))
  return {
    errors: { ...(last.draft === draft ? submitted : {}), ...Object.fromEntries(shown) },
    onBlur({ target, relatedTarget }: FocusEvent) {
      // A new message would move the button away from under the pointer that presses it.
      if (relatedTarget instanceof HTMLButtonElement) return
      const name = target.getAttribute('name')
      if (name && !visited.has(name)) setVisited(new Set(visited).add(name))
    },
  }
}
