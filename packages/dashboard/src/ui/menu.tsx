import { cloneElement, type ReactNode, useState } from 'react'
import { reloadIfReplaced } from './late-part.tsx'
import type { MenuCheckItemProps, MenuItemProps, MenuProps } from './open-menu.tsx'

// Loaded when a menu is about to open, because pages can be shown without it.
let parts: typeof import('./open-menu.tsx') | undefined

async function load(): Promise<void> {
  parts = await import('./open-menu.tsx')
}

export function Menu(props: MenuProps) {
  const [isWanted, setIsWanted] = useState(false)
  if (isWanted && parts) return <parts.OpenMenu {...props} />
  const preload = () => void load().catch(() => {}) // A click tries again.
  return cloneElement(props.trigger, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPointerEnter: preload,
    onFocus: preload,
    onClick: () => void load().then(() => setIsWanted(true), reloadIfReplaced),
  })
}

export function MenuItem(props: MenuItemProps) {
  return parts && <parts.MenuItem {...props} />
}

export function MenuCheckItem(props: MenuCheckItemProps) {
  return parts && <parts.MenuCheckItem {...props} />
}

export function MenuLabel(props: { children: ReactNode }) {
  return parts && <parts.MenuLabel {...props} />
}

export function MenuSeparator() {
  return parts && <parts.MenuSeparator />
}
