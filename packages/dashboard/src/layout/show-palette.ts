const event = 'belfry:palette'

/** Opens the command palette, with the commands of one group or with all. */
export function showPalette(group?: string): void {
  window.dispatchEvent(new CustomEvent(event, { detail: group }))
}

/** Calls `show` when the palette shall open. Returns a function that ends that. */
export function onShowPalette(show: (group?: string) => void): () => void {
  const onEvent = (given: Event) => show((given as CustomEvent<string | undefined>).detail) // dispatched above
  window.addEventListener(event, onEvent)
  return () => window.removeEventListener(event, onEvent)
}
