import { type FocusEvent, useState } from 'react'
import type { FieldErrors } from './use-form.ts'

type LiveErrors = {
  errors: FieldErrors
  /** For the form around the fields. */
  onBlur(event: FocusEvent): void
}

/**
 * What to say at each field: what is wrong with it now, once it has been left or sent, and what the API said of it as
 * long as nothing has been changed since.
 * @param found - What is wrong now, whether it was left or not.
 * @param said - What was said when it was sent.
 * @param draft - What stands in the fields; another value when something is changed.
 */
export function useLiveErrors(found: FieldErrors, said: FieldErrors, draft: unknown): LiveErrors {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [sent, setSent] = useState({ said, draft })
  if (sent.said !== said) {
    setSent({ said, draft })
    setLeft(new Set([...left, ...Object.keys(said)]))
  }
  const seen = Object.entries(found).filter(([name]) => left.has(name))
  return {
    errors: { ...(sent.draft === draft ? said : {}), ...Object.fromEntries(seen) },
    onBlur({ target, relatedTarget }) {
      // A message that appears would move the button away from under the pointer that presses it.
      if (relatedTarget instanceof HTMLButtonElement) return
      const name = target.getAttribute('name')
      if (name && !left.has(name)) setLeft(new Set(left).add(name))
    },
  }
}
