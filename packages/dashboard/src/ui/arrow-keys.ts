import type { KeyboardEvent } from 'react'

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 }

/** Moves the focus between the children of an element with the arrow keys, so they are one stop of the Tab key. */
export function moveAmongChildren(event: KeyboardEvent<HTMLElement>): void {
  const step = steps[event.key]
  if (step === undefined) return
  event.preventDefault()
  const children = [...event.currentTarget.querySelectorAll<HTMLElement>(':scope > *')]
  const index = children.findIndex(child => child.matches(':focus'))
  children.at((index + step) % children.length)?.focus()
}
