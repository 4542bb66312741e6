import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'

/** `first` and `last`: the indexes of the rows at the edges of the view, which may be past the end of the list. */
export type RowsInView = { first: number; last: number; isAtTop: boolean; isScrolling: boolean }

/**
 * Returns the rows of equal height that a scrolling element shows.
 * @param restMs - How long the element must rest until `isScrolling` is false.
 */
export function useRowsInView(scroller: HTMLElement | null, rowHeight: number, restMs: number): RowsInView {
  const [inView, setInView] = useState<RowsInView>({ first: 0, last: 0, isAtTop: true, isScrolling: false })
  useEffect(() => {
    if (!scroller) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const update = (isScrolling: boolean) => {
      const { scrollTop: top, clientHeight } = scroller
      const first = Math.max(0, Math.floor(top / rowHeight))
      const last = Math.max(first, Math.floor((top + clientHeight) / rowHeight))
      const isAtTop = top < rowHeight / 2
      setInView(before => {
        const next = { first, last, isAtTop, isScrolling }
        return JSON.stringify(before) === JSON.stringify(next) ? before : next
      })
    }
    const onScroll = () => {
      clearTimeout(timer)
      timer = setTimeout(() => update(false), restMs)
      // In the same frame, or the view would be empty for a moment.
      flushSync(() => update(true))
    }
    const sizes = new ResizeObserver(() => update(false))
    sizes.observe(scroller)
    scroller.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      clearTimeout(timer)
      sizes.disconnect()
      scroller.removeEventListener('scroll', onScroll)
    }
  }, [scroller, rowHeight, restMs])
  return inView
}
