import {
  cloneElement,
  type FocusEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { createPortal } from 'react-dom'
import { classNames } from './class-names.ts'
import styles from './tooltip.module.css'

const openMs = 300
// Long enough to move the pointer onto the tooltip.
const closeMs = 120
const gap = 6
const margin = 8

type TooltipProps = {
  text: ReactNode
  /** A focusable element. */
  children: ReactElement<Record<string, unknown>>
}

/** Shows a text on hover and focus. A closed one is almost free, because a list has one for each row. */
export function Tooltip({ text, children }: TooltipProps) {
  const [anchor, setAnchor] = useState<Element | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const id = useId()
  useEffect(() => () => clearTimeout(timer.current), [])
  const show = (at: Element | null, afterMs: number) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setAnchor(at), afterMs)
  }
  const hide = (afterMs: number) => show(null, afterMs)
  const { props } = children
  const hint = props['aria-describedby'] as string | undefined // of an element
  const both = (name: string, own: (event: never) => void) => (event: never) => {
    const given = props[name]
    if (typeof given === 'function') given(event)
    own(event)
  }
  return (
    <>
      {cloneElement(children, {
        onPointerEnter: both('onPointerEnter', (event: PointerEvent) => {
          if (event.pointerType !== 'touch') show(event.currentTarget as Element, openMs)
        }),
        onPointerLeave: both('onPointerLeave', () => hide(closeMs)),
        onPointerDown: both('onPointerDown', () => hide(0)),
        // A click focuses its button too, but has just closed the tooltip.
        onFocus: both('onFocus', (event: FocusEvent) => {
          if (event.currentTarget.matches(':focus-visible')) show(event.currentTarget, 0)
        }),
        onBlur: both('onBlur', () => hide(0)),
        ...(anchor ? { 'aria-describedby': classNames(hint, id) } : {}),
      })}
      {anchor && (
        <Bubble id={id} anchor={anchor} onStay={() => show(anchor, 0)} onHide={hide}>
          {text}
        </Bubble>
      )}
    </>
  )
}

type BubbleProps = { id: string; anchor: Element; onStay(): void; onHide(afterMs: number): void; children: ReactNode }

function Bubble({ id, anchor, onStay, onHide, children }: BubbleProps) {
  const bubble = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const own = bubble.current
    if (!own) return
    const at = anchor.getBoundingClientRect()
    const { width, height } = own.getBoundingClientRect()
    const left = at.left + (at.width - width) / 2
    const above = at.top - height - gap
    own.style.left = `${Math.max(margin, Math.min(left, window.innerWidth - width - margin))}px`
    own.style.top = `${above >= margin ? above : at.bottom + gap}px`
  }, [anchor])
  const hide = useEffectEvent(() => onHide(0))
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => event.key === 'Escape' && hide()
    const onScroll = () => hide()
    document.addEventListener('keydown', onKeyDown)
    window.addEventListener('scroll', onScroll, true)
    return () => {
      document.removeEventListener('keydown', onKeyDown)
      window.removeEventListener('scroll', onScroll, true)
    }
  }, [])
  return createPortal(
    <div
      ref={bubble}
      id={id}
      role="tooltip"
      className={styles.tooltip}
      onPointerEnter={onStay}
      onPointerLeave={() => onHide(closeMs)}
    >
      {children}
    </div>,
    document.body,
  )
}
