const early: KeyboardEvent[] = []

function keep(event: KeyboardEvent): void {
  if (event.target === document.body) early.push(event)
}

window.addEventListener('keydown', keep)

/** Dispatches the keys again that were pressed before a script handled them. Each is dispatched once. */
export function repeatEarlyKeys(): void {
  window.removeEventListener('keydown', keep)
  for (const event of early.splice(0)) window.dispatchEvent(event)
}
