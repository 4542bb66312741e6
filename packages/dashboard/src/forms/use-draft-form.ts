import { type FocusEvent, useRef, useState } from 'react'
import { type FieldErrors, type Form, useForm } from './use-form.ts'

type DraftFormOptions<Draft, Result> = {
  initial: Draft
  check(draft: Draft): FieldErrors
  /** @param idempotencyKey - The same until the draft changes, for a retry of the same submit. */
  submit(draft: Draft, idempotencyKey: string): Promise<Result>
  onDone(result: Result): unknown
}

export type DraftForm<Draft> = {
  form: Form
  /** For the form around the fields. */
  onBlur(event: FocusEvent): void
  draft: Draft
  onChange(change: Partial<Draft>): void
  errors: FieldErrors
}

/** Keeps the fields of a form in a draft, which the page can preview, and validates them while the user types. */
export function useDraftForm<Draft, Result>(options: DraftFormOptions<Draft, Result>): DraftForm<Draft> {
  const { initial, check, submit, onDone } = options
  const [draft, setDraft] = useState(initial)
  const idempotencyKey = useRef(crypto.randomUUID())
  const form = useForm({
    read: () => draft,
    check,
    submit: submitted => submit(submitted, idempotencyKey.current),
    onDone: result => onDone(result),
  })
  const onChange = (change: Partial<Draft>) => {
    idempotencyKey.current = crypto.randomUUID()
    setDraft(before => ({ ...before, ...change }))
  }
  return { form, draft, onChange, ...useLiveErrors(check(draft), form.errors, draft) }
}

/**
 * Returns the errors to show: the current error of each field that was left or submitted, and those of the last submit
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
