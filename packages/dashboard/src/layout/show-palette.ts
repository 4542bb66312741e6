type Show = (group?: string) => void

let show: Show | undefined
let early: { group: string | undefined } | undefined

/** Opens the command palette, with the commands of one group or with all. */
export function showPalette(group?: string): void {
  if (show) show(group)
  else early = { group }
}

/** Lets `onShow` open the palette, first for a click before this script was loaded. Returns a function that ends that. */
export function onShowPalette(onShow: Show): () => void {
  show = onShow
  if (early) show(early.group)
  early = undefined
  return () => {
    show = undefined
  }
}
